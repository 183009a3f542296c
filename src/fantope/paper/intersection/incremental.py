"""The incremental proximal method: the terms of ℒ one after the other, each with a step of its own.

For level sets it needs values and subgradients alone. Steps α₀/√k and the mean of the iterates converge at rate 1/√k,
so this is the door for a set that nobody has a prox of, not for many digits.
"""

from __future__ import annotations

import math

import numpy as np

from fantope.paper.intersection.problem import Intersection, LevelSet
from fantope.paper.intersection.splitting import Minimum, summary
from fantope.typing import Array


def incremental(
    problem: Intersection,
    start: Array,
    *,
    mu: float | None = None,
    step_size: float | None = None,
    max_iter: int = 5000,
) -> Minimum:
    """Minimise ℒ(·; μ) over the ball by prox steps for f and the C_i and clipped subgradient steps for the g_i.

    Parameters
    ----------
    problem : Intersection
    start : array
    mu : float, optional
        Default: L + 1.
    step_size : float, optional
        α₀. Default: a tenth of the radius of the ball over L.
    max_iter : int

    Returns
    -------
    Minimum
        Of the weighted mean of the iterates of the second half; ``converged`` is whether the last step moved less than
        a thousandth of the radius.

    Examples
    --------
    >>> import numpy as np
    >>> from fantope.paper.intersection import incremental, nearest_correlation
    >>> A = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    >>> incremental(nearest_correlation(A), np.eye(3)).x.round(1)
    array([[ 1. ,  0.5, -0.5],
           [ 0.5,  1. ,  0.5],
           [-0.5,  0.5,  1. ]])
    """
    mu = problem.exact_mu if mu is None else mu
    alpha0 = 0.1 * problem.ball.radius / problem.objective.lipschitz if step_size is None else step_size
    x = problem.ball.project(np.asarray(start, dtype=np.float64))
    mean, total, change = np.zeros_like(x), 0.0, np.inf
    for k in range(1, max_iter + 1):
        alpha = alpha0 / math.sqrt(k)
        before = x
        x = problem.objective.prox(x, alpha)
        for part in problem.sets:
            reach = alpha * mu * part.weight
            x = part.step(x, reach) if isinstance(part, LevelSet) else part.prox(x, reach)
        x = problem.ball.project(x)
        change = float(np.linalg.norm(x - before)) / problem.ball.radius
        if 2 * k >= max_iter:
            total += alpha
            mean += alpha / total * (x - mean)
    return summary(problem, mean, mu, change, max_iter, change <= 1e-3)
