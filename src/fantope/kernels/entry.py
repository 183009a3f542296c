"""One kernel for a number and for an array: ``at(limits, i, j)`` is limits, or limits[i, j].

numba compiles a kernel for each type of its arguments, so a number costs no more than it would without arrays.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import overload


def at(limits: Any, i: int, j: int) -> Any:
    """Return the entry (i, j) of an array, or the number that stands for all of them."""
    return limits[i, j] if getattr(limits, "ndim", 0) else limits


@overload(at)  # LLVM inlines it; numba doing so takes ten times as long to compile, and runs no faster
def _at(limits, i, j):  # type: ignore[no-untyped-def]
    if isinstance(limits, types.Array):
        return lambda limits, i, j: limits[i, j]
    return lambda limits, i, j: limits
