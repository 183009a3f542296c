"""Beyond the paper: the certified gap of every solver against time, and other libraries on the same data."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from fantope.paper.base import Config, Report
from fantope.paper.experiments.abess_probe import probe_abess
from fantope.paper.experiments.common import draw, few, warm_up
from fantope.paper.experiments.recovery import compare
from fantope.solvers import Record
from fantope.solvers.solve import SOLVERS, Interrupted, solve_to_the_end


@dataclass(frozen=True)
class Beyond(Config):
    """One run: part "gap" (solvers against each other), "recovery" (against other libraries) or "abess"."""

    pattern = "{part}-n{n}-p{p}-s{signal[0]:g}-seed{seed}"
    part: str
    n: int
    p: int
    signal: tuple[float, float] = (12.0, 6.0)  # eigenvalues of the two sparse components; the noise reaches up to 2
    seed: int = 0
    seconds: float = 20.0  # how long a solver may take, for part "gap"
    tol: float = 1e-6  # relative gap that ends a solver earlier


def run(config: Beyond, report: Report) -> dict[str, Any]:
    """Do one part."""
    warm_up(config.p)
    if config.part == "gap":
        return _gaps(config, report)
    if config.part == "recovery":
        return compare(config.n, config.p, config.signal, config.seed, report)
    return probe_abess(config.n, config.p, config.seed)


def _gaps(config: Beyond, report: Report) -> dict[str, Any]:
    """Follow the certified gap of each solver; the certificates' own time is part of it."""
    given = draw(config.n, config.p, config.seed)
    curves = {}
    for k, solver in enumerate(SOLVERS):
        report(k / len(SOLVERS), solver)
        late, began = False, time.process_time()
        seen: list[tuple[float, float]] = []

        def stop_late(record: Record, seen: list[tuple[float, float]] = seen, began: float = began) -> None:
            # An interrupt is how a run is ended from outside: the solver answers with the best so far.
            nonlocal late
            seen.append((time.process_time() - began, record.gap))
            late = seen[-1][0] > config.seconds and record.gap > config.tol
            if late:
                raise KeyboardInterrupt

        try:
            solution = solve_to_the_end(
                given.S, given.d, given.alpha, solver=solver, tol=config.tol, max_iter=10**6, callback=stop_late
            )
        except Interrupted as stop:
            if not late:
                raise  # by the user, not by the clock
            solution = stop.solution()
        shown = [seen[j] for j in few(len(seen), 150)]
        curves[solver] = {
            "time": [spent for spent, _ in shown],
            "gap": [gap for _, gap in shown],
            "status": solution.status.name,
            "iterations": solution.n_iter,
            "verified": solution.verify(given.S).gap,
        }
    return {"curves": curves}
