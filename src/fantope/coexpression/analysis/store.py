"""Where finished work is kept, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from fantope.checkpoint import State

T = TypeVar("T")


class Store(Protocol):
    """Keeps states by key, as :class:`fantope.io.Cache` does in a folder.

    Keys are file-name-safe text that names data, parameters and code; states are arrays and plain values in nested
    dictionaries.
    """

    def get(self, key: str) -> State | None:
        """Return what was put there, or None."""

    def put(self, key: str, state: State) -> None:
        """Keep a state."""


def kept(store: Store | None, key: str, use: Callable[[State], T]) -> T | None:
    """Return ``use`` of the state that was put under ``key``; None if there is none, or none that can be used."""
    state = None if store is None else store.get(key)
    try:
        return None if state is None else use(state)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return None
