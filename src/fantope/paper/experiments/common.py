"""What the experiments share: draws of the model, solved instances, warm-up, numbers fit for JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from fantope.kernels.build import PARALLEL_FROM
from fantope.simulation import Simulation, simulate
from fantope.solvers.solve import SOLVERS, solve_to_the_end
from fantope.typing import Array

SIZES, EIGENVALUES = (20, 15), (12.0, 6.0)  # section 5.1
# For theorems that need d ≥ 3: one more group, the gap to the noise as wide as in the paper's model.
SIZES_3, EIGENVALUES_3 = (12, 10, 8), (12.0, 9.0, 6.0)


@dataclass(frozen=True)
class Draw:
    """One draw of the model with its sample covariance and penalty."""

    sim: Simulation
    S: Array
    alpha: float
    d: int


def draw(n: int, p: int, seed: int, d: int = 2) -> Draw:
    """Draw n samples with λ = 0.5√(log p / n); d = 2 is the paper's model, d = 3 has a third group."""
    sizes, values = (SIZES, EIGENVALUES) if d == 2 else (SIZES_3, EIGENVALUES_3)
    sim = simulate(n, p, sizes=sizes, eigenvalues=values, random_state=seed)
    return Draw(sim, sim.Z.T @ sim.Z / n, penalty(n, p), d)


def penalty(n: int, p: int) -> float:
    """Return 0.5√(log p / n)."""
    return 0.5 * math.sqrt(math.log(p) / n)


def warm_up(p: int) -> None:
    """Load every compiled kernel that p variables need, so that no timing includes it."""
    _load_kernels(p >= PARALLEL_FROM)


@cache
def _load_kernels(parallel: bool) -> None:
    for n, p in ((50, 60), (175, 700)) if parallel else ((50, 60),):
        given = draw(n, p, 0)
        for solver in SOLVERS:
            solve_to_the_end(given.S, 2, given.alpha, solver=solver, tol=1e-2, max_iter=12)
        solve_to_the_end(given.S, 2, given.alpha, tol=1e-3).verify(given.S)
        for _ in range(2):
            np.linalg.eigh(given.S)


def distance(X: Array, Y: Array) -> float:
    """Return ‖X − Y‖_F."""
    return float(np.linalg.norm(X - Y))


def plain(values: Any, digits: int = 6) -> Any:
    """Return numbers as JSON takes them, with ``digits`` significant digits; what is not finite becomes None."""
    if isinstance(values, dict):
        return {key: plain(value, digits) for key, value in values.items()}
    if isinstance(values, (list, tuple, np.ndarray)):
        return [plain(value, digits) for value in values]
    if isinstance(values, (bool, np.bool_)):
        return bool(values)
    if isinstance(values, (int, np.integer)):
        return int(values)
    if isinstance(values, (float, np.floating)):
        return float(f"{values:.{digits}g}") if math.isfinite(values) else None
    return values


def few(length: int, most: int = 120) -> list[int]:
    """Return at most about ``most`` indices below ``length``: the first ones, then fewer and fewer, and the last."""
    if length <= most:
        return list(range(length))
    return [int(k) - 1 for k in np.unique(np.round(np.geomspace(1, length, most)))]
