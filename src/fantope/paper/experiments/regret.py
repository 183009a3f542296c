"""Figure 3: cumulative regret of Online-P and of following the leader against the true projection."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from fantope.online import FollowTheLeader, OnlineP, RegretTracker, Stream
from fantope.paper.base import Config, Report
from fantope.paper.experiments.common import penalty
from fantope.simulation import simulate

METHODS = ("FTL", "Online-P")
MEASURED = ("regret", "seconds", "unmet")


@dataclass(frozen=True)
class Regret(Config):
    """One repetition of figure 3."""

    pattern = "p{p}-T{T}-seed{seed}"
    p: int = 400
    T: int = 100
    seed: int = 0
    loosen: float = 1.0  # factor on the theorem's tolerance of each subproblem of Online-P


def run(config: Regret, report: Report) -> dict[str, Any]:
    """Judge each X_t of both methods on the sample that follows; λ = 0.5√(log p / T)."""
    measured = {name: _follow(config, k, report) for k, name in enumerate(METHODS)}
    return {key: {name: found[j] for name, found in measured.items()} for j, key in enumerate(MEASURED)}


def _follow(config: Regret, k: int, report: Report) -> tuple[list[float], float, int]:
    """Return the regret after each judged sample of the k-th method, the seconds it took and unmet tolerances."""
    p, T = config.p, config.T
    alpha = penalty(T, p)
    sim = simulate(T + 1, p, random_state=config.seed)
    learner = OnlineP(p, 2, alpha, loosen=config.loosen) if METHODS[k] == "Online-P" else FollowTheLeader(p, 2, alpha)
    tracker = RegretTracker(2, alpha, 1.0, 1, sim.projection)
    stream = Stream(learner, False, 1.0, tracker)
    curve, began = [], time.process_time()
    for t, z in enumerate(sim.Z):
        report((k + t / (T + 1)) / len(METHODS), f"{METHODS[k]}, sample {t} of {T + 1}")
        stream.update_many(z[None])
        curve.append(tracker.regret())
    # Before the second sample nothing has been judged.
    return curve[1:], time.process_time() - began, learner.n_unmet
