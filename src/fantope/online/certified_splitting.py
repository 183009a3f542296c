"""The loop of Online-P's solver: when to decompose, when to look for an answer, when to change the metric."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from fantope.online.recovery import Recovery, rounded
from fantope.online.scaled_splitting import Splitting, Warm
from fantope.online.subproblem import SLACK, Certified, Subproblem
from fantope.typing import Array

FIRST = 3  # steps to first order after the first decomposition, …
RAMP = 2  # … so many more after each further one, …
INNER = 12  # … this many at most, …
FALL = 0.05  # … or until the residual has fallen by this factor
ROUGH = 1e-5  # residual above which a decomposition may be in single precision
REVIEW = 9  # iterations after which X is known well enough to set the metric anew; again, …
REVIEWS = (30, 60, 120, 240)  # … after these, …
OFF = 0.5  # … if the median of |log(Y_ii/expected)| is above this
LEAST = 0.03  # of what was expected: an X_ii that is smaller for the moment counts as this much
GOOD = 0.7  # of the tolerance: a gap that is expected to be below it is worth the trial
POWER = 0.7  # the residual falls about as this power of the loss
LOOK = 5.0  # times the residual hoped for: what is lost is looked at below it, …
AT_LEAST = 0.2  # … or below this part of the residual of the last look
NEXT = 0.9  # of the residual of a trial: the next one is not before it has fallen to this
GIVE_UP = 600  # iterations in a metric of its own, …
REST = 3  # … after which this many subproblems are left to the plain one


def solve_subproblem(
    problem: Subproblem, warm: Warm, expected: Array, tolerance: float, *, max_iter: int = 2000
) -> Certified:
    """Solve to a certified gap of ``tolerance``; ``warm`` is updated in place.

    ``expected`` is a guess of the diagonal of X: it sets the metric. A bad one costs iterations, nothing else. Where
    the metric does not lead to a certificate, the iteration goes on in the plain one.
    """
    begin = replace(warm)
    run = Splitting(problem, warm, None if warm.plain else expected)
    warm.plain = max(warm.plain - 1, 0)
    best: Certified | None = None
    look_at, at_last, enough, left, decompositions, n_iter = math.inf, math.inf, 0.0, 0, 0, 0
    while n_iter < max_iter:
        n_iter += 1
        last = n_iter == max_iter
        if not run.plain and (run.lost or n_iter > GIVE_UP):
            run, warm.plain = Splitting(problem, begin, None), REST
            look_at, at_last, enough, left = math.inf, math.inf, 0.0, 0
        exact = run.plain or left == 0 or run.size <= max(FALL * at_last, enough) or last
        left = min(FIRST + RAMP * decompositions, INNER) if exact else left - 1
        decompositions += exact
        run.evaluate(exact, precise=last or run.size <= max(ROUGH, enough))
        if run.lost:
            continue
        if exact:
            at_last = run.size
        # A gap is never far below the square of the residual, in the metric: no use looking before.
        promising = run.plain or run.rho * run.size**2 <= tolerance
        if exact and ((promising and n_iter > 1 and run.size <= look_at) or last):
            here = Recovery(run)
            direct = here.loss / ((1.0 - 2.0 * SLACK) * tolerance)
            ready = min(direct, here.off_zeros * warm.excess / (GOOD * tolerance))
            if ready <= 1.0 or last:
                found = here.feasible(tolerance, complete=direct > 1.0)
                if last:
                    found = max(found, here.feasible(tolerance, complete=False), key=lambda each: each.objective)
                hoped = here.claim - found.objective
                if hoped <= (1.0 - SLACK) * tolerance or last:
                    found = here.proven(found)
                if best is None or found.gap <= best.gap:
                    best = found
                if direct > 1.0:
                    warm.excess = min(max(hoped / here.off_zeros, 1.0), 10.0)
                if best.met:
                    break
                ready = max(ready, hoped / tolerance)
            enough = run.size * min(max(ready, 1e-300) ** -POWER, NEXT)
            look_at = min(max(LOOK * enough, AT_LEAST * run.size), NEXT * run.size)
        if not run.plain and (n_iter == REVIEW or (n_iter in REVIEWS and run.off() > OFF)):
            run.leave(warm)
            run = Splitting(problem, warm, np.maximum(warm.Y.diagonal(), LEAST * run.expected))
            look_at, left = math.inf, 0
        else:
            run.advance()
    if run.lost:
        vars(warm).update(vars(begin))
    else:
        run.leave(warm)
        warm.step = run.balanced(warm.step)
    if best is None:
        best = Certified.of(problem, *rounded(begin.Y, problem.n_components, 0), tolerance)
    return replace(best, n_iter=n_iter)
