"""Theorem 3, Corollary 2, the bound that a certificate makes possible, and the effect of μ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg

from fantope.eigen import one_blas_thread
from fantope.online import fantope_distance
from fantope.paper.base import Report
from fantope.paper.experiments.common import Draw, distance, draw, few
from fantope.paper.theory import certified_error, convergence_constant, estimation_error, fps_constants, start_distance
from fantope.penalties import L1
from fantope.problem.problem import Problem
from fantope.solvers import GradFps
from fantope.solvers.base import Start
from fantope.solvers.exact_penalty import PenaltyWeights
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array

STEP_SIZE = 0.05
ITERATIONS = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # after which a certificate is asked for
FACTORS = tuple(float(f) for f in 10.0 ** np.linspace(-3.0, 1.0, 13))  # of the paper's μ


def estimation(config: Any, report: Report) -> dict[str, Any]:
    """Run GradFPS with the paper's μ from V_dV_dᵀ and compare it with its bounds, for two penalties.

    λ = ‖S − Σ‖_∞ is the smallest penalty for which Corollary 2 is a statement (on the event that it needs); λ =
    0.5√(log p/n) is the one of the paper's simulations.
    """
    given = draw(config.n, config.p, config.seed, config.d)
    deviation = float(np.abs(given.S - given.sim.Sigma).max())
    cases = {}
    for k, (name, lam) in enumerate((("theorem", deviation), ("simulation", given.alpha))):
        report(k / 2, f"λ of the {name}")
        cases[name] = _case(given, config, lam, deviation)
    return cases


def _case(given: Draw, config: Any, lam: float, deviation: float) -> dict[str, Any]:
    S, d, p, Pi = given.S, given.d, config.p, given.sim.projection
    norm_S = float(np.linalg.norm(S))
    optimum = solve_to_the_end(S, d, lam, tol=1e-8)
    everything = np.arange(p)
    X_best, U_best = optimum.projection.toarray(), optimum.dual.block(everything, everything)
    V = scipy.linalg.eigh(S, subset_by_index=(p - d, p - 1))[1]
    X0 = V @ V.T
    C = convergence_constant(p, d, lam, norm_S, STEP_SIZE, start_distance(X0, X_best, U_best, STEP_SIZE))
    averages = _averages(given, lam, X0, config.T)
    excess = [_penalised(given, lam, X) + optimum.dual_bound for _, X in averages]
    infeasible = [fantope_distance(X, d) for _, X in averages]
    delta = float(given.sim.eigenvalues[d - 1] - np.sort(given.sim.eigenvalues[d:])[-1])
    s = len(given.sim.support)
    sigma = lam * math.sqrt(config.n / math.log(p))
    T, X_hat = averages[-1]
    prior = estimation_error(sigma, s, p, config.n, delta, C, T)
    certified = []
    for limit in ITERATIONS:
        sol = solve_to_the_end(S, d, lam, solver="gradfps", tol=1e-6, max_iter=limit)
        bound = certified_error(lam, s, delta, sol.dual_bound - sol.objective, deviation)
        certified.append(
            {
                "gap": sol.gap,
                "n_iter": sol.n_iter,
                "error": distance(sol.projection.toarray(), Pi),
                "bound": bound.value,
                "prior": estimation_error(sigma, s, p, config.n, delta, C, max(sol.n_iter, 1)).value,
            }
        )
    return {
        "C": C.value,
        "unmet": [*C.unmet, *certified_error(lam, s, delta, 0.0, deviation).unmet],
        "iterations": [t for t, _ in averages],
        "excess": excess,
        "infeasible": infeasible,
        "error": distance(X_hat, Pi),
        "statistical": 4 * lam * s / delta,
        "corollary2": prior.value,
        "T": T,
        "certified": certified,
    }


def _averages(given: Draw, lam: float, X0: Array, T: int) -> list[tuple[int, Array]]:
    """Return the ergodic averages X̂_t of Algorithm 1 at a few t."""
    problem = Problem(given.S, given.d, L1(lam))
    solver = GradFps(step_size=STEP_SIZE, mu="paper", form="corollary", output="average")
    wanted = {k + 1 for k in few(T, 40)}
    found = []
    with one_blas_thread():
        start = Start(rows=np.arange(problem.size), X=X0, U=np.zeros_like(X0))
        state = solver.init(problem, start, 1e-12)
        for t in range(1, T + 1):
            solver.step(problem, state, 1)
            if t in wanted:
                found.append((t, state.average.copy()))
    return found


def _penalised(given: Draw, lam: float, X: Array) -> float:
    """Return ℒ(X) of Corollary 1."""
    S, d = given.S, given.d
    values = np.linalg.eigvalsh(X)
    weights = PenaltyWeights.of(S, d, lam * len(S), "paper")
    return float(
        lam * np.abs(X).sum() - np.vdot(S, X)
        + weights.trace * abs(float(values.sum()) - d)
        + weights.above * max(float(values[-1]) - 1.0, 0.0)
        + weights.below * max(-float(values[0]), 0.0)
    )  # fmt: skip


def penalty_constant(config: Any, report: Report) -> dict[str, Any]:
    """Minimise ℒ(·; μ) for μ from far too small to the paper's, and see what the minimiser is."""
    given = draw(config.n, config.p, config.seed, config.d)
    S, d, lam = given.S, given.d, given.alpha
    optimum = solve_to_the_end(S, d, lam, tol=1e-8)
    mu = fps_constants(config.p, d, lam, float(np.linalg.norm(S))).mu
    rows = []
    for k, factor in enumerate(FACTORS):
        report(k / len(FACTORS), f"μ = {factor:.1g} of the paper's")
        X = _minimiser(given, factor * mu, config.T)
        rows.append(
            {
                "factor": factor,
                "infeasible": fantope_distance(X, d),
                "distance": distance(X, optimum.projection.toarray()),
            }
        )
    return {"mu": mu, "rows": rows}


def _minimiser(given: Draw, mu: float, T: int) -> Array:
    problem = Problem(given.S, given.d, L1(given.alpha))
    solver = GradFps(step_size=STEP_SIZE, mu=mu, form="corollary")
    with one_blas_thread():
        state = solver.init(problem, None, 1e-12)
        for _ in range(T):
            solver.step(problem, state, 1)
    return np.asarray(state.scale * 0.5 * (state.Z1 + state.Z2))
