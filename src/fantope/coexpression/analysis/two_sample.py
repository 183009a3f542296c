"""The statistic of the two-sample test: the sparse leading eigenvalue of a difference of correlation matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.linalg import eigvalsh

from fantope.solvers.result import Record
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array

# Relative gap. What it leaves open is small beside the spread under permutations, and the same for all of them; 1e-2
# takes twice as long.
TOL = 0.05


@dataclass(frozen=True)
class LeadingDifference:
    """Where two matrices differ most."""

    value: float  # the statistic
    loadings: Array  # (m,): sparse unit vector of the variables that carry it
    sign: int  # 1 if the first matrix is larger there, −1 if the second is


def penalty(n_first: int, n_second: int, m: int) -> float:
    """Return 0.5 √(log m · (1/n₁ + 1/n₂)), the paper's λ for the variance of a difference of correlations.

    It depends on sizes alone, not on who is in which group, so it is the same for every permutation.
    """
    return 0.5 * float(np.sqrt(np.log(max(m, 2)) * (1.0 / n_first + 1.0 / n_second)))


def leading_difference(D: Array, alpha: float) -> LeadingDifference:
    """Return the larger of λ(D) and λ(−D), where λ(D) = max ⟨D, X⟩ − alpha Σ_{i≠j}|X_ij| over X ⪰ 0, tr X = 1.

    For alpha = 0 that is the spectral norm of D. The penalty leaves out the diagonal, which only shifts the value by
    alpha, so that no difference at all gives 0.

    Examples
    --------
    >>> D = np.zeros((5, 5))
    >>> D[:3, :3] = 0.5 * (1 - np.eye(3))
    >>> found = leading_difference(D, 0.1)
    >>> round(found.value, 2), np.flatnonzero(found.loadings).tolist(), found.sign
    (0.8, [0, 1, 2], 1)
    """
    shift = alpha * np.eye(len(D))  # the objective is λ itself then, and the gap relative to it
    bounds = {sign: _bound(sign * D, alpha) for sign in (1, -1)}
    best: LeadingDifference | None = None
    for sign in sorted(bounds, key=lambda sign: -bounds[sign]):
        known = -np.inf if best is None else best.value
        if bounds[sign] <= known:
            continue
        try:
            solution = solve_to_the_end(sign * D + shift, 1, alpha, tol=TOL, callback=partial(_beaten, known))
        except _BeatenError:
            continue
        if solution.objective > known:
            best = LeadingDifference(solution.objective, solution.components[0], sign)
    assert best is not None
    return best


class _BeatenError(Exception):
    """The other sign has the larger value, whatever this one's is."""


def _beaten(known: float, record: Record) -> None:
    if record.dual_bound <= known:
        raise _BeatenError


def _bound(D: Array, alpha: float) -> float:
    """Return an upper bound of λ(D): the leading eigenvalue of D with its entries shrunk by alpha."""
    shrunk = D - np.clip(D, -alpha, alpha)
    np.fill_diagonal(shrunk, D.diagonal())
    return float(eigvalsh(shrunk, subset_by_index=(len(D) - 1, len(D) - 1))[0])
