"""Weighted ℓ₁: every solver against a generic convex solver, zero and infinite weights included."""

from functools import cache

import cvxpy as cp
import numpy as np
import pytest

import fantope
from fantope.penalties import WeightedL1
from problems import BY_NAME, WEIGHTED, assert_certified

ACCURACY = 2e-6  # of the generic solver, relative to the size of S


def penalty(instance):
    return WeightedL1(instance.alpha, instance.weights)


@cache
def optimum(name):
    """Return max ⟨S, X⟩ − Σ w_ij|X_ij| over 0 ⪯ X ⪯ I, tr X = d, by an interior-point method."""
    instance = BY_NAME[name]
    p, limits = len(instance.S), instance.limits
    free = np.isfinite(limits)
    X = cp.Variable((p, p), symmetric=True)
    value = cp.sum(cp.multiply(instance.S, X)) - cp.sum(cp.multiply(np.where(free, limits, 0.0), cp.abs(X)))
    constraints = [X >> 0, np.eye(p) - X >> 0, cp.trace(X) == instance.d]
    constraints += [X[i, j] == 0 for i, j in np.argwhere(~free)]
    problem = cp.Problem(cp.Maximize(value), constraints)
    problem.solve(solver="CLARABEL")
    assert problem.status in ("optimal", "optimal_inaccurate")
    return float(problem.value)


@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
@pytest.mark.parametrize("instance", WEIGHTED, ids=repr)
def test_optimum_is_inside_the_bracket(instance, solver):
    sol = fantope.solve(instance.S, instance.d, penalty(instance), solver=solver, tol=1e-5)
    assert sol.status is fantope.Status.SOLVED
    found = assert_certified(instance, sol)
    sol.verify(instance.S)
    slack = ACCURACY * instance.scale * instance.d
    assert found.objective - slack <= optimum(instance.name) <= found.dual_bound + slack
    assert sol.alpha == instance.alpha
    assert sol.penalty == penalty(instance)


@pytest.mark.parametrize("solver", ["subgradient", "projected-subgradient"])
@pytest.mark.parametrize("instance", WEIGHTED, ids=repr)
def test_optimum_is_inside_a_loose_bracket(instance, solver):
    sol = fantope.solve(instance.S, instance.d, penalty(instance), solver=solver, max_iter=400)
    assert_certified(instance, sol)
    sol.verify(instance.S)
    slack = ACCURACY * instance.scale * instance.d
    assert sol.objective - slack <= optimum(instance.name) <= sol.dual_bound + slack
    assert sol.gap < 0.5
