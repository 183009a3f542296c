"""Figure 4: error of Online-T and Online-P against samples and against time."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from fantope.online import OnlineP, OnlineT
from fantope.paper.base import Report
from fantope.paper.experiments.common import distance, few, penalty, plain
from fantope.simulation import simulate
from fantope.typing import Array


@dataclass(frozen=True)
class Online:
    """One repetition of figure 4: T₁ samples for Online-T, T₂ for Online-P."""

    p: int = 200
    T1: int = 1000
    T2: int = 200
    seed: int = 0
    loosen: float = 1.0

    @property
    def label(self) -> str:
        """Name of the run."""
        return f"p{self.p}-seed{self.seed}"


def run(config: Online, report: Report) -> dict[str, Any]:
    """Feed the same stream to both, sample by sample; λ = 0.5√(log p / T₂), only updates are timed."""
    p = config.p
    alpha = penalty(config.T2, p)
    warm = simulate(3, p, random_state=config.seed).Z
    OnlineT(p, 2, alpha).update_many(warm)
    OnlineP(p, 2, alpha, loosen=1e6).update_many(warm)
    sim = simulate(config.T1, p, random_state=config.seed)
    result: dict[str, Any] = {"alpha": alpha, "curves": {}}
    result["curves"]["Online-T"] = _follow("Online-T", OnlineT(p, 2, alpha), sim.Z, sim.projection, report)
    learner = OnlineP(p, 2, alpha, loosen=config.loosen)
    result["curves"]["Online-P"] = _follow("Online-P", learner, sim.Z[: config.T2], sim.projection, report)
    result["unmet"] = learner.n_unmet
    return result


def _follow(name: str, learner: OnlineT | OnlineP, Z: Array, truth: Array, report: Report) -> dict[str, Any]:
    """Return time, error of X_t, and error of the answer (for Online-T the running mean, for Online-P X_t itself)."""
    spent, seconds, errors, answers = 0.0, [], [], []
    for t, z in enumerate(Z):
        report((t / len(Z) + (name == "Online-P")) / 2, f"{name}, sample {t} of {len(Z)}")
        began = time.perf_counter()
        learner.update_many(z[None])
        spent += time.perf_counter() - began
        seconds.append(spent)
        errors.append(distance(learner.iterate(), truth))
        answers.append(distance(learner.average_iterate(), truth) if isinstance(learner, OnlineT) else errors[-1])
    kept = few(len(Z), 300)
    return {
        "samples": [k + 1 for k in kept],
        "time": plain([seconds[k] for k in kept], 4),
        "iterate": plain([errors[k] for k in kept]),
        "answer": plain([answers[k] for k in kept]),
    }
