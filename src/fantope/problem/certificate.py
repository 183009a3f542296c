"""The certificate: two numbers that bracket the optimum, computed from X and U by code that solves nothing.

For any X in the Fantope and any |U_ij| ≤ alpha,

    ⟨S, X⟩ − alpha‖X‖₁  ≤  optimum  ≤  φ_d(S − U),

where φ_d is the sum of the d largest eigenvalues: ⟨S, X⟩ − alpha‖X‖₁ ≤ ⟨S − U, X⟩ ≤ φ_d(S − U).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from fantope.problem.bounds import UNIT, leading_eigenvalue_bounds
from fantope.problem.dual import ReducedDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors
from fantope.prox.simplex import capped_simplex
from fantope.typing import Array

STRIP = 512  # rows compared at a time, so that checking needs no further p × p array


class CertificateError(ArithmeticError):
    """A stored certificate does not hold for the matrix it was checked against."""


@dataclass(frozen=True)
class Certificate:
    """A bracket of the optimal value.

    Attributes
    ----------
    objective : float
        Value of a feasible X: the optimum is at least this.
    dual_bound : float
        φ_d(S − U), rounded upwards: the optimum is at most this.
    """

    objective: float
    dual_bound: float

    @property
    def gap(self) -> float:
        """Relative duality gap, (dual_bound − objective) / max(|objective|, |dual_bound|)."""
        return relative_gap(self.objective, self.dual_bound)


def relative_gap(objective: float, dual_bound: float) -> float:
    """Return (dual_bound − objective) / max(|objective|, |dual_bound|); infinite if either is not finite."""
    if not (np.isfinite(objective) and np.isfinite(dual_bound)):
        return float("inf")
    scale = max(abs(objective), abs(dual_bound))
    return max(dual_bound - objective, 0.0) / scale if scale > 0.0 else 0.0


def certify(problem: Problem, X: Factors, dual: ReducedDual, tol: float) -> Certificate:
    """Return the bracket that X and U give; the bound is as tight as a comparison with ``tol`` needs."""
    objective = problem.objective(X)
    # The range of X is nearly the leading eigenspace of S − U; random rows stand for what X may have missed.
    start = 1e-3 * np.random.default_rng(0).standard_normal((len(X.weights) + 3, problem.size))
    start[: len(X.weights)] = 0.0
    start[: len(X.weights), X.rows] = X.vectors
    bound = dual_bound(dual.slack(problem.S), problem.n_components, start, 0.1 * tol * abs(objective), objective)
    return Certificate(objective, bound)


def dual_bound(
    M: Array, n_components: int, start: Array | None = None, slack: float = 0.0, below: float = -np.inf
) -> float:
    """Return an upper bound of φ_d(M), d the number of components, safe against rounding.

    Variables without a neighbour in M are eigenvalues by themselves and are taken out first.
    """
    diagonal = M.diagonal()
    alone = np.count_nonzero(M, axis=1) - (diagonal != 0.0) == 0
    values = diagonal[alone]
    rest = np.flatnonzero(~alone)
    if len(rest):
        if len(rest) < len(M):
            M = M[rest[:, None], rest]
            start = None if start is None else np.ascontiguousarray(start[:, rest])
        values = np.concatenate([values, leading_eigenvalue_bounds(M, n_components, start, slack, below)])
    leading = np.sort(values)[::-1][:n_components]
    return float(leading.sum() + 4 * n_components * UNIT * np.abs(leading).sum())


def verify(S: Array, X: scipy.sparse.csr_array, U: Array, n_components: int, alpha: float) -> Certificate:
    """Recompute the bracket from S, X and U alone; ``U`` is overwritten.

    X may be off the Fantope by rounding: the objective reported is that of X less the most that moving X to its
    nearest feasible point can cost, ``(‖S‖_F + alpha·r)·distance`` on the r rows in use.

    Raises
    ------
    CertificateError
        If X is not a feasible point or U leaves the box.
    """
    p = S.shape[0]
    if X.shape != (p, p) or U.shape != (p, p):
        raise CertificateError(f"S is {p} × {p}, but X is {X.shape} and U is {U.shape}.")
    excess = max(float(U.max()), -float(U.min())) - alpha
    if not excess <= 8 * UNIT * alpha:
        raise CertificateError(f"the dual point leaves the box |U| ≤ alpha by {excess:.3g}.")
    # Bounds below read one triangle, which with its mirror image is a dual point; this catches a wrong file or bug.
    if any(np.abs(U[i : i + STRIP] - U[:, i : i + STRIP].T).max() > 1e-8 * alpha for i in range(0, p, STRIP)):
        raise CertificateError("the dual point is not symmetric.")
    rows = np.flatnonzero(np.diff(X.indptr))
    block = X[rows][:, rows].toarray()
    values = np.asarray(scipy.linalg.eigvalsh(block), dtype=np.float64) if len(rows) else np.zeros(0)
    if len(rows) < n_components or float(np.abs(block - block.T).max()) > 1e-10:
        raise CertificateError("X is not a symmetric matrix with enough rows in use.")
    distance = float(np.linalg.norm(values - capped_simplex(values, n_components)))
    if not distance <= 1e-9:
        raise CertificateError(f"X is {distance:.3g} away from the Fantope.")
    S_block = S[rows[:, None], rows]
    objective = float((S_block * block).sum() - alpha * np.abs(block).sum())
    repair_cost = (float(np.linalg.norm(S_block)) + alpha * len(rows)) * (distance + len(rows) * UNIT)
    np.subtract(S, U, out=U)
    bound = dual_bound(U, n_components, slack=1e-12 * abs(objective), below=objective)
    return Certificate(objective - repair_cost, bound)
