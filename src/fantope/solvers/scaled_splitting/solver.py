"""The solver of Online-P's subproblem: when to decompose, when to look for an answer, when to change the metric."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from fantope.problem.certificate import SLACK
from fantope.problem.problem import Problem
from fantope.solvers.base import Candidate, Start
from fantope.solvers.iterate import Run, iterate
from fantope.solvers.scaled_splitting.iteration import PlainSplitting, Splitting
from fantope.solvers.scaled_splitting.metric import Metric, Warm
from fantope.solvers.scaled_splitting.recovery import Recovery, rounded
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.typing import Array


@dataclass
class Pace:
    """When the next decomposition and the next look for an answer are due, by the size of the residual."""

    schedule: Schedule
    n_decompositions: int = 0
    inner_left: int = 0  # steps to first order before the next decomposition
    at_decomposition: float = math.inf  # residual at the last one
    enough: float = 0.0  # residual at which an answer is expected
    look_below: float = math.inf

    def decomposes(self, size: float, forced: bool) -> bool:
        """Decide whether the next iteration decomposes."""
        s = self.schedule
        due = forced or self.inner_left == 0 or size <= max(s.inner_fall * self.at_decomposition, self.enough)
        more = s.first_inner + s.more_inner * self.n_decompositions
        self.inner_left = min(more, s.most_inner) if due else self.inner_left - 1
        self.n_decompositions += due
        return due

    def looked(self, size: float, ready: float) -> None:
        """Set the next look after one that found a gap of ``ready`` times what it must be."""
        s = self.schedule
        self.enough = size * min(max(ready, 1e-300) ** -s.loss_power, s.next_trial)
        self.look_below = min(max(s.look_from * self.enough, s.look_part * size), s.next_trial * size)


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
    """

    warm: Warm
    expected: Array
    tolerance: float
    schedule: Schedule = field(default_factory=Schedule)
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
            pace.at_decomposition = run.size
        return 1

    def _advance(self, problem: Problem, state: SplittingState) -> None:
        """Advance in the same metric, or set it anew where X is known better than when it was chosen."""
        run, schedule = state.run, self.schedule
        due = state.n_iter == schedule.review or (
            state.n_iter in schedule.later_reviews and not run.plain and run.off() > schedule.review_off
        )
        if run.plain or not due:
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
        direct = here.loss / ((1.0 - 2.0 * SLACK) * tolerance)
        ready = min(direct, here.off_zeros * state.warm.excess / (self.schedule.good * tolerance))
        found = nothing
        if ready <= 1.0 or last:
            trials = [here.feasible(tolerance, complete) for complete in {direct > 1.0, direct > 1.0 and not last}]
            X, objective = max(((each, problem.objective(each)) for each in trials), key=lambda pair: pair[1])
            hoped = here.claim - objective
            worth = hoped <= (1.0 - SLACK) * tolerance or last
            found = Candidate(X, here.dual if worth else None, problem.size)
            if direct > 1.0:
                state.warm.excess = min(max(hoped / here.off_zeros, 1.0), 10.0)
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
    solver = _started_on_rows(solver, problem)
    run, warm = _solve(solver, problem, max_iter)
    if run.X is None:
        run.offer(problem, rounded(solver.warm.Y, problem.n_components, 0))
    return run, warm


def _solve(solver: ScaledSplitting, problem: Problem, max_iter: int | None) -> tuple[Run, Warm]:
    run = iterate(solver, problem, tol=0.0, absolute=solver.tolerance, max_iter=max_iter)
    return run, solver.warm if run.state is None else solver.leave(run.state)


def _started_on_rows(solver: ScaledSplitting, problem: Problem) -> ScaledSplitting:
    """Return the solver with a better start, from the subproblem on the rows that X uses, if those are few.

    What takes most iterations where X is sparse is which rows it uses and how much; on these rows alone an iteration
    costs a fraction.
    """
    schedule, warm = solver.schedule, solver.warm
    rows = np.flatnonzero(warm.Y.diagonal() > schedule.row_in_use)
    if warm.plain or not problem.n_components < len(rows) <= schedule.most_rows * problem.size:
        return solver
    where = np.ix_(rows, rows)
    part = Problem(np.ascontiguousarray(problem.S[where]), problem.n_components, problem.penalty.restrict(rows))
    start = replace(warm, Y=warm.Y[where], D=warm.D[where], lift=warm.lift[rows])
    _, found = _solve(replace(solver, warm=start, expected=solver.expected[rows]), part, schedule.rows_iter)
    Y, D, lift, expected = warm.Y.copy(), warm.D.copy(), np.zeros_like(warm.lift), solver.expected.copy()
    Y[where], D[where], lift[rows] = found.Y, found.D, found.lift
    expected[rows] = np.maximum(found.Y.diagonal(), 0.0)
    better = replace(warm, Y=Y, D=D, lift=lift, theta=found.theta, norm=found.norm)
    return replace(solver, warm=better, expected=expected)
