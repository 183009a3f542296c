"""Section 3.2: Theorem 1 checked numerically, FPS through the general scheme, and another problem through it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from fantope.paper.base import Config, Report
from fantope.paper.experiments.common import distance, draw
from fantope.paper.intersection import Intersection, fps, incremental, nearest_correlation, splitting
from fantope.problem.simplex import capped_simplex
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array

FACTORS = (1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0)
SCALES = (1e-4, 1e-3, 1e-2, 0.1, 1.0)


@dataclass(frozen=True)
class Scheme(Config):
    """One check: part "theorem1", "fps" or "correlation"."""

    pattern = "{part}-p{p}"
    part: str
    p: int
    d: int = 3
    draws: int = 200
    seed: int = 0


def run(config: Scheme, report: Report) -> dict[str, Any]:
    """Do one check."""
    return {"theorem1": _theorem1, "fps": _fps, "correlation": _correlation}[config.part](config, report)


def _project(X: Array, d: int) -> Array:
    """Return the point of the Fantope nearest to X."""
    values, V = np.linalg.eigh(X)
    return np.asarray((V * capped_simplex(values, d)) @ V.T)


def _theorem1(config: Scheme, report: Report) -> dict[str, Any]:
    p, d, rng = config.p, config.d, np.random.default_rng(config.seed)
    given = draw(4 * p, p, config.seed, d)
    problem = fps(given.S, d, given.alpha)
    optimum = solve_to_the_end(given.S, d, given.alpha, tol=1e-9)
    L, start = problem.objective.lipschitz, d / p * np.eye(p)
    values = []
    for k, factor in enumerate(FACTORS):
        report(k / (len(FACTORS) + 1), f"part (a), μ = {factor:g} L")
        found = splitting(problem, start, mu=factor * L, tol=1e-7, max_iter=2000)
        values.append({"factor": factor, "value": found.value + optimum.objective, "penalty": found.penalty})
    report(len(FACTORS) / (len(FACTORS) + 1), "part (b)")
    best = optimum.projection.toarray()
    lowest, near, worse, vacuous = np.inf, 0.0, 0.0, 0
    for k in range(config.draws):
        noise = rng.standard_normal((p, p))
        noise = (noise + noise.T) / np.linalg.norm(noise + noise.T)
        x = problem.ball.project(best + SCALES[k % len(SCALES)] * noise)
        lowest = min(lowest, problem.penalised(x, L) + optimum.dual_bound)
        # ℒ* is at most −objective, so this ε is not larger than the true one: the check is on the safe side.
        epsilon = problem.penalised(x) + optimum.objective
        if epsilon <= 0.0:
            vacuous += 1
            continue
        y = _project(x, d)
        near = max(near, distance(x, y) / epsilon)
        worse = max(worse, (problem.penalised(y) + optimum.objective) / epsilon)
    return {
        "optimum": -optimum.objective,
        "gap": optimum.dual_bound - optimum.objective,
        "values": values,
        "lowest": lowest,
        "distance_over_epsilon": near,
        "value_over_epsilon": worse,
        "points": config.draws - vacuous,
    }


def _fps(config: Scheme, report: Report) -> dict[str, Any]:
    given = draw(4 * config.p, config.p, config.seed, config.d)
    optimum = solve_to_the_end(given.S, config.d, given.alpha, tol=1e-9)
    best = optimum.projection.toarray()
    problem = fps(given.S, config.d, given.alpha)
    start = config.d / config.p * np.eye(config.p)
    rows = []
    for k, (name, method) in enumerate((("splitting", splitting), ("incremental", incremental))):
        report(k / 2, name)
        began = time.process_time()
        found = method(problem, start)
        rows.append(
            {
                "method": name,
                "iterations": found.n_iter,
                "seconds": time.process_time() - began,
                "relative": abs(found.objective + optimum.objective) / abs(optimum.objective),
                "distance": distance(found.x, best),
                "penalty": found.penalty,
            }
        )
    return {"gap": optimum.gap, "rows": rows}


def _correlation(config: Scheme, report: Report) -> dict[str, Any]:
    """Correlations of incomplete data, each pair from other samples, so that they are no correlation matrix."""
    p, rng = config.p, np.random.default_rng(config.seed)
    Z = draw(p, max(p, 40), config.seed).sim.Z[:, :p]
    Z[rng.random(Z.shape) < 0.6] = np.nan
    known = ~np.isnan(Z)
    pairs = known.T.astype(float) @ known
    filled = np.where(known, Z - np.nanmean(Z, axis=0), 0.0)
    second = (filled**2).T @ known
    A = filled.T @ filled / np.maximum(np.sqrt(second * second.T), 1e-12)
    np.fill_diagonal(A, 1.0)
    # An entry may move by one and a half standard errors, and no further: less than some do without bounds.
    width = 1.5 / np.sqrt(np.maximum(pairs, 1.0))
    cases = {
        "free": nearest_correlation(A),
        "bounded": nearest_correlation(
            A, lower=np.maximum(A - width, -1.0), upper=np.minimum(A + width, 1.0), interior=_inside(A, width)
        ),
    }
    result: dict[str, Any] = {"smallest_eigenvalue_before": float(np.linalg.eigvalsh(A)[0])}
    for name, problem in cases.items():
        report(0.5 * (name == "bounded"), name)
        result[name] = _nearest(problem, A, width)
    return result


def _inside(A: Array, width: Array) -> Array:
    """Return a positive definite matrix within the bounds: A drawn towards the identity as far as they allow."""
    off = ~np.eye(len(A), dtype=bool)
    return np.where(off, np.sign(A) * np.maximum(np.abs(A) - width, 0.0), 1.0)


def _nearest(problem: Intersection, A: Array, width: Array) -> dict[str, Any]:
    found = splitting(problem, np.eye(len(A)), tol=1e-8)
    X = problem.feasible(found.x)
    off = ~np.eye(len(A), dtype=bool)
    return {
        "iterations": found.n_iter,
        "objective": found.objective,
        "feasible_objective": problem.objective.value(X),
        "smallest_eigenvalue": float(np.linalg.eigvalsh(X)[0]),
        "largest_change": float(np.abs(X - A)[off].max()),
        "outside": float((np.abs(X - A) - width)[off].max()),
    }
