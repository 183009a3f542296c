"""ADMM around S clipped to the box, for what the default method does not solve: tiny optima, and a few more.

With B = S, clipped to the box |U_ij| ≤ w_ij, U = B + V, and the problem in V is one for S − B and the box
−w − B ≤ V ≤ w − B, which need not be symmetric:

    X ← P_F(Y − W + (S − B)/ρ),   Y + W ← X + W with W the part in the box, V = ρW.

In exact arithmetic these are ADMM's iterates. But where alpha is nearly every |S_ij| (S = 11ᵀ and little noise, signs)
U differs from B in the seventh digit or the twelfth: there the residuals must be judged on the scale of S − B, and
digits of U would be lost in Y + W. Of 600 random problems with 3 to 60 variables eight such ones took up to 20,000
iterations to no avail; they take 10 to 210 here.

Where iterates go round in small circles (circulants, whose optima are many) their mean over the later half of the
iterations is far better than any of them: it is certified by turns with the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.problem.projection import shrink
from fantope.problem.simplex import capped_simplex
from fantope.solvers.base import Candidate, Start
from fantope.solvers.spectral import balance
from fantope.typing import Array

TINY = 1e-3  # of Σ max(|S_ii|, w_ii) over d variables: what both sides of a first bracket must be within


def is_tiny(problem: Problem) -> bool:
    """Whether the optimum is tiny beside S and alpha: the d best variables alone and U = B show that in most cases."""
    d, own, weights = problem.n_components, problem.S.diagonal(), problem.box.diagonal(np.arange(problem.size))
    best = np.argsort(own - weights)[-d:]
    tiny = TINY * float(np.maximum(np.abs(own), weights)[best].sum())
    if abs(float((own - weights)[best].sum())) > tiny:
        return False
    return abs(float(np.linalg.eigvalsh(_soft(problem)[0])[-d:].sum())) <= tiny


def _soft(problem: Problem) -> tuple[Array, Array]:
    """Return S − B and B; on the diagonal, where X is not negative, B is w."""
    B = problem.box.clip(problem.S.copy())
    np.fill_diagonal(B, problem.box.diagonal(np.arange(problem.size)))
    return problem.S - B, B


@dataclass
class CentredState:
    """Y and W, and the problem in units of ``scale``."""

    Y: Array
    W: Array
    M: Array  # S − B
    B: Array
    low: Array  # the box of V
    high: Array
    rho: float
    scale: float
    sum_Y: Array  # over the iterations since ``since``
    sum_V: Array
    since: int = 0
    iteration: int = 0

    @property
    def step_size(self) -> float:
        """The paper's α."""
        return 1.0 / (self.rho * self.scale)

    def split(self, problem: Problem) -> tuple[Array, Array]:
        """Return Y and U."""
        return self.Y, problem.box.clip(self.B + self.scale * self.rho * self.W)


@dataclass(frozen=True)
class CentredAdmm:
    """ADMM in V = U − B, with means."""

    relax: float = 1.6
    name: str = "centred-admm"
    max_iter: int = 20_000
    check_every: int = 10

    def init(self, problem: Problem, start: Start | None, tol: float) -> CentredState:
        """Begin where ``start`` is, or at V = 0 with Y = 0."""
        M, B = _soft(problem)
        scale = max(float(np.abs(M).max()), 1e-300)
        limits = np.broadcast_to(problem.limits, M.shape)
        low, high = (np.array(edge - B) / scale for edge in (-limits, limits))
        for edge in (low, high):
            np.fill_diagonal(edge, 0.0)
        M = M / scale
        rho = 2.0 * max(float(np.linalg.eigvalsh(M)[-1]), 1e-3)
        zero = np.zeros_like(M)
        state = CentredState(zero, zero, M, B, low, high, rho, scale, zero.copy(), zero.copy())
        X, U = (None, None) if start is None else start.spread(problem)
        if X is not None and U is not None:
            state.Y, state.W = X, np.clip((U - B) / (scale * rho), low / rho, high / rho)
        return state

    def step(self, problem: Problem, state: CentredState, budget: int) -> int:
        """One iteration, and a change of ρ when the residuals are out of balance."""
        d, M, before = problem.n_components, state.M / state.rho, state.Y
        values, V = np.linalg.eigh(before - state.W + M)
        X = (V * capped_simplex(values, d)) @ V.T
        ahead = self.relax * X + (1.0 - self.relax) * before + state.W
        state.W = np.clip(ahead, state.low / state.rho, state.high / state.rho)
        state.Y = ahead - state.W
        state.iteration += 1
        if state.iteration >= 2 * state.since:
            state.since = state.iteration
            state.sum_Y[:] = state.sum_V[:] = 0.0
        state.sum_Y += state.Y
        state.sum_V += state.rho * state.W
        primal, dual = (float(np.linalg.norm(A)) for A in (X - state.Y, state.Y - before))
        factor = balance(state.iteration, primal / np.sqrt(d) * float(np.linalg.norm(M - state.W)), dual)
        state.rho, state.W = state.rho * factor, state.W / factor
        return 1

    def candidate(self, problem: Problem, state: CentredState) -> Candidate:
        """X with the signs of Y, for a sign that is wrong costs 2·alpha; and U."""
        Y, U = state.split(problem)
        if state.iteration // self.check_every % 2 == 0:
            n = state.iteration - state.since + 1
            Y, U = state.sum_Y / n, problem.box.clip(state.B + state.scale / n * state.sum_V)
        return Candidate(shrink(Y, problem.n_components), DenseDual(U, problem.box), problem.size)
