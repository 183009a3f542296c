"""Figure 4: error of Online-T and Online-P against samples and against time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from fantope.online import OnlineP, OnlineT
from fantope.paper.base import Config, Report
from fantope.paper.experiments.common import distance, few, penalty, plain
from fantope.simulation import simulate
from fantope.typing import Array


@dataclass(frozen=True)
class Online(Config):
    """One repetition of figure 4: T₁ samples for Online-T, T₂ for Online-P."""

    pattern = "p{p}-seed{seed}"
    p: int = 200
    T1: int = 1000
    T2: int = 200
    seed: int = 0
    loosen: float = 1.0


def run(config: Online, report: Report) -> dict[str, Any]:
    """Feed the same stream to both, sample by sample; λ = 0.5√(log p / T₂), only updates are timed."""
    p = config.p
    alpha = penalty(config.T2, p)
    warm = simulate(3, p, random_state=config.seed).Z
    OnlineT(p, 2, alpha).update_many(warm)
    OnlineP(p, 2, alpha, loosen=1e6).update_many(warm)
    sim = simulate(config.T1, p, random_state=config.seed)
    T, P = OnlineT(p, 2, alpha), OnlineP(p, 2, alpha, loosen=config.loosen)
    return {
        "curves": {
            "Online-T": _follow("Online-T", T, sim.Z, sim.projection, report),
            "Online-P": _follow("Online-P", P, sim.Z[: config.T2], sim.projection, report),
        }
    }


def _follow(name: str, learner: OnlineT | OnlineP, Z: Array, truth: Array, report: Report) -> dict[str, Any]:
    """Return time and error of the answer (for Online-T the running mean, for Online-P X_t itself)."""
    spent, seconds, answers = 0.0, [], []
    for t, z in enumerate(Z):
        report((t / len(Z) + (name == "Online-P")) / 2, f"{name}, sample {t} of {len(Z)}")
        began = time.process_time()
        learner.update_many(z[None])
        spent += time.process_time() - began
        seconds.append(spent)
        X = learner.average_iterate() if isinstance(learner, OnlineT) else learner.iterate()
        answers.append(distance(X, truth))
    kept = few(len(Z), 300)
    return {
        "samples": [k + 1 for k in kept],
        "time": plain([seconds[k] for k in kept], 4),
        "answer": [answers[k] for k in kept],
    }
