"""Where finished work is kept, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

from typing import Protocol

from fantope.checkpoint import State


class Store(Protocol):
    """Keeps states by key, as :class:`fantope.io.Cache` does in a folder.

    Keys are file-name-safe text that names data, parameters and code; states are arrays and plain values in nested
    dictionaries.
    """

    def get(self, key: str) -> State | None:
        """Return what was put there, or None."""
        ...

    def put(self, key: str, state: State) -> None:
        """Keep a state."""
        ...
