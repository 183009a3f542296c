"""The subproblem on the rows that X uses, and a bound for all of them.

Where X uses few of its rows, X is best found on these alone, where an iteration costs a fraction. What proves it good
enough is a dual point on all rows, and that alone: in a metric with half the power of X_ii it comes in about twenty
iterations (p = 400, λ = √(log p/T)), long before this metric would give X. Rows that the dual point says X needs are
added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fantope.penalties.squared_lr import L1SquaredLr
from fantope.problem.certificate import SLACK
from fantope.problem.dual import PenalisedDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors
from fantope.solvers.base import Candidate, Start
from fantope.solvers.scaled_splitting.iteration import Splitting
from fantope.solvers.scaled_splitting.metric import Metric, Warm
from fantope.solvers.scaled_splitting.pace import Pace
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.typing import Array, IntArray


def rows_in_use(D: Array, penalty: L1SquaredLr, allowed: float) -> IntArray:
    """Return the rows without which X, by its dual point D, loses no more than ``allowed``.

    X is the slope of Ω* at D; an entry adds w·x to ⟨W, X⟩, of which the objective has a part.
    """
    worth = penalty.dual_shares(D)
    order = np.argsort(worth)
    kept: IntArray = np.sort(order[np.cumsum(worth[order]) > allowed])
    return kept


def restricted(problem: Problem, rows: IntArray) -> Problem:
    """Return the subproblem on these rows."""
    S = np.ascontiguousarray(problem.S[np.ix_(rows, rows)])
    return Problem(S, problem.n_components, problem.penalty.restrict(rows))


def taken(warm: Warm, rows: IntArray) -> Warm:
    """Return what the subproblem on these rows starts from."""
    where = np.ix_(rows, rows)
    return replace(warm, Y=warm.Y[where], D=warm.D[where], lift=warm.lift[rows])


def put_back(warm: Warm, found: Warm, rows: IntArray) -> Warm:
    """Return ``warm`` with what was found on these rows."""
    where, lift = np.ix_(rows, rows), np.zeros_like(warm.lift)
    Y, D = warm.Y.copy(), warm.D.copy()
    Y[where], D[where], lift[rows] = found.Y, found.D, found.lift
    return replace(warm, Y=Y, D=D, lift=lift, theta=found.theta, norm=found.norm)


@dataclass
class BoundState:
    """Where the search for a dual point is."""

    run: Splitting
    pace: Pace
    n_iter: int = 0
    decomposed: bool = False
    last: bool = False
    above: float = math.inf  # by how much the last dual point's claim exceeded the objective
    dual: PenalisedDual | None = None
    exhausted: bool = False  # the claim hardly falls any more: X needs other rows


@dataclass(frozen=True)
class BoundForRows:
    """Search for a dual point that proves a given X good enough.

    Parameters
    ----------
    warm : Warm
        Where to start.
    X : Factors
    objective : float
        Of X.
    tolerance : float
        Absolute gap that is good enough.
    schedule : Schedule
    """

    warm: Warm
    X: Factors
    objective: float
    tolerance: float
    schedule: Schedule
    name: str = "bound-for-rows"
    check_every: int = 1

    @property
    def max_iter(self) -> int:
        """Iterations after which it is given up."""
        return self.schedule.bound_iter

    def init(self, problem: Problem, start: Start | None, tol: float) -> BoundState:
        """Return the state before the first iteration."""
        metric = Metric.for_bound(problem, self.warm.Y.diagonal(), self.schedule)
        return BoundState(Splitting(problem, self.warm, metric, self.schedule), Pace(self.schedule))

    def step(self, problem: Problem, state: BoundState, budget: int) -> int:
        """Go on to the next iterate and evaluate it."""
        run, pace = state.run, state.pace
        if state.n_iter > 0:
            run.advance()
        state.n_iter += 1
        state.last = budget == 1
        state.decomposed = pace.decomposes(run.size, state.last)
        run.evaluate(state.decomposed, pace.n_decompositions > self.schedule.bound_rough or state.last)
        if run.lost:
            raise FloatingPointError("the iterates are not coming back")
        if state.decomposed:
            pace.decomposed(run.size)
        return 1

    def candidate(self, problem: Problem, state: BoundState) -> Candidate:
        """Return X with the dual point, where that is expected to prove X good enough."""
        nothing = Candidate(None, None, problem.size)
        if not state.decomposed or state.pace.n_decompositions <= self.schedule.bound_rough:
            return nothing
        run = state.run
        M = run.dual_point()
        value = run.norms.dual_value_of(problem.S, M)
        state.dual = PenalisedDual(M, value, (run.level, run.lift))
        above = problem.n_components * run.level + float((run.lift**2).sum()) + value - self.objective
        met = above <= (1.0 - SLACK) * self.tolerance
        state.exhausted = not met and above > self.schedule.bound_fall * state.above
        state.above = above
        return Candidate(self.X, state.dual, problem.size) if met or state.last else nothing

    def leave(self, problem: Problem, state: BoundState) -> Warm:
        """Return where a subproblem may start: the dual point, and the Y that belongs to it."""
        if state.dual is None or state.above > self.schedule.bound_far * self.tolerance:
            return self.warm
        D = problem.S - state.dual.M
        Y = state.run.norms.dual_slope(D)
        return replace(self.warm, Y=Y, D=D, theta=state.run.level, lift=state.run.lift)
