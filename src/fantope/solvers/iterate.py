"""The only loop: it runs every solver, and is the only place that decides when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fantope.eigen import one_blas_thread
from fantope.interrupts import noticed_interrupts
from fantope.problem.certificate import certify, feasible_objective, relative_gap, width_about_zero
from fantope.problem.dual import ReducedDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors, pinch
from fantope.solvers.base import Candidate, Solver, Start
from fantope.solvers.result import Record, Status

MARGIN = 0.98  # of the tolerance: `verify` computes the bound along another route, and must find it met as well
PATIENCE = 60  # checks without progress of the gap (a factor 0.99) before a run counts as stalled
ENOUGH = 500  # iterations: where they have not reached the gap, an optimum about zero is measured by S and alpha
# A run counts as stalled too when three times the iterations have not brought the width of the bracket to four fifths:
# even where the gap falls like 1/k, they bring it to a third. The first iterations are not judged.
LONG, TIMES, PROGRESS = 3000, 3, 0.8


@dataclass
class Run:
    """The best certified bracket so far, and how it was reached."""

    X: Factors | None = None
    dual: ReducedDual | None = None
    objective: float = -np.inf
    dual_bound: float = np.inf
    status: Status = Status.MAX_ITER
    n_iter: int = 0
    state: Any = None
    history: list[Record] = field(default_factory=list)

    @property
    def gap(self) -> float:
        """Relative duality gap of the best bracket."""
        return relative_gap(self.objective, self.dual_bound)

    def update(self, problem: Problem, candidate: Candidate, tol: float, absolute: float = 0.0) -> bool:
        """Certify a candidate and keep whichever of its two sides is better; False if it is not finite."""
        assert candidate.X is not None and candidate.dual is not None
        X = pinch(candidate.X, problem.labels)
        try:
            found = certify(problem, X, candidate.dual, tol, absolute, candidate.leading)
        except KeyboardInterrupt:  # the bound is what takes long: X need not be lost with it
            self.offer(problem, X)
            raise
        if not (np.isfinite(found.objective) and np.isfinite(found.dual_bound)):
            return False
        if found.objective > self.objective:
            self.X, self.objective = X, found.objective
        if found.dual_bound < self.dual_bound:
            self._keep(candidate.dual, found.dual_bound)
        return True

    def offer(self, problem: Problem, X: Factors) -> None:
        """Keep X if it is feasible and better; what it costs is small beside a certificate."""
        try:
            objective = feasible_objective(problem, X)
        except FloatingPointError:
            return
        if self.objective < objective < np.inf:
            self.X, self.objective = X, objective

    def adopt(self, problem: Problem, other: Run) -> None:
        """Take over whichever side of another run's bracket is better, and count its iterations."""
        self.n_iter += other.n_iter
        if other.X is not None:
            self.offer(problem, pinch(other.X, problem.labels))
        if other.dual_bound < self.dual_bound:
            self.dual, self.dual_bound = other.dual, other.dual_bound

    def _keep(self, dual: ReducedDual, bound: float) -> None:
        """Keep a dual point, in the memory of the last one: half written it would prove nothing."""
        previous, self.dual, self.dual_bound = self.dual, None, np.inf
        try:
            self.dual = dual.kept(previous)
        except KeyboardInterrupt:
            self.dual, self.dual_bound = dual.kept(previous), bound
            raise
        self.dual_bound = bound

    def solved(self, problem: Problem, tol: float, absolute: float) -> bool:
        """Whether the bracket is within ``tol``, relative, or within ``absolute``, or narrow for an optimum about zero.

        For the last it must at first be as narrow as double precision can tell from zero, and after ENOUGH iterations
        within ``tol``.
        """
        width = self.dual_bound - self.objective
        if self.gap <= MARGIN * tol or width <= absolute:
            return True
        assert self.X is not None
        terms = problem.size_of_terms(self.X)
        if self.n_iter < ENOUGH:
            return width <= 0.1 * width_about_zero(0.0, terms)
        return width <= MARGIN * width_about_zero(tol, terms)


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C during a run; ``run`` holds the best that was certified before."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run

    def __reduce__(self) -> tuple[type[KeyboardInterrupt], tuple[()]]:
        return KeyboardInterrupt, ()  # between processes


def iterate(
    solver: Solver,
    problem: Problem,
    *,
    tol: float,
    absolute: float = 0.0,
    max_iter: int | None = None,
    start: Start | None = None,
    known: Candidate | None = None,
    callback: Callable[[Record], object] | None = None,
) -> Run:
    """Run ``solver`` until the certified gap is at most ``tol``, relative, or at most ``absolute``.

    A non-finite iterate or a stall ends the run with the best certified answer so far, which is never worse than
    ``known``, a pair of points that an earlier run has left. Raises RunInterrupted on Ctrl-C, at once: no certificate
    is computed any more.
    """
    began = time.perf_counter()
    run = Run()
    limit = solver.max_iter if max_iter is None else max_iter
    best, since, steps = np.inf, 0, 0
    width, reached = np.inf, 0  # of the bracket when it last made progress, and in which iteration

    def check(candidate: Candidate) -> bool:
        """Certify, record; True when the run is over."""
        nonlocal best, since, width, reached
        if candidate.X is None or candidate.dual is None:
            if candidate.X is not None:  # a bound would not be worth its time
                run.offer(problem, pinch(candidate.X, problem.labels))
            return False
        if not run.update(problem, candidate, tol, absolute):
            run.status = Status.NON_FINITE
            return True
        record = Record(
            run.n_iter, time.perf_counter() - began, run.objective, run.dual_bound, run.gap, candidate.n_active
        )
        run.history.append(record)
        if callback is not None:
            callback(record)
        if run.solved(problem, tol, absolute):
            run.status = Status.SOLVED
            return True
        since = 0 if run.gap < 0.99 * best else since + 1
        best = min(best, run.gap)
        if run.dual_bound - run.objective <= PROGRESS * width:
            width, reached = run.dual_bound - run.objective, run.n_iter
        # A solver that says by itself when it is exhausted has runs of this loop inside, which are judged.
        long = run.n_iter > max(LONG, TIMES * reached) and not hasattr(run.state, "exhausted")
        if since >= PATIENCE or long:
            run.status = Status.STALLED
            return True
        return False

    try:
        with one_blas_thread(), noticed_interrupts() as came:
            if known is not None and check(known):
                return run
            run.state = solver.init(problem, start, tol)
            if start is not None and check(solver.candidate(problem, run.state)):
                return run
            while run.n_iter < limit:
                if came.is_set():  # and the exception was swallowed on the way here
                    raise KeyboardInterrupt
                # Numbers that overflow are reported once, by status, not once per operation.
                with np.errstate(over="ignore", invalid="ignore"):
                    run.n_iter += solver.step(problem, run.state, limit - run.n_iter)
                steps += 1
                due = steps % solver.check_every == 0 or run.n_iter >= limit
                if due and check(solver.candidate(problem, run.state)):
                    break
                if getattr(run.state, "exhausted", False):
                    run.status = Status.FULL if getattr(run.state, "full", False) else Status.STALLED
                    break
    except KeyboardInterrupt as stop:
        if isinstance(stop, RunInterrupted):  # of a run inside this one: the solver has lifted it to this problem
            run.adopt(problem, stop.run)
        run.status = Status.INTERRUPTED
        raise RunInterrupted(run) from None
    except (np.linalg.LinAlgError, FloatingPointError):
        run.status = Status.NON_FINITE
    return run
