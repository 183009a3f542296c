"""ADMM for penalties that couple entries, Ω(X) = Σ h_k(K_k X): a projection, a prox of each h_k, and their consensus.

    W ← the least sum of squares ‖X + u₀ − W‖² + Σ‖Y_k + u_k − K_kW‖²,
    X ← P_F(W − u₀ + S/ρ),   Y_k ← prox_{h_k/ρ}(K_kW − u_k),   u₀ ← u₀ + X − W,   u_k ← u_k + Y_k − K_kW.

The dual point is free: −ρu_k is in the dual set of h_k after every iteration, so U = sym(Σ K_kᵀ(−ρu_k)) is in Ω's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from fantope.eigen import Eigenspace
from fantope.penalties import Structured
from fantope.penalties.structured import Parts
from fantope.problem.dual import StructuredDual
from fantope.problem.problem import Problem
from fantope.problem.projection import project
from fantope.solvers.base import Candidate, Start
from fantope.solvers.spectral import SMALLEST, balance, primal_candidate
from fantope.typing import Array


@dataclass
class StructuredState:
    """The point of the Fantope, by its eigenpairs too, the parts, and the multipliers over ρ of both."""

    X: Array
    Y: Parts
    u0: Array
    u: Parts
    rho: float
    space: Eigenspace
    vectors: Array | None = None
    weights: Array | None = None
    accuracy: float = 1e-3
    iteration: int = 0

    @property
    def step_size(self) -> float:
        """The paper's α."""
        return 1.0 / self.rho


@dataclass(frozen=True)
class StructuredAdmm:
    """ADMM on dense problems with a penalty that couples entries.

    Parameters
    ----------
    step_size : float, optional
        1/ρ. Given, it stays fixed; by default it starts at 1/(2 λ₁) and adapts.
    relax : float
        Over-relaxation.
    """

    step_size: float | None = None
    relax: float = 1.6
    name: str = "structured-admm"
    max_iter: int = 20_000
    check_every: int = 10

    def init(self, problem: Problem, start: Start | None, tol: float) -> StructuredState:
        """Start from ``start``, or from PCA."""
        penalty, m, d = structured(problem), problem.size, problem.n_components
        values, V = scipy.linalg.eigh(problem.S, subset_by_index=(m - d, m - 1), check_finite=False)
        X = np.asarray(V @ V.T) if start is None else start.spread(problem)[0]
        scale = max(float(values[-1]), 1e-8 * float(np.abs(problem.S).max()), SMALLEST)
        rho = 1.0 / (self.step_size or (start and start.step_size) or 0.5 / scale)
        Y = penalty.parts(X)
        u = tuple(np.zeros_like(P) for P in Y)
        if start is not None and start.parts is not None:
            u = tuple(P / -rho for P in penalty.bounded(start.parts))
        # With W's equation the multipliers sum to zero: u₀ = −sym(ΣK_kᵀu_k).
        return StructuredState(X, Y, -penalty.joined(u), u, rho, Eigenspace(np.ascontiguousarray(V.T)))

    def step(self, problem: Problem, state: StructuredState, budget: int) -> int:
        """One iteration, and a change of ρ when the residuals are out of balance."""
        penalty, d = structured(problem), problem.n_components
        before_X, before_Y = state.X, state.Y
        W = penalty.consensus(state.X + state.u0, _sum(state.Y, state.u))
        K = penalty.parts(W)
        ahead = self.relax * W + (1.0 - self.relax) * state.X
        ahead_K = tuple(self.relax * P + (1.0 - self.relax) * Q for P, Q in zip(K, state.Y, strict=True))
        G = ahead - state.u0
        G += problem.S / state.rho
        state.vectors, state.weights = project(G, d, state.space, state.accuracy)
        state.X = (state.vectors.T * state.weights) @ state.vectors
        state.Y = penalty.shrunk(tuple(P - v for P, v in zip(ahead_K, state.u, strict=True)), 1.0 / state.rho)
        state.u0 = state.u0 + state.X - ahead
        state.u = tuple(v + P - Q for v, P, Q in zip(state.u, state.Y, ahead_K, strict=True))
        state.iteration += 1
        primal = _norm(state.X - W, *(P - Q for P, Q in zip(state.Y, K, strict=True)))
        change = _norm(state.X - before_X, *(P - Q for P, Q in zip(state.Y, before_Y, strict=True)))
        state.accuracy = max(1e-12, 0.1 * min(primal, change))
        if self.step_size is None:
            multipliers = max(_norm(state.u0, *state.u), 1e-300)
            factor = balance(state.iteration, primal / np.sqrt(d), change / multipliers)
            state.rho, state.u0 = state.rho * factor, state.u0 / factor
            state.u = tuple(v / factor for v in state.u)
        return 1

    def candidate(self, problem: Problem, state: StructuredState) -> Candidate:
        """X from the sparse part, if there is one that can be repaired, else the projection; U from the multipliers."""
        penalty = structured(problem)
        sparse = penalty.sparse(state.Y)
        found = problem.repair(state.X if sparse is None else sparse, state.space.basis)
        X = primal_candidate(problem, found, state.vectors, state.weights)
        parts = penalty.bounded(tuple(-state.rho * v for v in state.u))
        return Candidate(X, StructuredDual(parts, penalty), problem.size)


def structured(problem: Problem) -> Structured:
    """Return the penalty of a problem that this solver is for."""
    if not isinstance(problem.penalty, Structured):
        raise TypeError(f"this solver needs a structured penalty, got {problem.penalty!r}.")
    return problem.penalty


def _sum(first: Parts, second: Parts) -> Parts:
    return tuple(P + Q for P, Q in zip(first, second, strict=True))


def _norm(*arrays: Array) -> float:
    return float(np.sqrt(sum(float(np.vdot(A, A)) for A in arrays)))
