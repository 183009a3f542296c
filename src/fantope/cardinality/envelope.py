"""The upper side: one walk along alpha bounds the best value of every number of variables.

If ‖X‖₁ ≤ c for every X that is allowed then, for each alpha, ⟨S, X⟩ ≤ (⟨S, X⟩ − alpha‖X‖₁) + alpha·c, and what is in
parentheses is at most the certified dual bound at alpha. The minimum over alpha is that of a convex function, of which
each solution gives a value and, by its X, a line below: where the lines meet is the next alpha, and how high they meet
says when to stop.
"""

from __future__ import annotations

import numpy as np

from fantope.path.walk import Walk
from fantope.problem.bounds import UNIT
from fantope.problem.decomposition import largest_alpha
from fantope.solvers import Solution

DOWN = 0.9  # of the smallest alpha so far: the next one while no X exceeds the budget
LEAST = 1e-3  # of the largest alpha: below it zero comes next
BOTH_ENDS = 500  # variables: up to here alpha = 0 is cheap, and its line shows the way from the beginning
MAX_SOLVES = 25  # for one budget


class Envelope:
    """min over alpha of dual_bound(alpha) + alpha·c, for any c.

    The solutions of ``walk`` so far serve; more are added as they are needed. What a further alpha could gain is not
    worth a solve below ``accuracy``, relative.
    """

    def __init__(self, walk: Walk, accuracy: float) -> None:
        self.walk, self.accuracy = walk, accuracy
        self.top = largest_alpha(walk.S, walk.penalty)

    def bound(self, budget: float) -> tuple[float, Solution]:
        """Return the least bound for ‖X‖₁ ≤ ``budget``, rounded upwards, and the solution that it comes from."""
        for end in (self.top, 0.0) if self.walk.S.size <= BOTH_ENDS else (self.top,):
            if not any(solution.alpha == end for solution in self.walk.solutions):
                self.walk.solve(end, ahead=DOWN * end)
        for _ in range(MAX_SOLVES):
            alpha = self._next(budget)
            if alpha is None:
                break
            self.walk.solve(alpha, ahead=min(alpha, DOWN * alpha))
        return min(((penalised(s.dual_bound, s.alpha * budget), s) for s in self.walk.solutions), key=lambda b: b[0])

    def _next(self, budget: float) -> float | None:
        """Return the alpha at which the lines below the function meet; None if it is not worth a solve."""
        alphas = np.array([s.alpha for s in self.walk.solutions])
        norms = np.array([norm(s) for s in self.walk.solutions])
        inner = np.array([s.objective for s in self.walk.solutions]) + alphas * norms
        slopes = budget - norms
        least = float(alphas.min())
        if (slopes >= 0.0).all():
            if least == 0.0:
                return None
            return DOWN * least if DOWN * least > LEAST * self.top else 0.0
        up, down = np.flatnonzero(slopes >= 0.0), np.flatnonzero(slopes < 0.0)
        where = (inner[up][:, None] - inner[down]) / (slopes[down] - slopes[up][:, None])
        height = inner[up][:, None] + where * slopes[up][:, None]
        # The minimum of the maximum of lines is the highest point at which one that ascends meets one that descends.
        at = np.unravel_index(int(np.argmax(height)), height.shape)
        alpha = max(float(where[at]), 0.0)
        best = min(s.dual_bound + s.alpha * budget for s in self.walk.solutions)
        close = float(np.abs(alphas - alpha).min()) <= 1e-7 * self.top
        return None if close or best - float(height[at]) <= self.accuracy * abs(best) else alpha


def penalised(dual_bound: float, cost: float) -> float:
    """Return dual_bound + cost, rounded upwards; ``cost`` is a product or sum of few numbers."""
    return float(np.nextafter(dual_bound + cost + 8 * UNIT * abs(cost), np.inf))


def norm(solution: Solution) -> float:
    """Return ‖X‖₁."""
    return float(np.abs(solution.projection.data).sum())
