"""How kernels are compiled: one source, a serial and a parallel build, chosen by size."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numba import njit

PARALLEL_FROM = 600  # rows; below it starting threads costs more than they bring (measured)

TWO_CORES = 200  # variables from which products and passes of Online-P are worth a second thread (measured)

# Sums may be reassociated: that is what lets them use vector units. NaN and infinity keep their meaning,
# because the loop that drives the solvers has to see them.
FAST = {"reassoc", "contract", "nsz", "arcp"}


def build(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` twice; a call goes to the parallel build if its first argument has many rows.

    It may return sums for each row, which are added up here: in the kernel that would take a second to compile.
    """
    compiled = parallel_from(PARALLEL_FROM)(function)

    def kernel(*args: Any) -> Any:
        sums = compiled(*args)
        return None if sums is None else sums.sum(axis=0)

    kernel.__doc__ = function.__doc__
    return kernel


def parallel_from(length: int, *, fast: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a function twice; a call goes to the parallel build if its first argument has ``length`` rows.

    Where results have to be the same to the bit on any machine, sums must not depend on the number of threads.
    """
    options: dict[str, Any] = {"cache": True, "nogil": True} | ({"fastmath": FAST} if fast else {})

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        serial = njit(**options)(function)
        parallel = njit(**options, parallel=True)(twin(function))

        def kernel(*args: Any) -> Any:
            return (parallel if args[0].shape[0] >= length else serial)(*args)

        kernel.__doc__ = function.__doc__
        return kernel

    return compiled


@njit(cache=True, nogil=True)
def in_order(parts):  # type: ignore[no-untyped-def]
    """Return the sums of the columns, row after row: ``parts.sum()`` in a parallel build depends on the threads."""
    total = np.zeros(parts.shape[1])
    for i in range(len(parts)):
        for j in range(parts.shape[1]):
            total[j] += parts[i, j]
    return total


def twin(function: Any) -> Any:
    """Return a copy of ``function`` under another name, to be compiled with other options.

    The key of numba's cache has the name of the function but not its options: of two builds of one function, the one
    that was stored first would stand for both.
    """
    copy = FunctionType(function.__code__, function.__globals__, function.__name__ + "_twin")
    copy.__qualname__ = function.__qualname__ + "_twin"
    copy.__module__, copy.__doc__ = function.__module__, function.__doc__
    return copy
