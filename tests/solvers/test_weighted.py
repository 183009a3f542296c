"""Weighted ℓ₁: every solver against a generic convex solver, zero and infinite weights included."""

import tracemalloc
from functools import cache

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import fantope
from fantope.penalties import L1, WeightedL1
from problems import (
    BY_NAME,
    MEDIUM,
    WEIGHTED,
    Instance,
    assert_certified,
    independent_bracket,
    paper,
    sample_covariance,
)

pytestmark = pytest.mark.slow

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


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["subgradient", "projected-subgradient"])
@pytest.mark.parametrize("instance", WEIGHTED, ids=repr)
def test_optimum_is_inside_a_loose_bracket(instance, solver):
    sol = fantope.solve(instance.S, instance.d, penalty(instance), solver=solver, max_iter=400)
    assert_certified(instance, sol)
    sol.verify(instance.S)
    slack = ACCURACY * instance.scale * instance.d
    assert sol.objective - slack <= optimum(instance.name) <= sol.dual_bound + slack
    assert sol.gap < 0.5


@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
@pytest.mark.parametrize("instance", MEDIUM[:4], ids=repr)
def test_weights_of_one_are_the_l1_norm(instance, solver):
    p = len(instance.S)
    plain = fantope.solve(instance.S, instance.d, instance.alpha, solver=solver)
    for same in (L1(instance.alpha), WeightedL1(instance.alpha, np.ones((p, p)))):
        sol = fantope.solve(instance.S, instance.d, same, solver=solver)
        assert sol.objective == pytest.approx(plain.objective, rel=1e-6)
        assert sol.n_iter == plain.n_iter
        np.testing.assert_array_equal(sol.support, plain.support)


def weighted(instance, rng, forbidden=0):
    """Return an instance with random weights on a random block, and that block."""
    p = len(instance.S)
    rows = np.sort(rng.permutation(p)[: p // 5])
    W = rng.uniform(0.7, 3.0, (len(rows), len(rows)))
    W = np.triu(W) + np.triu(W, 1).T
    for i, j in rng.integers(0, len(rows), (forbidden, 2)):
        if i != j:
            W[i, j] = W[j, i] = np.inf
    weights = np.ones((p, p))
    weights[np.ix_(rows, rows)] = W
    return Instance(f"{instance.name}-weighted", instance.S, instance.d, instance.alpha, weights), rows, W


@pytest.mark.slow
@pytest.mark.parametrize("forbidden", [0, 12])
def test_the_active_set_extends_weighted_duals(forbidden):
    instance, rows, W = weighted(paper(100, 450), np.random.default_rng(3), forbidden=forbidden)
    sol = fantope.solve(instance.S, 2, WeightedL1.on_block(instance.alpha, rows, W), tol=1e-3)
    assert sol.status is fantope.Status.SOLVED
    assert sol.history[-1].n_active < 300
    found = assert_certified(instance, sol, tol=1e-3)
    assert found.dual_bound - found.objective <= 1e-3 * abs(found.dual_bound)
    sol.verify(instance.S)
    again = fantope.solve(instance.S, 2, WeightedL1(instance.alpha, instance.weights), solver="admm", tol=1e-3)
    assert max(sol.objective, again.objective) <= min(sol.dual_bound, again.dual_bound)


@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_an_operator_and_a_block(kind):
    """Weights above 1 cut what alpha would connect, weights below 1 connect what it would cut."""
    Z = fantope.simulate(80, 150, random_state=2).Z
    op = fantope.covariance(Z, kind=kind)
    everything = np.arange(150)
    S = op.block(everything, everything)
    rng = np.random.default_rng(5)
    rows = np.sort(np.concatenate([np.arange(10), rng.permutation(np.arange(40, 150))[:30]]))
    W = np.where(rows[:, None] + rows < 40, 50.0, 0.5)
    W = np.triu(W) + np.triu(W, 1).T
    alpha = {"covariance": 0.35, "correlation": 0.7}[kind] * fantope.alpha_max(op, 2)
    penalty = WeightedL1.on_block(alpha, rows, W)
    weights = np.ones((150, 150))
    weights[np.ix_(rows, rows)] = W
    dense = fantope.solve(S, 2, WeightedL1(alpha, weights))
    sol = fantope.solve(op, 2, penalty)
    np.testing.assert_array_equal(sol.dual.labels, dense.dual.labels)
    assert len(np.unique(sol.dual.labels)) > 2
    np.testing.assert_array_equal(sol.support, dense.support)
    assert sol.objective == pytest.approx(dense.objective, rel=1e-4)
    assert_certified(Instance("block", S, 2, alpha, weights), sol, tol=1e-4)
    sol.verify(op)
    size = np.abs(S) / weights
    np.fill_diagonal(size, 0.0)
    for penalised in (penalty, WeightedL1(1.0, weights)):
        assert fantope.alpha_max(op, 2, penalised) == pytest.approx(size.max(), rel=1e-12)


def test_paths_scale_the_penalty():
    instance = BY_NAME["paper-60"]
    rng = np.random.default_rng(1)
    wide, rows, W = weighted(instance, rng, forbidden=5)
    penalty = WeightedL1.on_block(7.0, rows, W)
    path = fantope.solve_path(instance.S, 2, [0.6, 0.3, 0.2], penalty=penalty)
    assert path.alphas.tolist() == [0.6, 0.3, 0.2]
    for sol in path:
        assert sol.penalty == penalty.scaled(sol.alpha)
        assert_certified(Instance("step", instance.S, 2, sol.alpha, wide.weights), sol, tol=1e-3)
        alone = fantope.solve(instance.S, 2, penalty.scaled(sol.alpha), tol=1e-3)
        assert alone.objective == pytest.approx(sol.objective, rel=2e-3)
    automatic = fantope.solve_path(instance.S, 2, penalty=penalty, n_alphas=4)
    assert automatic.alphas[0] == pytest.approx(fantope.alpha_max(instance.S, 2, penalty))


def test_targets():
    S = BY_NAME["paper-60"].S
    W = np.ones((60, 60))
    W[:5] = W[:, :5] = np.inf
    penalty = WeightedL1(1.0, W)
    sol = fantope.solve_for_size(S, 2, 20, penalty=penalty)
    assert abs(len(sol.support) - 20) <= 1
    assert sol.support.min() >= 5
    share = fantope.solve_for_variance(S, 2, 0.5, penalty=penalty)
    assert share.support.min() >= 5


@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps", "subgradient", "projected-subgradient"])
def test_warm_starts_from_another_penalty(solver):
    instance = BY_NAME["weighted-mixed-d2"]
    plain = fantope.solve(instance.S, instance.d, instance.alpha, solver=solver, max_iter=200)
    sol = fantope.solve(instance.S, instance.d, penalty(instance), solver=solver, init=plain, max_iter=200)
    assert_certified(instance, sol)
    again = fantope.solve(instance.S, instance.d, penalty(instance), solver=solver, init=sol, max_iter=200)
    assert again.gap <= max(sol.gap, 1e-4)
    assert_certified(instance, again)
    back = fantope.solve(instance.S, instance.d, instance.alpha, solver=solver, init=sol, max_iter=200)
    assert_certified(Instance("plain", instance.S, instance.d, instance.alpha), back)


@pytest.mark.slow
def test_twenty_thousand_variables_and_a_block():
    """Nothing p × p is formed: 3.2 GB would be, and 400 MB are not passed."""
    p, n = 20_000, 60
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, p))
    Z[:, :40] += 2.0 * rng.standard_normal((n, 1))
    op = fantope.covariance(Z, kind="correlation")
    rows = np.arange(60)
    W = np.ones((60, 60))
    W[:20, 20:40] = W[20:40, :20] = np.inf  # one module cut in two
    W[40:, 40:] = 0.1  # and pairs that alpha would keep apart
    np.fill_diagonal(W, 1.0)
    tracemalloc.start()
    try:
        sol = fantope.solve(op, 2, WeightedL1.on_block(0.68, rows, W), tol=1e-3)
        found = sol.verify()
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert sol.status is fantope.Status.SOLVED
    assert found.gap <= 1.01e-3
    assert used < 4e8
    X = sol.projection
    assert X[:20, 20:40].count_nonzero() == 0
    labels = sol.dual.labels
    assert len(np.unique(labels[40:60])) == 1  # connected by the weights alone
    # Independently: on the variables of the block and those that share a component with it, in plain NumPy.
    used_rows = np.flatnonzero(np.isin(labels, labels[rows]) | np.isin(np.arange(p), sol.support))
    S = op.block(used_rows, used_rows)
    weights = np.ones_like(S)
    inside = np.searchsorted(used_rows, rows)
    weights[np.ix_(inside, inside)] = W
    part = Instance("part", S, 2, 0.68, weights)
    bracket = independent_bracket(part, X[used_rows][:, used_rows], sol.dual.block(used_rows, used_rows))
    assert bracket.objective == pytest.approx(sol.objective, rel=1e-10)
    assert bracket.dual_bound <= sol.dual_bound * (1 + 1e-12)


def test_estimators_take_penalties():
    Z = fantope.simulate(120, 40, sizes=(8, 6)).Z
    W = np.ones((40, 40))
    W[0] = W[:, 0] = np.inf
    for pca in (
        fantope.SparsePCA(2, penalty=WeightedL1(0.4, W)),
        fantope.SparsePCA(2, alpha=WeightedL1(0.4, W)),
        fantope.SparsePCA(2, alpha=0.4, penalty=WeightedL1(9.0, W)),
        fantope.SparsePCACV(2, alphas=[0.4, 0.8], penalty=WeightedL1(9.0, W), cv=2),
    ):
        fitted = clone(pca).fit(Z)
        assert 0 not in fitted.support_
        assert fitted.alpha_ in (0.4, 0.8)
    with pytest.raises(ValueError, match="alpha and penalty are both penalties"):
        fantope.SparsePCA(2, alpha=L1(0.4), penalty=L1(0.4)).fit(Z)


@given(seed=st.integers(0, 10**6), d=st.integers(1, 3), scale=st.floats(1e-3, 1e3))
@settings(max_examples=25, deadline=None)
def test_random_weights_are_certified(seed, d, scale):
    rng = np.random.default_rng(seed)
    S = scale * sample_covariance(rng, 12, 9)
    W = rng.choice([0.0, 0.5, 1.0, 3.0, np.inf], size=(9, 9))
    W = np.triu(W, 1) + np.triu(W, 1).T
    np.fill_diagonal(W, rng.choice([0.0, 1.0, 2.0], size=9))
    instance = Instance("random", S, d, float(rng.uniform(0.05, 0.5)) * float(np.abs(S).max()), W)
    sol = fantope.solve(S, d, penalty(instance), tol=1e-3)
    assert_certified(instance, sol, tol=1e-3)
    sol.verify(S)


@given(seed=st.integers(0, 10**6), d=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_blocks_over_data_and_whole_matrices_agree(seed, d):
    """Zero, infinite and forbidding weights of a block, over an operator, against the same weights spelled out."""
    rng = np.random.default_rng(seed)
    Z = fantope.simulate(40, 40, sizes=(8, 6), random_state=seed).Z
    op = fantope.covariance(Z)
    S = op.block(np.arange(40), np.arange(40))
    rows = np.sort(rng.permutation(40)[:12])
    W = rng.choice([0.0, 0.5, 2.0, np.inf], size=(12, 12), p=[0.1, 0.4, 0.4, 0.1])
    W = np.triu(W) + np.triu(W, 1).T
    weights = np.ones((40, 40))
    weights[np.ix_(rows, rows)] = W
    instance = Instance("block", S, d, 0.4 * float(np.abs(S - np.diag(S.diagonal())).max()), weights)
    block = fantope.solve(op, d, WeightedL1.on_block(instance.alpha, rows, W), tol=1e-3)
    whole = fantope.solve(S, d, penalty(instance), tol=1e-3)
    for sol in (block, whole):
        assert_certified(instance, sol, tol=1e-3)
        sol.verify()
    assert max(block.objective, whole.objective) <= min(block.dual_bound, whole.dual_bound) * (1 + 1e-12)
