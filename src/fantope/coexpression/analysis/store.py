"""Where finished work is kept, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, Protocol

import numpy as np

from fantope.operators import Covariance
from fantope.solvers import Solution
from fantope.typing import AnyArray


class Store(Protocol):
    """Keeps values by key. Keys are file-name-safe text that names data and parameters; values can be pickled."""

    def get(self, key: str) -> Any:
        """Return what was put there, or None."""
        ...

    def put(self, key: str, value: Any) -> None:
        """Keep a value."""
        ...


class NoStore:
    """Keeps nothing."""

    def get(self, key: str) -> None:
        """Return None."""

    def put(self, key: str, value: Any) -> None:
        """Forget the value."""


def fingerprint(*parts: Any) -> str:
    """Return 20 hexadecimal digits that depend on every array and value given.

    Examples
    --------
    >>> fingerprint(np.arange(3.0), "a") == fingerprint(np.arange(3.0), "a") != fingerprint(np.arange(3.0), "b")
    True
    """
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray) and part.dtype != object:
            data: AnyArray = np.ascontiguousarray(part)
            digest.update(f"{data.dtype.str}{data.shape}".encode())
            digest.update(data.tobytes())
        else:
            digest.update(repr(part).encode())
        digest.update(b"\0")
    return digest.hexdigest()[:20]


def detached(solution: Solution) -> Solution:
    """Return the solution without the data that it was computed from, to be kept."""
    nothing: Any = None
    return replace(solution, covariance=nothing, dual=replace(solution.dual, S=nothing))


def attached(solution: Solution, S: Covariance) -> Solution:
    """Return a kept solution with its data again."""
    return replace(solution, covariance=S, dual=replace(solution.dual, S=S))
