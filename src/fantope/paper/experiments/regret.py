"""Figure 3: cumulative regret of Online-P and of following the leader against the true projection."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numba
from threadpoolctl import threadpool_limits

from fantope.online import FollowTheLeader, OnlineP, RegretTracker, Stream
from fantope.paper.base import Config, Report
from fantope.paper.experiments.common import penalty, plain
from fantope.simulation import simulate

METHODS = ("FTL", "Online-P")
SIDE_BY_SIDE_FROM = 200  # variables; below it starting processes takes longer than they save

_shared: list[Any] = []  # in a process of its own: the counters and the signal to end


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
    steps = len(METHODS) * (config.T + 1)

    def notify(done: Sequence[int]) -> None:
        counted = zip(METHODS, done, strict=True)
        report(sum(done) / steps, ", ".join(f"{name} {n} of {config.T + 1}" for name, n in counted))

    if config.p < SIDE_BY_SIDE_FROM:
        counts = [0] * len(METHODS)
        results = [_follow(config, k, counts, lambda: notify(counts)) for k in range(len(METHODS))]
    else:
        results = _side_by_side(config, notify)
    measured = zip(("regret", "seconds", "unmet"), zip(*results, strict=True), strict=True)
    return {key: dict(zip(METHODS, values, strict=True)) for key, values in measured}


def _follow(
    config: Regret, k: int, counts: Any, notify: Callable[[], None], ended: Callable[[], bool] = lambda: False
) -> tuple[list[float], float, int]:
    """Return the regret after each judged sample of the k-th method, the seconds it took and unmet tolerances."""
    p, T = config.p, config.T
    alpha = penalty(T, p)
    sim = simulate(T + 1, p, random_state=config.seed)
    learner = OnlineP(p, 2, alpha, loosen=config.loosen) if METHODS[k] == "Online-P" else FollowTheLeader(p, 2, alpha)
    tracker = RegretTracker(2, alpha, 1.0, 1, sim.projection)
    stream = Stream(learner, False, 1.0, tracker)
    curve, began = [], time.perf_counter()
    for z in sim.Z:
        if ended():
            break
        stream.update_many(z[None])
        curve.append(tracker.regret())
        counts[k] += 1
        notify()
    # Before the second sample nothing has been judged.
    return plain(curve[1:]), plain(time.perf_counter() - began, 4), learner.n_unmet


def _side_by_side(config: Regret, notify: Callable[[Sequence[int]], None]) -> list[tuple[list[float], float, int]]:
    """Run the methods at once, each on its share of the cores: threads would wait for each other in LAPACK."""
    context = multiprocessing.get_context("spawn")
    counts, ended = context.Array("i", len(METHODS)), context.Event()
    with ProcessPoolExecutor(len(METHODS), context, _receive, (counts, ended)) as pool:
        running = [pool.submit(_in_process, config, k) for k in range(len(METHODS))]
        try:
            while (now := wait(running, timeout=0.5, return_when=FIRST_EXCEPTION)).not_done:
                notify(counts[:])
                if any(each.exception() for each in now.done):
                    break
        finally:
            ended.set()  # after an interrupt, or the failure of one, the other ends with its next sample
        return [each.result() for each in running]


def _receive(counts: Any, ended: Any) -> None:
    """Keep, in a new process, what it shares with the one that started it; leave the other a core."""
    _shared.extend((counts, ended))
    numba.set_num_threads(max(numba.get_num_threads() // len(METHODS), 1))


def _in_process(config: Regret, k: int) -> tuple[list[float], float, int]:
    counts, ended = _shared
    parent = multiprocessing.parent_process()
    with threadpool_limits(1, "blas"):
        return _follow(
            config, k, counts, lambda: None, lambda: ended.is_set() or parent is None or not parent.is_alive()
        )
