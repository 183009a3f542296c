"""How kernels are compiled: one source, a serial and a parallel build, chosen by size."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

from numba import njit

PARALLEL_FROM = 600  # rows; below it starting threads costs more than they bring (measured)

# Sums may be reassociated: that is what lets them use vector units. NaN and infinity keep their meaning,
# because the loop that drives the solvers has to see them.
FAST = {"reassoc", "contract", "nsz", "arcp"}


def build(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile ``function`` twice; a call goes to the parallel build if its first argument has many rows."""
    serial = njit(cache=True, nogil=True, fastmath=FAST)(function)
    parallel = njit(cache=True, nogil=True, fastmath=FAST, parallel=True)(twin(function))

    def kernel(*args: Any) -> Any:
        return (parallel if args[0].shape[0] >= PARALLEL_FROM else serial)(*args)

    kernel.__doc__ = function.__doc__
    return kernel


def twin(function: Any) -> Any:
    """Return a copy of ``function`` under another name, to be compiled with other options.

    The key of numba's cache has the name of the function but not its options: of two builds of one function, the one
    that was stored first would stand for both.
    """
    copy = FunctionType(function.__code__, function.__globals__, function.__name__ + "_twin")
    copy.__qualname__ = function.__qualname__ + "_twin"
    copy.__module__, copy.__doc__ = function.__module__, function.__doc__
    return copy
