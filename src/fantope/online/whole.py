"""A sample is learnt whole or not at all, whenever Ctrl-C comes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

ENTRIES = 1 << 24  # of X that a block of samples may change: about 0.2 s, in which Ctrl-C waits


def rows_at_a_time(n_features: int) -> int:
    """Return how many samples a learner with cheap steps takes in while Ctrl-C waits."""
    return max(1, ENTRIES // n_features**2)


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block, which has to be short."""
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield  # signals go to the main thread only, and some processes ignore this one
        return
    came: list[tuple[int, Any]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if came:
            previous(*came[0])


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
