"""A sample is learnt whole or not at all, whenever Ctrl-C comes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

ENTRIES = 1 << 24  # of X that a block of samples may change: about 0.2 s, in which Ctrl-C waits


def rows_at_a_time(n_features: int) -> int:
    """Return how many samples a learner with cheap steps takes in while Ctrl-C waits."""
    return max(1, ENTRIES // n_features**2)


@contextmanager
def undone_on_error(learner: Any) -> Iterator[None]:
    """Undo what the block has done to a learner if an exception ends it: for steps too long for Ctrl-C to wait.

    Attributes are copied, not what they refer to in turn: the block must replace that, not write into it.
    """
    before = {name: copy(value) for name, value in vars(learner).items()}
    try:
        yield
    except BaseException:
        vars(learner).update(before)
        raise
