"""Parts of a saved state, each checked before anything computes with it: compiled code does not look at shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fantope.checkpoint import State
from fantope.typing import AnyArray

LARGEST_COUNT = 2**53


def saved_array(
    state: State, name: str, shape: tuple[int | None, ...], dtype: Any = np.float64, *, finite: bool = True
) -> AnyArray:
    """Return a copy of the array ``name`` of a state; raise ValueError if its shape, type or entries are others.

    In ``shape``, None stands for any length; ``finite`` says whether every entry must be finite.
    """
    found = state[name]
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{name} must be an array, got {type(found).__name__}")
    fits = found.ndim == len(shape) and all(want in (None, have) for want, have in zip(shape, found.shape, strict=True))
    if found.dtype != dtype or not fits:
        wanted = " × ".join("any" if length is None else str(length) for length in shape)
        raise ValueError(f"{name} must be {wanted} numbers of type {np.dtype(dtype)}, got {found.dtype} {found.shape}")
    if finite and not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite")
    return np.array(found, order="C")


def saved_number(state: State, name: str, *, finite: bool = True) -> float:
    """Return the number ``name`` of a state as a float."""
    value = state[name]
    if not isinstance(value, int | float) or (finite and not math.isfinite(value)):
        raise ValueError(f"{name} must be a {'finite ' if finite else ''}number, got {value!r}")
    return float(value)


def saved_count(state: State, name: str) -> int:
    """Return the number ``name`` of a state, which counts something."""
    value = state[name]
    if not isinstance(value, int) or not 0 <= value <= LARGEST_COUNT:
        raise ValueError(f"{name} must be a whole number of 0 or more, got {value!r}")
    return value
