"""Matrices as they are given: numbers, and what S must be."""

from __future__ import annotations

from typing import Any

import numpy as np

from fantope.checks import LARGEST, check_finite, is_sparse, unmasked
from fantope.errors import InputError, require
from fantope.typing import Array


def as_numbers(given: Any, argument: str) -> Array:
    """Return an array of floats; raise InputError for anything that is not one of real numbers."""
    given = unmasked(argument, given)
    try:
        found = np.asarray(given.toarray() if is_sparse(given) else given)
        if np.iscomplexobj(found):
            raise TypeError
        return np.ascontiguousarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(argument=argument, expected="a matrix of real numbers", got=type(given).__name__) from None


def as_covariance(S: Any) -> Array:
    """Return S, exactly symmetric: that of ``np.corrcoef`` is so up to rounding only."""
    found = as_numbers(S, "S")
    if found.ndim != 2 or found.shape[0] != found.shape[1] or not len(found):
        raise InputError(argument="S", expected="a square matrix", got=f"shape {found.shape}")
    check_finite(found, "S")
    if np.abs(found - found.T).max() > 1e-8 * np.abs(found).max():
        raise InputError(argument="S", expected="symmetric", got="a matrix that is not", remedy="pass (S + S.T)/2")
    diagonal = found.diagonal()
    low = f"{diagonal.min():g} for variable {int(diagonal.argmin())}"
    require(diagonal.min() > 0.0, "S", "be a matrix with a positive diagonal", low, "drop variables that are constant")
    sound = diagonal.min() > 1.0 / LARGEST and np.abs(found).max() < LARGEST
    found_range = f"{diagonal.min():.3g} to {diagonal.max():.3g}"
    expected = f"be a matrix with variances between {1.0 / LARGEST:g} and {LARGEST:g}"
    require(sound, "S", expected, found_range, "divide the variables by their deviations")
    return np.asarray(0.5 * (found + found.T))
