"""The solver of Online-P's subproblem: when to decompose, when to look for an answer, when to change the metric."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np

from fantope.solvers.scaled_splitting.iteration import PlainSplitting, Splitting
from fantope.solvers.scaled_splitting.metric import Metric, Warm
from fantope.solvers.scaled_splitting.recovery import Recovery, rounded
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.solvers.scaled_splitting.subproblem import Certified, Subproblem
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
    begin: Warm
    tolerance: float
    pace: Pace
    n_iter: int = 0
    decomposed: bool = False
    last: bool = False  # the iteration after which the run ends, whatever it has found


@dataclass(frozen=True)
class ScaledSplitting:
    """Splitting in a metric that follows X's rows, to a certified gap.

    Parameters
    ----------
    schedule : Schedule
    """

    schedule: Schedule = field(default_factory=Schedule)

    def init(self, problem: Subproblem, warm: Warm, expected: Array, tolerance: float) -> SplittingState:
        """Return the state before the first iteration; ``warm`` is updated in place."""
        begin, schedule = replace(warm), self.schedule
        run = self._plain(problem, warm) if warm.plain else self._scaled(problem, warm, expected)
        warm.plain = max(warm.plain - 1, 0)
        return SplittingState(run, warm, begin, tolerance, Pace(schedule))

    def _plain(self, problem: Subproblem, warm: Warm) -> PlainSplitting:
        return PlainSplitting(problem, warm, Metric.plain(problem, self.schedule), self.schedule)

    def _scaled(self, problem: Subproblem, warm: Warm, expected: Array) -> Splitting:
        return Splitting(problem, warm, Metric.following(problem, warm, expected, self.schedule), self.schedule)

    def step(self, problem: Subproblem, state: SplittingState, budget: int) -> int:
        """Go on to the next iterate and evaluate it."""
        if state.n_iter > 0 and not state.run.lost:
            self._advance(problem, state)
        state.n_iter += 1
        state.last = budget == 1
        if not state.run.plain and (state.run.lost or state.n_iter > self.schedule.give_up):
            state.run, state.warm.plain = self._plain(problem, state.begin), self.schedule.rest
            state.pace = Pace(self.schedule, state.pace.n_decompositions)
        run, pace = state.run, state.pace
        state.decomposed = pace.decomposes(run.size, run.plain or state.last)
        run.evaluate(state.decomposed, state.last or run.size <= max(self.schedule.rough_above, pace.enough))
        if state.decomposed and not run.lost:
            pace.at_decomposition = run.size
        return 1

    def _advance(self, problem: Subproblem, state: SplittingState) -> None:
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

    def candidate(self, problem: Subproblem, state: SplittingState) -> Certified | None:
        """Return an answer where one is expected: with a bound if that is expected to meet the tolerance."""
        run, pace, tolerance, last = state.run, state.pace, state.tolerance, state.last
        if not state.decomposed or run.lost:
            return None
        # A gap is never far below the square of the residual, in the metric: no use looking before.
        promising = run.plain or run.metric.rho * run.size**2 <= tolerance
        if not (last or (promising and state.n_iter > 1 and run.size <= pace.look_below)):
            return None
        here, slack = Recovery(run), self.schedule.slack
        direct = here.loss / ((1.0 - 2.0 * slack) * tolerance)
        ready = min(direct, here.off_zeros * state.warm.excess / (self.schedule.good * tolerance))
        found = None
        if ready <= 1.0 or last:
            found = here.feasible(tolerance, complete=direct > 1.0)
            if last:
                found = max(found, here.feasible(tolerance, complete=False), key=lambda each: each.objective)
            hoped = here.claim - found.objective
            if hoped <= (1.0 - slack) * tolerance or last:
                found = here.proven(found)
            if direct > 1.0:
                state.warm.excess = min(max(hoped / here.off_zeros, 1.0), 10.0)
            ready = max(ready, hoped / tolerance)
        pace.looked(run.size, ready)
        return found

    def leave(self, state: SplittingState) -> None:
        """Write what the next subproblem starts from into the ``warm`` of :meth:`init`."""
        if state.run.lost:
            vars(state.warm).update(vars(state.begin))
        else:
            state.run.leave(state.warm)
            state.warm.step = state.run.balanced(state.warm.step)

    def solve(
        self, problem: Subproblem, warm: Warm, expected: Array, tolerance: float, *, max_iter: int = 2000
    ) -> Certified:
        """Solve to a certified gap of ``tolerance``; ``warm`` is updated in place.

        ``expected`` is a guess of the diagonal of X: it sets the metric. A bad one costs iterations, nothing else.
        Where the metric does not lead to a certificate, the iteration goes on in the plain one.
        """
        state = self.init(problem, warm, expected, tolerance)
        best: Certified | None = None
        while state.n_iter < max_iter and not (state.run.plain and state.run.lost):
            self.step(problem, state, max_iter - state.n_iter)
            found = self.candidate(problem, state)
            if found is not None and (best is None or found.gap <= best.gap):
                best = found
                if best.met:
                    break
        self.leave(state)
        if best is None:
            best = Certified.of(problem, *rounded(state.begin.Y, problem.n_components, 0), tolerance)
        return replace(best, n_iter=state.n_iter)
