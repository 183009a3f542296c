"""Algorithm 4 of the paper for the subproblem of Online-P: what the faster method is compared with."""

from __future__ import annotations

import math

import numpy as np

from fantope.eigen import Eigenspace
from fantope.problem.certificate import dual_bound
from fantope.problem.projection import assemble, project
from fantope.prox.squared_lr import prox_squared_lr
from fantope.solvers.scaled_splitting import Schedule
from fantope.solvers.scaled_splitting.subproblem import Certified, Subproblem
from fantope.typing import Array


def three_operator(
    problem: Subproblem, X: Array, tolerance: float, step_size: float, *, max_iter: int = 5000, check_every: int = 10
) -> Certified:
    """Algorithm 4 of the paper, stopped by the certificate.

    Z̄ = (Z₁ + Z₂ + Z₃)/3 scaled into ‖·‖_F ≤ √d, then Z_i ← Z_i − X + prox_{αf_i}(2X − Z_i) for λ‖·‖₁, for −⟨S, ·⟩ on
    the Fantope (the penalties of the paper with a large μ) and for ‖·‖²_{r,r}/(2√t). The dual point is free: the
    first and the third prox yield U ∈ λ∂‖·‖₁ and W = ∇(‖·‖²_{r,r}/(2√t)), D = U + W.

    Parameters
    ----------
    X : (p, p) array
        Where to start.
    step_size : float
        α of the paper.
    """
    S, d, root = problem.S, problem.n_components, math.sqrt(problem.t)
    Z = [X.copy(), X.copy(), X.copy()]
    space = Eigenspace()
    norm, bound = 0.0, math.inf
    best: tuple[float, Array, Array, Array] | None = None
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        mean = (Z[0] + Z[1] + Z[2]) / 3.0
        size = float(np.linalg.norm(mean))
        mean *= min(1.0, math.sqrt(d) / size) if size > 0.0 else 1.0
        V1, V2, V3 = (2.0 * mean - each for each in Z)
        U = np.clip(V1, -step_size * problem.alpha, step_size * problem.alpha)
        vectors, weights = project(V2 + step_size * S, d, space, 1e-9)
        P = assemble(vectors.T, weights)
        third = prox_squared_lr(V3, step_size / root, problem.r, start=norm, tol=1e-12)
        Y3, norm = third.Y, third.norm
        Z[0] += (V1 - U) - mean
        Z[1] += P - mean
        Z[2] += Y3 - mean
        if n_iter % check_every == 0 or n_iter == max_iter:
            value = problem.objective(P)
            if best is None or value > best[0]:
                best = (value, P, vectors, weights)
            D = (U + V3 - Y3) / step_size
            M = problem.S - 0.5 * (D + D.T)
            penalty = problem.penalty(M)
            bound = min(bound, dual_bound(M, d, None, Schedule.slack * tolerance, best[0]) + penalty)
            if bound - best[0] <= tolerance:
                break
    assert best is not None
    return Certified(best[1], best[2], best[3], best[0], bound, tolerance, n_iter)
