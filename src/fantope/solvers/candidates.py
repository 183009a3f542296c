"""Which primal point a splitting method offers for certification."""

from __future__ import annotations

import numpy as np

from fantope.problem.problem import Problem
from fantope.problem.projection import Factors, compress
from fantope.typing import Array


def primal_candidate(
    problem: Problem, sparse: Array, start: Array | None, vectors: Array | None, weights: Array | None
) -> Factors | None:
    """Return the repaired sparse iterate, or early in a run the projected one if that is better by far.

    The sparse iterate has the zeros that users want. Before it has settled, its repair can be poor; the other half
    of the splitting, given by its eigenpairs, is feasible as it is.
    """
    found = problem.repair(sparse, start)
    if vectors is None or weights is None or problem.forbids:
        return found
    dense = compress(Factors(np.arange(problem.size), vectors.copy(), weights.copy()))
    if found is None:
        return dense
    value = problem.objective(found)
    return dense if problem.objective(dense) > value + 0.01 * abs(value) else found
