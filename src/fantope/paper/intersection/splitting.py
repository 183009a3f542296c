"""The proximal-proximal-gradient method: one prox for the objective and one for each set, nothing joint.

    x ← P_𝒳(mean of the Z_i),   Z_i ← Z_i − x + prox_{αF_i}(2x − Z_i),   F₀ = f, F_i = μ w_i r_i.

Algorithm 1 of the paper is this with the penalties of the Fantope taken together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fantope.paper.intersection.problem import Intersection, LevelSet
from fantope.typing import Array

EVERY, ADAPT_UP_TO = 10, 2000  # α changes every so often, and in the end no more, so that the method converges


@dataclass(frozen=True)
class Minimum:
    """Where a method ended.

    Attributes
    ----------
    x : array
        In the ball.
    objective : float
        f(x).
    penalty : float
        Σ w_i r_i(x): x is at most this far from K.
    value : float
        ℒ(x; μ), an upper bound of the optimum of f over K where μ is large enough and x optimal for it.
    change : float
        Relative change of the state in the last iteration.
    n_iter : int
    converged : bool
        Whether the change fell to the tolerance.
    """

    x: Array
    objective: float
    penalty: float
    value: float
    change: float
    n_iter: int
    converged: bool


def splitting(
    problem: Intersection,
    start: Array,
    *,
    mu: float | None = None,
    step_size: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 20_000,
) -> Minimum:
    """Minimise ℒ(·; μ) over the ball.

    Parameters
    ----------
    problem : Intersection
        Every level set needs its ``prox_positive_part``.
    start : array
    mu : float, optional
        Default: L + 1, which Theorem 1(b) asks for.
    step_size : float, optional
        α. Given, it stays fixed; by default it starts at a quarter of the ball's radius over L and adapts. It does
        not change the answer, only the way to it.
    tol : float
        Stop when the root mean square change of the Z_i is at most this times the radius.
    max_iter : int

    Returns
    -------
    Minimum

    Examples
    --------
    >>> import numpy as np
    >>> from fantope.paper.intersection import nearest_correlation, splitting
    >>> A = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])  # not positive semidefinite
    >>> found = splitting(nearest_correlation(A), np.eye(3))
    >>> found.x.round(4)
    array([[ 1. ,  0.5, -0.5],
           [ 0.5,  1. ,  0.5],
           [-0.5,  0.5,  1. ]])
    """
    mu = problem.exact_mu if mu is None else mu
    alpha = 0.25 * problem.ball.radius / problem.objective.lipschitz if step_size is None else step_size
    missing = [part.name for part in problem.sets if isinstance(part, LevelSet) and part.prox_positive_part is None]
    if missing:
        raise ValueError(
            f"splitting needs prox_positive_part of every level set, {missing[0]!r} has none; use incremental."
        )
    Z = np.stack([np.asarray(start, dtype=np.float64)] * (1 + len(problem.sets)))
    change, n_iter = np.inf, 0
    x = problem.ball.project(Z.mean(axis=0))
    while n_iter < max_iter and change > tol:
        n_iter += 1
        moved = 0.0
        for k, Zk in enumerate(Z):
            reflected = 2.0 * x - Zk
            if k == 0:
                y = problem.objective.prox(reflected, alpha)
            else:
                part = problem.sets[k - 1]
                reach = alpha * mu * part.weight
                prox = part.prox if not isinstance(part, LevelSet) else part.prox_positive_part
                assert prox is not None
                y = prox(reflected, reach)
            moved += float(np.sum((y - x) ** 2))
            Zk += y - x
        change = np.sqrt(moved / len(Z)) / problem.ball.radius
        before, x = x, problem.ball.project(Z.mean(axis=0))
        if step_size is None and n_iter % EVERY == 0 and n_iter <= ADAPT_UP_TO:
            spread = float(np.sqrt(np.sum((Z - x) ** 2) / len(Z)))
            factor = _balance(change, float(np.linalg.norm(x - before)) / max(spread, 1e-300))
            alpha *= factor
            Z = x + factor * (Z - x)  # Z_i − x is α times a multiplier, which stays
    return summary(problem, x, mu, change, n_iter, change <= tol)


def _balance(disagreement: float, movement: float) -> float:
    """Return by what to multiply α, for the sets' disagreement to keep pace with x's movement, both relative."""
    if min(disagreement, movement) <= 0.0:
        return 1.0
    ratio = disagreement / movement
    return 1.0 if 0.5 <= ratio <= 2.0 else float(np.clip(1.0 / np.sqrt(ratio), 0.5, 2.0))


def summary(problem: Intersection, x: Array, mu: float, change: float, n_iter: int, converged: bool) -> Minimum:
    """Return what is to be known of ``x``."""
    objective, penalty = problem.objective.value(x), problem.penalty(x)
    return Minimum(x, objective, penalty, objective + mu * penalty, float(change), n_iter, bool(converged))
