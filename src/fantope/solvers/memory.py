"""Memory that rounds of an active set hand on to each other.

The dual point of a thousand variables among ten thousand has 80 MB, and each round has one or two of them. Fresh memory
has to be mapped and cleared, page by page: on a virtual machine that took up to half the time of an extension.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fantope.problem.dual import ExtendedDual
from fantope.typing import AnyArray, Array

SPARE = 1.5  # times what is asked for is reserved: the next set is larger; what is not touched costs nothing
KEPT = 4  # arrays


@dataclass
class Memory:
    """Arrays of dual points that nobody needs any more."""

    spare: list[Array] = field(default_factory=list)
    lent: ExtendedDual | None = None  # was offered for a certificate, and may be kept with it

    def taken(self, shape: tuple[int, int], kind: Any) -> AnyArray:
        """Return an array, in spare memory if there is enough in one piece; its values are anything."""
        size = shape[0] * shape[1]
        wanted = -(-size * np.dtype(kind).itemsize // 8)
        fits = [k for k, each in enumerate(self.spare) if len(each) >= wanted]
        flat = self.spare.pop(min(fits, key=lambda k: len(self.spare[k]))) if fits else np.empty(int(SPARE * wanted))
        return np.asarray(flat[:wanted].view(kind)[:size].reshape(shape))

    def give_back(self, dual: ExtendedDual | None) -> None:
        """Take the arrays of a dual point that came from here; nothing may refer to it any more."""
        if dual is None or dual is self.lent:
            return
        for each in (dual.U, dual.rough):
            if each is not None and each.base is not None:
                self.spare.append(each.base)
        self.spare = sorted(self.spare, key=len)[-KEPT:]
