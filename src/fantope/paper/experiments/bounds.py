"""The paper's bounds beside what they bound: theorems 2 to 5, corollaries 1 and 2, and the penalty constant."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fantope.paper.base import Report
from fantope.paper.experiments.bounds_batch import estimation, penalty_constant
from fantope.paper.experiments.bounds_geometry import geometry
from fantope.paper.experiments.bounds_online import online_p, online_t
from fantope.paper.experiments.common import plain


@dataclass(frozen=True)
class Bounds:
    """One part of the table of bounds.

    Attributes
    ----------
    part : str
        "geometry" (theorem 2, corollary 1), "estimation" (theorem 3, corollary 2, the certified bound),
        "penalty" (the constant μ), "online-t" (theorem 4) or "online-p" (theorem 5).
    p, d : int
        d = 3 meets the hypotheses 3 ≤ d ≤ (p − 1)/2; d = 2 is the paper's simulation.
    n : int
        Samples, for the batch parts.
    T : int
        Iterations or samples.
    draws : int
        Random points, for the geometry.
    """

    part: str
    p: int
    d: int = 3
    n: int = 0
    T: int = 0
    draws: int = 0
    seed: int = 0

    @property
    def label(self) -> str:
        """Name of the run."""
        return f"{self.part}-p{self.p}-d{self.d}-seed{self.seed}"


PARTS: dict[str, Callable[[Any, Report], dict[str, Any]]] = {
    "geometry": geometry,
    "estimation": estimation,
    "penalty": penalty_constant,
    "online-t": online_t,
    "online-p": online_p,
}


def run(config: Bounds, report: Report) -> dict[str, Any]:
    """Measure one part."""
    result: dict[str, Any] = plain(PARTS[config.part](config, report))
    return result
