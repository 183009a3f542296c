"""Every optimum of a generic convex solver lies inside the certified bracket."""

from functools import cache

import cvxpy as cp
import numpy as np
import pytest

import fantope
from problems import BY_NAME, SMALL, assert_certified, sample_covariance

ACCURACY = 2e-6  # of the generic solver, relative to the size of S


@cache
def optimum(name):
    """Return max ⟨S, X⟩ − alpha·Σ|X_ij| over 0 ⪯ X ⪯ I, tr X = d, by an interior-point method."""
    instance = BY_NAME[name]
    scale = instance.scale
    S, p = instance.S / scale, len(instance.S)
    X = cp.Variable((p, p), symmetric=True)
    value = cp.sum(cp.multiply(S, X)) - instance.alpha / scale * cp.sum(cp.abs(X))
    problem = cp.Problem(cp.Maximize(value), [X >> 0, np.eye(p) - X >> 0, cp.trace(X) == instance.d])
    problem.solve(solver="CLARABEL")
    assert problem.status == "optimal"
    return scale * float(problem.value)


@pytest.mark.parametrize(
    "solver", ["auto", *(pytest.param(name, marks=pytest.mark.slow) for name in ("admm", "gradfps"))]
)
@pytest.mark.parametrize("instance", SMALL, ids=repr)
def test_optimum_is_inside_the_bracket(instance, solver):
    sol = fantope.solve(instance.S, instance.d, instance.alpha, solver=solver, tol=1e-6)
    assert sol.status is fantope.Status.SOLVED
    found = assert_certified(instance, sol)
    slack = ACCURACY * (instance.scale + min(instance.alpha, 10 * instance.scale)) * instance.d
    wanted = optimum(instance.name)
    if instance.alpha > 100 * instance.scale:  # the penalty dwarfs S, and with it the generic solver's accuracy
        slack = 1e-6 * instance.alpha * instance.d
    assert sol.objective - slack <= wanted <= sol.dual_bound + slack
    assert found.objective - slack <= wanted <= found.dual_bound + slack


@pytest.mark.parametrize("solver", ["subgradient", "projected-subgradient"])
@pytest.mark.parametrize("instance", SMALL[::5], ids=repr)
def test_optimum_is_inside_a_loose_bracket(instance, solver):
    sol = fantope.solve(instance.S, instance.d, instance.alpha, solver=solver, max_iter=100)
    slack = ACCURACY * (instance.scale + min(instance.alpha, 10 * instance.scale)) * instance.d
    assert sol.objective - slack <= optimum(instance.name) <= sol.dual_bound + slack


@pytest.mark.parametrize("seed", range(4))
def test_dspca(seed):
    """For d = 1 the constraint X ⪯ I is implied: d'Aspremont's relaxation, max tr(SX) − alpha‖X‖₁, tr X = 1, X ⪰ 0."""
    S = sample_covariance(np.random.default_rng(seed), 15, 6)
    alpha = 0.1 + 0.2 * seed
    X = cp.Variable((6, 6), PSD=True)
    problem = cp.Problem(cp.Maximize(cp.trace(S @ X) - alpha * cp.sum(cp.abs(X))), [cp.trace(X) == 1])
    problem.solve(solver="CLARABEL")
    sol = fantope.solve(S, 1, alpha, tol=1e-7)
    assert sol.objective == pytest.approx(problem.value, abs=1e-5)
    np.testing.assert_allclose(sol.projection.toarray(), X.value, atol=2e-2)


@pytest.mark.parametrize("seed", range(4))
def test_without_penalty_it_is_pca(seed):
    S = sample_covariance(np.random.default_rng(seed), 30, 12)
    values, Q = np.linalg.eigh(S)
    for solver in ("auto", "admm", "gradfps"):
        sol = fantope.solve(S, 3, 0.0, solver=solver, tol=1e-9)
        assert sol.objective == pytest.approx(values[-3:].sum(), rel=1e-9)
        np.testing.assert_allclose(np.abs(np.einsum("ij,ji->i", sol.components, Q[:, :-4:-1])), 1.0, atol=1e-4)
        np.testing.assert_allclose(sol.explained_variance, values[:-4:-1], rtol=1e-4)
