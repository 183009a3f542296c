"""Projected subgradient method (equation projected_gradient_fps): X ← P_F(X + α_k S − α_k ∂Ω(X)).

A baseline: it needs of the order of 1/ε² iterations. The α-weighted mean of the subgradients of Ω (alpha·sign(X_k) for
the ℓ₁ norm) is in the dual set and tends to a dual solution, so even this method is certified. On entries that Ω
forbids a multiplier takes the subgradient's place: X_ij drives it until X_ij stays about zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fantope.eigen import Eigenspace
from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.problem.projection import project
from fantope.solvers.base import Candidate, Start
from fantope.solvers.spectral import spectral_start
from fantope.typing import Array


@dataclass
class ProjectedSubgradientState:
    """The iterate, its running mean and that of the subgradients, both weighted by the step sizes."""

    X: Array
    mean: Array
    dual: Array
    step_size: float
    space: Eigenspace
    multiplier: Array
    total: float = 0.0
    iteration: int = 0


@dataclass(frozen=True)
class ProjectedSubgradient:
    """Projected subgradient steps α_k = step_size/√k.

    Parameters
    ----------
    step_size : float, optional
        Default √d / (‖S‖_F + ‖w‖_F) for Ω = Σ w_ij|X_ij|, the radius of the Fantope over a bound of the subgradients.
    """

    step_size: float | None = None
    name: str = "projected-subgradient"
    max_iter: int = 2_000
    check_every: int = 50

    def init(self, problem: Problem, start: Start | None, tol: float) -> ProjectedSubgradientState:
        """Start from the thresholded PCA, or from what the caller brings."""
        _, X, U, space = spectral_start(problem, start)
        bound = float(np.linalg.norm(problem.S)) + problem.box.norm(problem.size)
        step = np.sqrt(problem.n_components) / max(bound, 1e-300) if self.step_size is None else self.step_size
        # A start's own dual point is worth one step.
        multiplier = U.copy() if problem.forbids else np.zeros((0, 0))
        return ProjectedSubgradientState(X.copy(), X.copy(), U, step, space, multiplier, total=step)

    def step(self, problem: Problem, state: ProjectedSubgradientState, budget: int) -> int:
        """One projected step."""
        state.iteration += 1
        rate = state.step_size / np.sqrt(state.iteration)
        subgradient = problem.subgradient(state.X)
        if problem.forbids:
            state.multiplier += rate / state.step_size**2 * state.X
            subgradient = np.where(np.isinf(problem.limits), state.multiplier, subgradient)
        vectors, weights = project(
            state.X + rate * (problem.S - subgradient), problem.n_components, state.space, 0.1 * rate
        )
        state.X = (vectors.T * weights) @ vectors
        state.total += rate
        state.mean += rate / state.total * (state.X - state.mean)
        state.dual += rate / state.total * (subgradient - state.dual)
        return 1

    def candidate(self, problem: Problem, state: ProjectedSubgradientState) -> Candidate:
        """Return the mean of the iterates and of the subgradients."""
        X = problem.repair(state.mean, state.space.basis)
        return Candidate(X, DenseDual(state.dual.copy(), problem.box), problem.size)
