"""Who may use the cores: thin-block work runs on one BLAS thread, large factorisations on all of them.

Iterations consist of many small BLAS calls, for which starting threads costs more than they bring (measured: a
QR of an 800 × 5 block takes 40 times longer with two threads that compete with the compiled kernels' own).
Memory-bound passes are parallel inside the kernels instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any, TypeVar

from numba import get_num_threads
from threadpoolctl import ThreadpoolController

# Variables from which a LAPACK factorisation gains enough from threads. At 1,000 it gains a fifth; but beside another
# program that takes a core, threads that wait for each other take five times as long as one.
LARGE = 2000

Part = TypeVar("Part")


@cache
def _controller() -> ThreadpoolController:
    # Finding the loaded libraries takes a few milliseconds; once is enough.
    return ThreadpoolController()


@cache
def _configured_threads() -> int:
    """Return the number of BLAS threads that the process was started with."""
    counts = [int(library["num_threads"]) for library in _controller().info() if library["user_api"] == "blas"]
    return max(counts, default=1)


def one_blas_thread() -> AbstractContextManager[Any]:
    """Run BLAS on the calling thread."""
    _configured_threads()  # remember before the first limit hides it
    limiter: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limiter


def all_blas_threads(size: int) -> AbstractContextManager[Any]:
    """Give BLAS its threads back for a factorisation of ``size`` variables, if that is large enough."""
    if size < LARGE:
        return nullcontext()
    limiter: AbstractContextManager[Any] = _controller().limit(limits=_configured_threads(), user_api="blas")
    return limiter


def share_out(work: Callable[[Part], object], parts: Sequence[Part]) -> None:
    """Call ``work`` for each of the parts, on as many threads as kernels may use: what takes long releases the lock."""
    threads = min(int(get_num_threads()), len(parts))
    if threads < 2:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, parts))
