"""Figure 3: cumulative regret of Online-P and of following the leader against the true projection."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from fantope.online import FollowTheLeader, OnlineP, RegretTracker, Stream
from fantope.reproduce.base import Report
from fantope.reproduce.experiments.common import penalty, plain
from fantope.simulation import simulate


@dataclass(frozen=True)
class Regret:
    """One repetition of figure 3.

    Attributes
    ----------
    p, T : int
    seed : int
    loosen : float
        Factor on the theorem's tolerance of each subproblem of Online-P.
    """

    p: int = 400
    T: int = 100
    seed: int = 0
    loosen: float = 1.0

    @property
    def label(self) -> str:
        """Name of the run."""
        return f"p{self.p}-T{self.T}-seed{self.seed}"


def run(config: Regret, report: Report) -> dict[str, Any]:
    """Judge each X_t on the sample that follows; λ = 0.5√(log p / T)."""
    p, T = config.p, config.T
    alpha = penalty(T, p)
    sim = simulate(T + 1, p, random_state=config.seed)
    curves: dict[str, list[float]] = {}
    seconds: dict[str, float] = {}
    learners: dict[str, FollowTheLeader | OnlineP] = {
        "FTL": FollowTheLeader(p, 2, alpha),
        "Online-P": OnlineP(p, 2, alpha, loosen=config.loosen),
    }
    for k, (name, learner) in enumerate(learners.items()):
        tracker = RegretTracker(2, alpha, 1.0, 1, sim.projection)
        stream = Stream(learner, False, 1.0, tracker)
        curve, began = [], time.perf_counter()
        for t, z in enumerate(sim.Z):
            report((k + t / (T + 1)) / 2, f"{name}, sample {t} of {T}")
            stream.update_many(z[None])
            curve.append(tracker.regret())
        # Before the second sample nothing has been judged.
        curves[name], seconds[name] = plain(curve[1:]), plain(time.perf_counter() - began, 4)
    return {
        "alpha": alpha,
        "regret": curves,
        "seconds": seconds,
        "unmet": {name: learner.n_unmet for name, learner in learners.items()},
    }
