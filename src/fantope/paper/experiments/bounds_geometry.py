"""Theorem 2 and Corollary 1: how near random and adversarial points come to the inequalities.

All quantities depend on eigenvalues alone (the sets are unitarily invariant), so points are spectra.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fantope.paper.base import Report
from fantope.paper.experiments.common import draw
from fantope.paper.theory import distance_bound, fps_constants
from fantope.problem.simplex import capped_simplex
from fantope.typing import Array


def geometry(config: Any, report: Report) -> dict[str, Any]:
    """Return the largest ratio of each quantity to its bound that a search finds."""
    p, rng = config.p, np.random.default_rng(config.seed)
    ranks = sorted({1, 2, 3, 5, (p - 1) // 2} & set(range(1, (p - 1) // 2 + 1)))
    rows = []
    for k, d in enumerate(ranks):
        report(k / len(ranks), f"theorem 2, d = {d}")
        ratio = _search(p, d, config.draws, rng)
        rows.append({"d": d, "ratio": ratio, "unmet": list(distance_bound(p, d, 1.0, 1.0).unmet)})
    return {"theorem2": rows, "corollary1": _constants(p, config.d, config.draws, rng)}


def _ratio(z: Array, d: int) -> float:
    """Return d_F over the bound of Theorem 2, for a spectrum."""
    trace = abs(float(z.sum()) - d) / math.sqrt(len(z))
    spectrum = float(np.linalg.norm(z - np.clip(z, 0.0, 1.0)))
    bound = distance_bound(len(z), d, trace, spectrum).value
    return float(np.linalg.norm(z - capped_simplex(z, d))) / bound if bound > 0.0 else 0.0


def _search(p: int, d: int, draws: int, rng: np.random.Generator) -> float:
    """Random spectra of many shapes, then a random walk uphill from the best."""
    best, where = 0.0, np.zeros(p)
    for _ in range(draws):
        # A vertex-like point of the Fantope plus noise of any size, some of it on a few coordinates only.
        z = np.zeros(p)
        z[: rng.integers(0, p + 1)] = rng.choice([0.0, 0.5, 1.0, d / p])
        z += 10 ** rng.uniform(-3, 1) * rng.standard_normal(p) * (rng.random(p) < rng.random())
        z += rng.choice([0.0, 1.0]) * 10 ** rng.uniform(-3, 1) * rng.choice([-1.0, 1.0])
        value = _ratio(z, d)
        if value > best:
            best, where = value, z
    for k in range(draws):
        step = 10 ** rng.uniform(-3, 0) * rng.standard_normal(p) * (rng.random(p) < 3 / p if k % 2 else 1.0)
        value = _ratio(where + step, d)
        if value > best:
            best, where = value, where + step
    return best


def _constants(p: int, d: int, draws: int, rng: np.random.Generator) -> dict[str, Any]:
    """Measure L, ρ₁ and ρ₂ of Corollary 1 on points of 𝒳."""
    given = draw(4 * p, p, 0, d)
    constants = fps_constants(p, d, given.alpha, float(np.linalg.norm(given.S)))

    def f(X: Array) -> float:
        return float(given.alpha * np.abs(X).sum() - np.vdot(given.S, X))

    lipschitz = 0.0
    for k in range(max(draws // 10, 20)):
        X = _symmetric(rng, p, d)
        # Along −S + λ sign X the objective changes fastest; random directions for comparison.
        D = _symmetric(rng, p, d) if k % 2 else given.alpha * np.sign(X) - given.S
        Y = X + 1e-3 * D
        lipschitz = max(lipschitz, abs(f(Y) - f(X)) / float(np.linalg.norm(Y - X)))
    smallest = {"g1": math.inf, "g2": math.inf}
    for count in range(1, p + 1):
        for size in (1e-3, 1e-2, 0.1, 0.5):
            # `count` eigenvalues out of bounds by the same amount, if that stays in 𝒳 = {‖X‖_F ≤ √d}.
            if count * (1.0 + size) ** 2 <= d:
                smallest["g1"] = min(smallest["g1"], size / (size * math.sqrt(count)))
            if count * size**2 <= d:
                smallest["g2"] = min(smallest["g2"], size / (size * math.sqrt(count)))
    return {
        "d": d,
        "unmet": list(constants.unmet),
        "L": {"measured": lipschitz, "bound": constants.L},
        "rho1": {"measured": smallest["g1"], "bound": constants.rho1},
        "rho2": {"measured": smallest["g2"], "bound": constants.rho2},
    }


def _symmetric(rng: np.random.Generator, p: int, d: int) -> Array:
    A = rng.standard_normal((p, p))
    A = A + A.T
    return np.asarray(A * (math.sqrt(d) * rng.random() / np.linalg.norm(A)))
