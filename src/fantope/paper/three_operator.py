"""Algorithm 4 of the paper for the subproblem of Online-P: what the faster method is compared with."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from fantope.eigen import Eigenspace
from fantope.penalties.squared_lr import prox_squared_lr
from fantope.problem.dual import PenalisedDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors, project
from fantope.solvers.base import Candidate, Start
from fantope.solvers.scaled_splitting.metric import norms_of
from fantope.typing import Array


@dataclass
class ThreeOperatorState:
    """The three copies of X, and what their proxes yielded last."""

    Z: list[Array]
    space: Eigenspace = field(default_factory=Eigenspace)
    norm: float = 0.0
    X: Factors | None = None
    D: Array | None = None


@dataclass(frozen=True)
class ThreeOperator:
    """Z̄ = (Z₁ + Z₂ + Z₃)/3 scaled into ‖·‖_F ≤ √d, then Z_i ← Z_i − Z̄ + prox_{αf_i}(2Z̄ − Z_i).

    The f_i are λ‖·‖₁, −⟨S, ·⟩ on the Fantope (the penalties of the paper with a large μ) and ‖·‖²_{r,r}/(2√t). The dual
    point is free: the first and the third prox yield U ∈ λ∂‖·‖₁ and W = ∇(‖·‖²_{r,r}/(2√t)), D = U + W.

    Parameters
    ----------
    step_size : float
        α of the paper.
    """

    step_size: float
    name: str = "three-operator"
    max_iter: int = 5000
    check_every: int = 10

    def init(self, problem: Problem, start: Start | None, tol: float) -> ThreeOperatorState:
        """Start from the X of ``start``, or from zero."""
        X = np.zeros_like(problem.S) if start is None else start.spread(problem)[0]
        return ThreeOperatorState([X.copy() for _ in range(3)])

    def step(self, problem: Problem, state: ThreeOperatorState, budget: int) -> int:
        """One iteration."""
        norms, d, Z, step = norms_of(problem), problem.n_components, state.Z, self.step_size
        mean = (Z[0] + Z[1] + Z[2]) / 3.0
        size = float(np.linalg.norm(mean))
        mean *= min(1.0, math.sqrt(d) / size) if size > 0.0 else 1.0
        V1, V2, V3 = (2.0 * mean - each for each in Z)
        U = np.clip(V1, -step * norms.alpha, step * norms.alpha)
        vectors, weights = project(V2 + step * problem.S, d, state.space, 1e-9)
        state.X = Factors(np.arange(problem.size), vectors, weights)
        third = prox_squared_lr(V3, step / math.sqrt(norms.t), norms.r, start=state.norm, tol=1e-12)
        state.norm = third.norm
        for each, found in zip(Z, (V1 - U, (vectors.T * weights) @ vectors, third.Y), strict=True):
            each += found - mean
        state.D = (U + V3 - third.Y) / step
        return 1

    def candidate(self, problem: Problem, state: ThreeOperatorState) -> Candidate:
        """Return the projection and D."""
        if state.D is None:
            return Candidate(None, None, problem.size)
        M = problem.S - 0.5 * (state.D + state.D.T)
        return Candidate(state.X, PenalisedDual(M, norms_of(problem).dual_value_of(problem.S, M)), problem.size)
