"""Figure 3: cumulative regret of Online-P and of following the leader against the true projection."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event
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
    """Judge each X_t on the sample that follows; λ = 0.5√(log p / T).

    The two methods run side by side: matrices of this size leave a second core idle.
    """
    p, T = config.p, config.T
    alpha = penalty(T, p)
    sim = simulate(T + 1, p, random_state=config.seed)
    learners: dict[str, FollowTheLeader | OnlineP] = {
        "FTL": FollowTheLeader(p, 2, alpha),
        "Online-P": OnlineP(p, 2, alpha, loosen=config.loosen),
    }
    done = dict.fromkeys(learners, 0)
    stopped = Event()

    def follow(name: str) -> tuple[list[float], float]:
        tracker = RegretTracker(2, alpha, 1.0, 1, sim.projection)
        stream = Stream(learners[name], False, 1.0, tracker)
        curve, began = [], time.perf_counter()
        for z in sim.Z:
            if stopped.is_set():
                break
            stream.update_many(z[None])
            curve.append(tracker.regret())
            done[name] += 1
            report(sum(done.values()) / (2 * T + 2), ", ".join(f"{key} {n} of {T + 1}" for key, n in done.items()))
        # Before the second sample nothing has been judged.
        return plain(curve[1:]), plain(time.perf_counter() - began, 4)

    with ThreadPoolExecutor(len(learners)) as pool:
        running = {name: pool.submit(follow, name) for name in learners}
        try:
            results = {name: future.result() for name, future in running.items()}
        finally:
            stopped.set()  # an interrupt, or the failure of one, ends the other at its next sample
    return {
        "alpha": alpha,
        "regret": {name: curve for name, (curve, _) in results.items()},
        "seconds": {name: seconds for name, (_, seconds) in results.items()},
        "unmet": {name: learner.n_unmet for name, learner in learners.items()},
    }
