"""A barrier method for few variables, for the problems that splitting methods take ten thousand iterations for.

With barriers for 0 ⪯ X ⪯ I and for |x| ≤ t in Ω the problem is smooth: for μ → 0,

    min −⟨S, X⟩ + Σ h(X_ij; w_ij) − μ log det X − μ log det(I − X),   tr X = d,

    h(x; w) = min_t wt − μ log(t² − x²),   h' = wx/t,   t = (μ + √(μ² + w²x²))/w.

h' is inside the box whatever X is: a dual point that comes for free. The functions are self-concordant, so Newton's
method gets there whatever the data are: in 50 to 150 steps, each a factorisation of p(p + 1)/2 unknowns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.solvers.base import Candidate, Start
from fantope.solvers.spectral import primal_candidate
from fantope.typing import AnyArray, Array

FALL = 0.2  # of μ, once X is near the minimum
NEAR = 0.1  # Newton decrement from which on it is
RIDGE = 1e-13  # the first that is added to a diagonal of one; rounded, the matrix may need more
AT_ZERO = 0.9  # of the box: where U is farther inside, X is zero


@dataclass
class InteriorState:
    """X in the interior, and μ."""

    X: Array
    mu: float
    w: Array  # (p, p), zero on the diagonal: there Ω is linear
    C: Array  # S less the diagonal of Ω
    near: bool = False  # the minimum for this μ, where U is best: the next step is for a smaller one
    step_size: None = None

    def split(self, problem: Problem) -> tuple[Array, Array]:
        """Return X and U."""
        U = self.slope()
        np.fill_diagonal(U, problem.box.diagonal(np.arange(problem.size)))
        return self.X, U

    def slope(self) -> Array:
        """Return h'."""
        return self.w**2 * self.X / (self.mu + self._root())

    def curvature(self) -> Array:
        """Return h''."""
        root = self._root()
        return self.w**2 * self.mu / (root * (self.mu + root))

    def value(self, X: Array) -> float:
        """Return the function to minimise, infinite outside."""
        eye = np.eye(len(X))
        try:
            roots = [np.linalg.cholesky(A).diagonal() for A in (X, eye - X)]
        except np.linalg.LinAlgError:
            return np.inf
        t = self.mu + np.sqrt(self.mu**2 + (self.w * X) ** 2)  # w times the t of the formula
        penalty = (t - self.mu * np.log(t))[self.w > 0.0].sum()  # log(t² − x²) = log(2μt/w), a constant left out
        return float(penalty - np.vdot(self.C, X) - 2.0 * self.mu * sum(np.log(root).sum() for root in roots))

    def _root(self) -> Array:
        return np.sqrt(self.mu**2 + (self.w * self.X) ** 2)


@dataclass(frozen=True)
class Interior:
    """Newton's method along the central path, one step in each iteration."""

    name: str = "interior"
    max_iter: int = 300
    check_every: int = 1

    def init(self, problem: Problem, start: Start | None, tol: float) -> InteriorState:
        """Begin at the centre of the Fantope, whatever ``start`` is: the method does not gain by another point."""
        p, d = problem.size, problem.n_components
        w = np.array(np.broadcast_to(problem.limits, (p, p)), dtype=np.float64)
        np.fill_diagonal(w, 0.0)
        C = problem.S - np.diag(problem.box.diagonal(np.arange(p)))
        return InteriorState(d / p * np.eye(p), max(float(np.abs(C).max()), 1e-300), w, C)

    def step(self, problem: Problem, state: InteriorState, budget: int) -> int:
        """One step of Newton's method on the symmetric matrices of trace 0, for a smaller μ if X is at its minimum."""
        p, X = problem.size, state.X
        if state.near:
            state.mu *= FALL
        rows, cols = np.tril_indices(p)
        apart = rows != cols
        values, V = np.linalg.eigh(X)
        if not 0.0 < values[0] <= values[-1] < 1.0:
            raise FloatingPointError("X has come to the edge: μ is as small as rounding allows")
        inverse, other = ((V / each) @ V.T for each in (values, 1.0 - values))
        G = state.slope() - state.C - state.mu * (inverse - other)
        gradient = np.where(apart, 2.0, 1.0) * G[rows, cols]
        H = _second(inverse, rows, cols)
        H += _second(other, rows, cols)
        H *= state.mu
        H[np.diag_indices(len(rows))] += np.where(apart, 2.0, 0.0) * state.curvature()[rows, cols]
        # Its entries differ by 1/μ and more: with a diagonal of one the factorisation keeps their digits.
        scale = 1.0 / np.sqrt(H.diagonal())
        H *= np.outer(scale, scale)
        factor = _factor(H)
        along, trace = scale * scipy.linalg.cho_solve(factor, (scale * [gradient, 1.0 - apart]).T, check_finite=False).T
        direction = trace * (along[~apart].sum() / trace[~apart].sum()) - along
        D = np.zeros((p, p))
        D[rows, cols] = D[cols, rows] = direction
        fall = -float(gradient @ direction)
        t, before = 1.0, state.value(X)
        while t > 1e-10 and not state.value(X + t * D) <= before - 0.1 * t * fall:
            t *= 0.5
        if t > 1e-10:
            state.X = X + t * D
        state.near = t <= 1e-10 or fall <= NEAR**2 * state.mu
        return 1

    def candidate(self, problem: Problem, state: InteriorState) -> Candidate:
        """X, or X with zeros where U is inside the box, whichever is better; and U."""
        if not state.near:
            return Candidate(None, None, problem.size)
        X, U = state.split(problem)
        values, V = np.linalg.eigh(X)
        weights = values * (problem.n_components / values.sum())
        sparse = np.where(np.abs(U) < AT_ZERO * state.w, 0.0, X)
        point = primal_candidate(problem, sparse, None, np.ascontiguousarray(V.T), np.clip(weights, 0.0, 1.0), np.inf)
        return Candidate(point, DenseDual(U, problem.box), problem.size)


def _second(A: Array, rows: AnyArray, cols: AnyArray) -> Array:
    """Return the second derivative of −log det at A⁻¹ in the entries (rows, cols) of a symmetric matrix."""
    own = A[rows]
    found = own[:, rows] * A[cols][:, cols] + own[:, cols] * A[cols][:, rows]
    scale = np.where(rows != cols, np.sqrt(2.0), np.sqrt(0.5))
    return np.asarray(found * np.outer(scale, scale))


def _factor(H: Array) -> tuple[Array, bool]:
    """Return a Cholesky factor of H, whose diagonal is one, and as small a multiple of the identity as it takes."""
    ridge = RIDGE
    while True:
        try:
            H[np.diag_indices(len(H))] = 1.0 + ridge
            found: tuple[Array, bool] = scipy.linalg.cho_factor(H, lower=True, check_finite=False)
            return found
        except np.linalg.LinAlgError:
            if ridge > 1e-3:
                raise
            ridge *= 100.0
