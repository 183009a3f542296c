"""What splitting methods share: where they start, when they may change their step size, and which point they offer."""

from __future__ import annotations

import numpy as np

from fantope.eigen import Eigenspace
from fantope.eigen.rough import roughly_leading
from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors, compress
from fantope.solvers.base import Start
from fantope.typing import Array

# Block products for the leading eigenvectors of a start, of which a digit is enough, and where X is known for the
# largest eigenvalue alone.
START_STEPS, WARM_STEPS = 5, 3
SMALLEST = 1e-290  # scale of a problem in which nothing has one; its inverse times alpha must stay finite


def spectral_start(problem: Problem, start: Start | None) -> tuple[float, Array, Array, Eigenspace]:
    """Return the scale, λ₁ + alpha, a primal and a dual start, and a warm eigenspace.

    S, clipped to the box, is a dual point U, S − U is S, soft-thresholded, and the leading eigenvectors of that are far
    sparser than those of S: splitting methods that start there stay at low rank from the first iteration on.
    """
    S, d = problem.S, problem.n_components
    X, U, M = _points(problem, start)
    space = Eigenspace(np.random.default_rng(0).standard_normal((d + 3, len(S))) if len(S) > 200 else None)
    # A rough answer is plenty for a start.
    values, rows = space.leading(M, lambda _: d, relative=0.05)
    return _scale(problem, M, values), (rows.T @ rows if X is None else X), U, space


def rough_start(problem: Problem, start: Start | None) -> tuple[float, Array, Array]:
    """Return the same without an eigenspace, from a few products with S − U."""
    X, U, M = _points(problem, start)
    block = np.random.default_rng(0).standard_normal((3, len(M)))
    if X is not None:  # its range is nearly the one that is looked for
        block = block @ X
    values, rows = roughly_leading(M, problem.n_components, block, START_STEPS if X is None else WARM_STEPS)
    return _scale(problem, M, values), (rows.T @ rows if X is None else X), U


def _points(problem: Problem, start: Start | None) -> tuple[Array | None, Array, Array]:
    """Return X and U of the start, by default S clipped to the box, and S − U."""
    X, U = (None, None) if start is None else start.spread(problem)
    U = problem.box.clip((problem.S if U is None else U).copy())
    return X, U, DenseDual(U, problem.box).slack(problem.S)


def _scale(problem: Problem, M: Array, values: Array) -> float:
    # A multiple of I added to S changes no X: where λ₁ is negative, its distance from the mean eigenvalue counts.
    first = max(float(values[0]), float(values[0] - M.trace() / len(M)), 0.0)
    return max(first + problem.alpha, 1e-8 * float(np.abs(problem.S).max()), SMALLEST)


def balance(iteration: int, primal: float, dual: float) -> float:
    """Return by what to multiply ρ = 1/α to keep the relative residuals within a factor 1.5 of each other.

    3 took a quarter more iterations, 1.2 oscillates. At first in every iteration, later more and more rarely: a method
    whose step size never comes to rest can go round in circles instead of converging.
    """
    every = 1 if iteration < 20 else 5 if iteration < 200 else 50
    if iteration % every or min(primal, dual) <= 0.0 or 1 / 1.5 <= primal / dual <= 1.5:
        return 1.0
    return float(min(max(np.sqrt(primal / dual), 0.5), 2.0))


def primal_candidate(
    problem: Problem,
    found: Factors | None,
    vectors: Array | None,
    weights: Array | None,
    enough: float = -np.inf,
) -> Factors | None:
    """Return the point to certify: the repaired sparse iterate, or early on the projected one if it is better by far.

    Or if it is better at all, where the sparse one, ``found``, is not worth ``enough``.

    The sparse iterate has the zeros that users want. Before it has settled, its repair can be poor; the other half
    of the splitting, given by its eigenpairs, is feasible as it is.
    """
    if vectors is None or weights is None or problem.forbids:
        return found
    dense = compress(Factors(np.arange(problem.size), vectors.copy(), weights.copy()))
    if found is None:
        return dense
    value = problem.objective(found)
    margin = 0.01 * abs(value) if value >= enough else 0.0
    return dense if problem.objective(dense) > value + margin else found
