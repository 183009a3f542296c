"""Ctrl-C is an exception inside: blocks in which it waits, and blocks in which none gets lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def held_interrupts() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block, which has to be short."""
    came: list[tuple[int, Any]] = []
    try:
        with _handler(lambda _: lambda *signalled: came.append(signalled)) as previous:
            yield
    finally:
        if came:
            previous(*came[0])


@contextmanager
def noticed_interrupts() -> Iterator[threading.Event]:
    """Yield an event that Ctrl-C sets before it does what it would do anyway.

    An exception that comes while a compiled module or kernel is loaded may be swallowed there, or become another one.
    """
    came = threading.Event()

    def noticing(previous: Callable[..., Any]) -> Callable[..., Any]:
        def handler(*signalled: Any) -> None:
            came.set()
            previous(*signalled)

        return handler

    with _handler(noticing):
        yield came


@contextmanager
def _handler(make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[Callable[..., Any]]:
    """Handle Ctrl-C in a way made from the present one, which is yielded, until the block ends."""
    previous = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield lambda *_: None  # signals go to the main thread only, and some processes ignore this one
        return
    signal.signal(signal.SIGINT, make(previous))
    try:
        yield previous
    finally:
        signal.signal(signal.SIGINT, previous)
