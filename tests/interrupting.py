"""Ctrl-C at chosen moments: at the k-th call of a function of the library, or after some time."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import fantope

LIBRARY = str(Path(fantope.__file__).parent)


@contextmanager
def counted_calls(stop_at: int | None = None) -> Iterator[list[int]]:
    """Yield the number of calls of the library's functions so far; the one at ``stop_at`` raises KeyboardInterrupt."""
    count = [0]

    def profile(frame: Any, event: str, _argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(LIBRARY):
            count[0] += 1
            if count[0] == stop_at:
                sys.setprofile(None)
                raise KeyboardInterrupt

    sys.setprofile(profile)
    try:
        yield count
    finally:
        sys.setprofile(None)


def moments(action: Callable[[], Any], count: int, seed: int = 0) -> list[int]:
    """Return ``count`` random calls that ``action`` makes, the first and the last among them."""
    action()  # compiled and cached: from now on it always makes the same calls
    with counted_calls() as total:
        action()
    chosen = np.random.default_rng(seed).integers(1, total[0], size=count, endpoint=True)
    return sorted({1, total[0], *chosen.tolist()})


def interrupted(action: Callable[[], Any], at: int) -> Any:
    """Return the result of ``action`` with Ctrl-C at the given call, or the KeyboardInterrupt that it raised."""
    try:
        with counted_calls(at) as count:
            result = action()
    except KeyboardInterrupt as error:
        return error
    assert count[0] == at, "nothing was interrupted"
    return result


@contextmanager
def ctrl_c_after(seconds: float) -> Iterator[None]:
    """Send the process Ctrl-C when the time is over, unless the block has ended before."""
    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(seconds, _thread.interrupt_main)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        signal.signal(signal.SIGINT, previous)
