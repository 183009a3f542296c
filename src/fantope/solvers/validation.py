"""Checks of what the user passes: one sentence each, naming the argument, what was expected, what came, the way out."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np
import scipy.sparse

from fantope.checks import LARGEST, check_finite, check_nonnegative, check_whole, unmasked
from fantope.errors import InputError, require
from fantope.operators import Covariance, DenseCovariance
from fantope.typing import Array

SYMMETRY = 1e-8  # largest |S − Sᵀ| relative to the largest |S| that counts as rounding
NOT_NUMBERS = "cmMSU"  # kinds of NumPy types: complex numbers, times, dates, text
TILE = 256  # rows and columns checked at a time: two tiles fit into the cache, whichever way they are read


def check_covariance(S: Any) -> Covariance:
    """Return S as an operator: an existing one as it is, an array after checking it."""
    if hasattr(S, "component_labels"):
        largest = float(np.abs(S.diagonal()).max())
        if largest > LARGEST:
            raise ValueError(
                f"S must have its largest variance at most {LARGEST:g}, got {largest:.3g}, whose square overflows; "
                "divide the data by a power of ten, and alpha by its square."
            )
        return S  # type: ignore[no-any-return]
    if scipy.sparse.issparse(S):
        S = S.toarray()  # type: ignore[attr-defined]
    S = unmasked("S", S)
    try:
        if np.asarray(S).dtype.kind in NOT_NUMBERS:
            raise TypeError  # NumPy would drop the imaginary part, or count the seconds since 1970
        matrix = np.asarray(S, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(
            f"S must be a numeric (p, p) array or a covariance operator, got {type(S).__name__} that does not convert "
            "to numbers; pass a covariance or correlation matrix."
        ) from None
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"S must be a square (p, p) matrix, got shape {matrix.shape}; for a data matrix use fantope.SparsePCA, or "
            "pass its covariance, numpy.cov(X, rowvar=False)."
        )
    require(len(matrix) >= 2, "S", "have at least 2 variables", f"shape {matrix.shape}")
    return DenseCovariance(_symmetric(matrix))


def _symmetric(S: Array) -> Array:
    """Check that S is finite and symmetric; return it exactly symmetric (a copy only if it was not)."""
    worst, scale = 0.0, 0.0
    for i in range(0, len(S), TILE):
        rows = S[i : i + TILE]
        largest = float(np.abs((rows.max(), rows.min())).max())
        if not math.isfinite(largest):
            check_finite(rows, "S", first_row=i, remedy="remove or impute missing values before computing S")
        scale = max(scale, largest)
        for j in range(i, len(S), TILE):
            tile, mirrored = rows[:, j : j + TILE], S[j : j + TILE, i : i + TILE].T
            if not np.array_equal(tile, mirrored):  # half the time of a difference, which is nearly always zero
                worst = max(worst, float(np.abs(tile - mirrored).max()))
    if worst > SYMMETRY * max(scale, np.finfo(float).tiny):
        raise ValueError(
            f"S must be symmetric, got |S − Sᵀ| up to {worst:.3g}; pass (S + S.T) / 2 if that is what you mean."
        )
    if scale > LARGEST or 0.0 < scale < 1.0 / LARGEST:
        raise ValueError(
            f"S must have its largest entry between {1.0 / LARGEST:g} and {LARGEST:g} in magnitude, got {scale:.3g}, "
            "whose square leaves double precision; divide S and alpha by that number."
        )
    return S if worst == 0.0 else 0.5 * (S + S.T)


def check_n_components(n_components: Any, p: int) -> int:
    """Return d as an int, 1 ≤ d < p."""
    if isinstance(n_components, bool) or not isinstance(n_components, numbers.Integral):
        expected = f"a whole number from 1 to {p - 1}"
        raise InputError(argument="n_components", expected=expected, got=repr(n_components))
    if not 1 <= int(n_components) < p:
        expected = f"at least 1 and less than the number of variables, {p}"
        raise InputError(
            argument="n_components", expected=expected, got=str(n_components), remedy=f"ask for {p - 1} or fewer"
        )
    return int(n_components)


def smallest_tol(p: int) -> float:
    """Return the smallest relative gap that double precision can certify for p variables, 1e-10 at the least.

    The rounding error of a Cholesky factorisation grows like p·u·trace, and the trace like p.
    """
    return max(1e-10, 4.0 * p * p * float(np.finfo(float).eps))


def check_tol(tol: Any, p: int) -> float:
    """Return tol, which must be certifiable."""
    number = check_nonnegative("tol", tol, positive=True)
    if number < smallest_tol(p):
        raise InputError(
            argument="tol", expected=f"at least {smallest_tol(p):.2g} for {p} variables",
            got=f"{number:.3g}: double precision cannot certify a smaller gap",
        )  # fmt: skip
    return number


def check_max_iter(max_iter: Any) -> int | None:
    """Return max_iter as an int ≥ 1, or None for the solver's own."""
    expected = "a whole number, 1 or larger, or None"
    return None if max_iter is None else check_whole("max_iter", max_iter, 1, expected=expected)
