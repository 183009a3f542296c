"""Projected subgradient method (equation projected_gradient_fps): X ← P_F(X + α_k S − α_k alpha sign(X)).

A baseline: it needs of the order of 1/ε² iterations. The α-weighted mean of the subgradients alpha·sign(X_k) is in
the dual box and tends to a dual solution, so even this method is certified.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fantope.eigen import Eigenspace
from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.problem.projection import project, repair
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
    total: float = 0.0
    iteration: int = 0


@dataclass(frozen=True)
class ProjectedSubgradient:
    """Projected subgradient steps α_k = step_size/√k.

    Parameters
    ----------
    step_size : float, optional
        Default √d / (‖S‖_F + alpha·p), the radius of the Fantope over a bound of the subgradients.
    """

    step_size: float | None = None
    name: str = "projected-subgradient"
    max_iter: int = 2_000
    check_every: int = 50

    def init(self, problem: Problem, start: Start | None, tol: float) -> ProjectedSubgradientState:
        """Start from the thresholded PCA, or from what the caller brings."""
        _, X, U, space = spectral_start(problem, start)
        bound = float(np.linalg.norm(problem.S)) + problem.alpha * problem.size
        step = np.sqrt(problem.n_components) / max(bound, 1e-300) if self.step_size is None else self.step_size
        # A start's own dual point is worth one step.
        return ProjectedSubgradientState(X.copy(), X.copy(), U, step, space, total=step)

    def step(self, problem: Problem, state: ProjectedSubgradientState, budget: int) -> int:
        """One projected step."""
        state.iteration += 1
        rate = state.step_size / np.sqrt(state.iteration)
        subgradient = problem.alpha * np.sign(state.X)
        problem.cut(subgradient)  # or sign(X) would make rounding between components count
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
        X = repair(state.mean, problem.n_components, problem.objective, state.space.basis)
        return Candidate(X, DenseDual(state.dual.copy(), problem.alpha), problem.size)
