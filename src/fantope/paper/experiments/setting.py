"""Figure 1: the true covariance matrix and its leading eigenvectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from fantope.paper.base import Config, Report
from fantope.simulation import simulate


@dataclass(frozen=True)
class Setting(Config):
    """Parameters of figure 1."""

    pattern = "p{p}"
    p: int = 100
    seed: int = 0


def run(config: Setting, report: Report) -> dict[str, Any]:
    """Return Q, Λ and how strongly variables correlate within the groups and elsewhere."""
    sim = simulate(1, config.p, random_state=config.seed)
    size = np.sqrt(sim.Sigma.diagonal())
    R = sim.Sigma / size / size[:, None]
    group = np.repeat(np.arange(len(sim.sizes) + 1), [*sim.sizes, config.p - sum(sim.sizes)])
    off = ~np.eye(config.p, dtype=bool)
    within = [float(R[np.ix_(group == g, group == g)][off[np.ix_(group == g, group == g)]].mean()) for g in (0, 1)]
    signal = (group[:, None] == group) & (group[:, None] < len(sim.sizes))
    elsewhere = np.abs(R[off & ~signal])
    return {
        "sizes": sim.sizes,
        "eigenvectors": sim.eigenvectors,
        "eigenvalues": sim.eigenvalues,
        "leading": np.sort(sim.eigenvalues)[::-1][:5],
        "nonzero": [int(np.count_nonzero(v)) for v in sim.loadings.T],
        "within": within,
        "elsewhere_mean": float(elsewhere.mean()),
        "elsewhere_share_below": float((elsewhere < 0.3).mean()),
    }
