"""Projection-free subgradient method on the exact penalty (equation unconstrained_objective).

    ℒ(X) = −⟨S, X⟩ + Ω(X) + μ(|tr X − d|/√p + r₁[θ₁(X) − 1]₊ + r₂[−θ_p(X)]₊),   X ← P_𝒳(X − α_k ∂ℒ(X)).

Each step needs the largest and the smallest eigenpair of X only. A baseline, and a source of warm starts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fantope.eigen import Eigenspace
from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.solvers.base import Candidate, Start
from fantope.solvers.exact_penalty import PenaltyWeights
from fantope.solvers.spectral import spectral_start
from fantope.typing import Array


@dataclass
class SubgradientState:
    """The iterate, its running mean and that of the subgradients of Ω, weighted by the step sizes."""

    X: Array
    mean: Array
    dual: Array
    step_size: float
    weights: PenaltyWeights
    top: Eigenspace
    bottom: Eigenspace
    total: float = 0.0
    iteration: int = 0


@dataclass(frozen=True)
class Subgradient:
    """Subgradient steps α_k = step_size/√k on the penalised problem.

    Parameters
    ----------
    step_size : float, optional
        Default √d over a bound of the subgradients.
    mu : float or "paper", optional
        Weight of the penalties. By default d·λ₁(S) + alpha, about what exactness needs; "paper" is the constant of
        Corollary 1, for which the theorem holds and which is so large that steps become tiny.
    """

    step_size: float | None = None
    mu: float | Literal["paper"] | None = None
    name: str = "subgradient"
    max_iter: int = 2_000
    check_every: int = 50

    def init(self, problem: Problem, start: Start | None, tol: float) -> SubgradientState:
        """Start from the thresholded PCA, or from what the caller brings."""
        scale, X, U, space = spectral_start(problem, start)
        S, d, slope = problem.S, problem.n_components, problem.box.norm(problem.size)
        if self.mu is None:
            size = d * scale + problem.alpha
            weights = PenaltyWeights(size, size, size)
        else:
            weights = PenaltyWeights.of(S, d, slope, self.mu)
        bound = float(np.linalg.norm(S)) + slope + weights.above + weights.below
        step = np.sqrt(d) / max(bound, 1e-300) if self.step_size is None else self.step_size
        bottom = Eigenspace(np.random.default_rng(0).standard_normal((4, problem.size)))
        return SubgradientState(X.copy(), X.copy(), U, step, weights, space, bottom, total=step)

    def step(self, problem: Problem, state: SubgradientState, budget: int) -> int:
        """One step."""
        state.iteration += 1
        X, weights, d = state.X, state.weights, problem.n_components
        rate = state.step_size / np.sqrt(state.iteration)
        high, last = state.top.leading(X, lambda _: 1, tol=1e-4)
        low, first = state.bottom.leading(-X, lambda _: 1, tol=1e-4)
        change = problem.S.copy()
        if high[0] > 1.0:
            change -= weights.above * np.outer(last[0], last[0])
        if low[0] > 0.0:
            change += weights.below * np.outer(first[0], first[0])
        change.flat[:: problem.size + 1] += weights.trace * np.sign(d - X.trace())
        subgradient = problem.subgradient(X)
        if problem.forbids:  # X stays zero there: the dual point is whatever takes the rest of the step away
            subgradient = np.where(np.isinf(problem.limits), change, subgradient)
        X = X + rate * (change - subgradient)
        norm = float(np.linalg.norm(X))
        state.X = X * min(1.0, np.sqrt(d) / norm) if norm > 0 else X
        state.total += rate
        state.mean += rate / state.total * (state.X - state.mean)
        state.dual += rate / state.total * (subgradient - state.dual)
        return 1

    def candidate(self, problem: Problem, state: SubgradientState) -> Candidate:
        """Return the mean of the iterates, moved into the Fantope, and the mean of the subgradients of Ω."""
        return Candidate(problem.repair(state.mean), DenseDual(state.dual.copy(), problem.box), problem.size)
