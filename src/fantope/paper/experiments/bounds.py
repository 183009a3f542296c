"""The paper's bounds beside what they bound: theorems 2 to 5, corollaries 1 and 2, and the penalty constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fantope.paper.base import Config, Report
from fantope.paper.experiments.bounds_batch import estimation, penalty_constant
from fantope.paper.experiments.bounds_geometry import geometry
from fantope.paper.experiments.bounds_online import online_p, online_t


@dataclass(frozen=True)
class Bounds(Config):
    """One part of the table of bounds.

    "geometry" (theorem 2, corollary 1), "estimation" (theorem 3, corollary 2, the certified bound), "penalty" (the
    constant μ), "online-t" (theorem 4) or "online-p" (theorem 5).
    """

    pattern = "{part}-p{p}-d{d}-seed{seed}"
    part: str
    p: int
    d: int = 3  # meets the hypotheses 3 ≤ d ≤ (p − 1)/2; 2 is the paper's simulation
    n: int = 0  # samples, for the batch parts
    T: int = 0  # iterations or samples
    draws: int = 0  # random points, for the geometry
    seed: int = 0


PARTS: dict[str, Callable[[Any, Report], dict[str, Any]]] = {
    "geometry": geometry,
    "estimation": estimation,
    "penalty": penalty_constant,
    "online-t": online_t,
    "online-p": online_p,
}


def run(config: Bounds, report: Report) -> dict[str, Any]:
    """Measure one part."""
    return PARTS[config.part](config, report)
