"""The solver of Online-P's subproblem: when to decompose, when to look for an answer, when to change the metric."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from fantope.problem.certificate import SLACK
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors
from fantope.solvers.base import Candidate, Start
from fantope.solvers.iterate import Run, iterate
from fantope.solvers.result import Status
from fantope.solvers.scaled_splitting.iteration import PlainSplitting, Splitting
from fantope.solvers.scaled_splitting.metric import Metric, Warm, norms_of
from fantope.solvers.scaled_splitting.pace import Pace
from fantope.solvers.scaled_splitting.recovery import Recovery, rounded
from fantope.solvers.scaled_splitting.rows import BoundForRows, put_back, restricted, rows_in_use, taken
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.typing import Array


@dataclass
class SplittingState:
    """Where a run is: the iteration, its pace, and what it will leave."""

    run: Splitting
    warm: Warm
    pace: Pace
    n_iter: int = 0
    decomposed: bool = False
    last: bool = False  # the iteration after which the run ends, whatever it has found


@dataclass(frozen=True)
class ScaledSplitting:
    """Splitting in a metric that follows X's rows.

    Parameters
    ----------
    warm : Warm
        Where to start.
    expected : (p,) array
        A guess of the diagonal of X: it sets the metric. A bad one costs iterations, nothing else. Where the metric
        does not lead to a certificate, the iteration goes on in the plain one.
    tolerance : float
        Absolute gap at which an answer is good enough to be offered.
    schedule : Schedule
    change : (p, p) array, optional
        By what S has changed since ``warm``, as far as that is known.
    """

    warm: Warm
    expected: Array
    tolerance: float
    schedule: Schedule = field(default_factory=Schedule)
    change: Array | None = None
    name: str = "scaled-splitting"
    max_iter: int = 5000
    check_every: int = 1

    def init(self, problem: Problem, start: Start | None, tol: float) -> SplittingState:
        """Return the state before the first iteration."""
        warm = replace(self.warm, plain=max(self.warm.plain - 1, 0))
        run = self._plain(problem, warm) if self.warm.plain else self._scaled(problem, warm, self.expected)
        return SplittingState(run, warm, Pace(self.schedule))

    def _plain(self, problem: Problem, warm: Warm) -> PlainSplitting:
        return PlainSplitting(problem, warm, Metric.plain(problem, self.schedule), self.schedule)

    def _scaled(self, problem: Problem, warm: Warm, expected: Array) -> Splitting:
        return Splitting(problem, warm, Metric.following(problem, warm, expected, self.schedule), self.schedule)

    def step(self, problem: Problem, state: SplittingState, budget: int) -> int:
        """Go on to the next iterate and evaluate it."""
        if state.n_iter > 0 and not state.run.lost:
            self._advance(problem, state)
        state.n_iter += 1
        state.last = budget == 1
        if not state.run.plain and (state.run.lost or state.n_iter > self.schedule.give_up):
            state.run, state.warm.plain = self._plain(problem, self.warm), self.schedule.rest
            state.pace = Pace(self.schedule, state.pace.n_decompositions)
        run, pace = state.run, state.pace
        state.decomposed = pace.decomposes(run.size, run.plain or state.last)
        run.evaluate(state.decomposed, state.last or run.size <= max(self.schedule.rough_above, pace.enough))
        if state.decomposed and not run.lost:
            pace.decomposed(run.size)
        return 1

    def _advance(self, problem: Problem, state: SplittingState) -> None:
        """Advance in the same metric, or set it anew where X is known better than when it was chosen."""
        run, schedule = state.run, self.schedule
        least_off = dict(schedule.reviews).get(state.n_iter, math.inf)
        if run.plain or math.isinf(least_off) or run.off() <= least_off:
            run.advance()
            return
        run.leave(state.warm)
        expected = np.maximum(state.warm.Y.diagonal(), schedule.least_expected * run.metric.expected)
        state.run = self._scaled(problem, state.warm, expected)
        state.pace.look_below, state.pace.inner_left = math.inf, 0

    def candidate(self, problem: Problem, state: SplittingState) -> Candidate:
        """Return an answer where one is expected, with a dual point where that is expected to prove it good enough."""
        run, pace, tolerance, last = state.run, state.pace, self.tolerance, state.last
        nothing = Candidate(None, None, problem.size)
        if run.lost and run.plain:
            raise FloatingPointError("the iterates are not finite")
        # A gap is never far below the square of the residual, in the metric: no use looking before.
        promising = run.plain or run.metric.rho * run.size**2 <= tolerance
        due = last or (promising and state.n_iter > 1 and run.size <= pace.look_below)
        if run.lost or not (state.decomposed and due):
            return nothing
        here = Recovery(run)
        on_zeros = here.loss - here.off_zeros
        direct = here.loss / ((1.0 - 2.0 * SLACK) * tolerance)
        completed = (here.off_zeros + state.warm.left * on_zeros) / (self.schedule.good * tolerance)
        ready, found = min(direct, completed), nothing
        if ready <= 1.0 or last:
            trials = [here.feasible(tolerance, complete) for complete in {direct > 1.0, direct > 1.0 and not last}]
            X, objective = max(((each, problem.objective(each)) for each in trials), key=lambda pair: pair[1])
            hoped = here.claim - objective
            worth = hoped <= (1.0 - SLACK) * tolerance or last
            found = Candidate(X, here.dual if worth else None, problem.size)
            if direct <= 1.0:  # the guess may be too large for a trial ever to show it
                state.warm.left = max(self.schedule.forget_left * state.warm.left, self.schedule.least_left)
            elif on_zeros > 0.0:
                state.warm.left = min(max((hoped - here.off_zeros) / on_zeros, self.schedule.least_left), 1.0)
            ready = max(ready, hoped / tolerance)
        pace.looked(run.size, ready)
        return found

    def leave(self, state: SplittingState) -> Warm:
        """Return what the next subproblem starts from."""
        if state.run.lost:
            return self.warm
        state.run.leave(state.warm)
        state.warm.step = state.run.balanced(state.warm.step)
        return state.warm


def solve_warm(solver: ScaledSplitting, problem: Problem, max_iter: int | None = None) -> tuple[Run, Warm]:
    """Solve to the solver's tolerance; return the run, which has an X in any case, and where the next one may start."""
    first, solver = _solve_on_rows(solver, problem, max_iter)
    if first.status is Status.SOLVED:
        return first, solver.warm
    known = None if first.dual is None else Candidate(first.X, first.dual, problem.size)
    run, warm = _solve(solver, problem, max_iter, known)
    run.n_iter += first.n_iter
    if run.X is None:
        run.offer(problem, rounded(solver.warm.Y, problem.n_components, 0))
    return run, warm


def _solve(
    solver: ScaledSplitting, problem: Problem, max_iter: int | None, known: Candidate | None = None
) -> tuple[Run, Warm]:
    run = iterate(solver, problem, tol=0.0, absolute=solver.tolerance, max_iter=max_iter, known=known)
    return run, solver.warm if run.state is None else solver.leave(run.state)


def _solve_on_rows(solver: ScaledSplitting, problem: Problem, max_iter: int | None) -> tuple[Run, ScaledSplitting]:
    """Solve on the rows that X uses, while those are few, and prove it; return the solver with a better start."""
    schedule, tolerance, norms = solver.schedule, solver.tolerance, norms_of(problem)
    rows, best = rows_in_use(solver.warm.D, norms, schedule.rows_loss * tolerance), Run()
    if solver.change is not None:  # not before: the rows are the last X's, a D that has gone along would have most
        solver = replace(solver, warm=solver.warm.after(solver.change, norms.alpha), change=None)
    for _ in range(schedule.rows_rounds):
        if solver.warm.plain or not problem.n_components < len(rows) <= schedule.most_rows * problem.size:
            break
        inside = replace(
            solver,
            warm=taken(solver.warm, rows),
            expected=solver.expected[rows],
            tolerance=schedule.rows_share * tolerance,
        )
        part, found = _solve(inside, restricted(problem, rows), schedule.rows_iter)
        if part.X is None:
            break
        warm, expected = put_back(solver.warm, found, rows), solver.expected.copy()
        expected[rows] = np.maximum(found.Y.diagonal(), 0.0)
        vectors = np.zeros((len(part.X.weights), problem.size))
        vectors[:, rows[part.X.rows]] = part.X.vectors
        X = Factors(np.arange(problem.size), vectors, part.X.weights)
        bound = BoundForRows(warm, X, part.objective, tolerance, schedule)
        run = iterate(bound, problem, tol=0.0, absolute=tolerance, max_iter=max_iter and min(max_iter, bound.max_iter))
        outside = warm if run.state is None else bound.leave(problem, run.state)
        needed = rows_in_use(outside.D, norms, schedule.rows_loss * tolerance)
        warm = replace(put_back(outside, found, rows), left=found.left, step=found.step)
        solver = replace(solver, warm=warm, expected=expected)
        run.n_iter += best.n_iter
        best = run
        if run.status is Status.SOLVED or len(np.setdiff1d(needed, rows)) == 0:
            break
        rows = np.union1d(rows, needed)
    return best, solver
