import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fantope.eigen import Eigenspace
from fantope.problem.simplex import capped_simplex
from fantope.solvers.exact_penalty import PenaltyWeights, prox_f2_direct, prox_f2_iterative, soft_capped_simplex
from problems import orthogonal, sample_covariance, spectrum

VALUES = st.lists(st.floats(-5, 5), min_size=1, max_size=12).map(np.array)
WEIGHTS = st.floats(0.0, 3.0)
SOFT = st.builds(PenaltyWeights, WEIGHTS, WEIGHTS, WEIGHTS, st.booleans())


def matrix(vectors, values):
    return (vectors.T * values) @ vectors


def penalised(X, G, d, weights):
    values = np.linalg.eigvalsh(X)
    return (
        weights.above * max(values[-1] - 1, 0)
        + weights.trace * abs(np.trace(X) - d)
        + weights.below * max(-values[0], 0)
        + 0.5 * np.sum((X - G) ** 2)
    )


@pytest.mark.parametrize("seed", range(8))
def test_direct_against_a_convex_solver(seed):
    rng = np.random.default_rng(seed)
    p, d = int(rng.integers(2, 8)), 1
    G = spectrum(rng, rng.uniform(-1, 2.5, p))
    weights = PenaltyWeights(*rng.uniform(0.1, 1.5, 3))
    X = cp.Variable((p, p), symmetric=True)
    cost = (
        weights.above * cp.pos(cp.lambda_max(X) - 1)
        + weights.trace * cp.abs(cp.trace(X) - d)
        + weights.below * cp.pos(-cp.lambda_min(X))
        + 0.5 * cp.sum_squares(X - G)
    )
    problem = cp.Problem(cp.Minimize(cost))
    problem.solve(solver="CLARABEL")
    found = matrix(*prox_f2_direct(G, d, weights))
    assert penalised(found, G, d, weights) <= problem.value + 1e-6
    np.testing.assert_allclose(found, X.value, atol=2e-3)


def test_direct_with_large_weights_is_the_fantope_projection():
    rng = np.random.default_rng(3)
    G = spectrum(rng, np.linspace(-2, 3, 9))
    values, Q = np.linalg.eigh(G)
    wanted = (Q * capped_simplex(values, 3)) @ Q.T
    np.testing.assert_allclose(matrix(*prox_f2_direct(G, 3, PenaltyWeights(1e4, 1e4, 1e4))), wanted, atol=1e-9)


def test_direct_drops_what_is_zero():
    vectors, values = prox_f2_direct(np.diag([2.0, 1.5, 0.0, -1.0]), 2, PenaltyWeights(1e4, 0.0, 1e4))
    assert vectors.shape == (2, 4)
    np.testing.assert_allclose(values, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_iterative_converges_to_direct(seed):
    rng = np.random.default_rng(seed)
    G = spectrum(rng, rng.uniform(-0.4, 0.9, 6))
    weights = PenaltyWeights(0.3, 0.2, 0.3)
    exact = matrix(*prox_f2_direct(G, 2, weights))
    assert np.linalg.norm(exact) < np.sqrt(2)  # the ball that the iterative method stays in
    errors = [np.linalg.norm(matrix(*prox_f2_iterative(G, 2, weights, k)) - exact) for k in (10, 100, 2000)]
    assert errors[2] < 0.5 * errors[0] or errors[0] < 1e-6
    assert errors[2] < 0.02


def test_iterative_stays_in_the_ball():
    G = spectrum(np.random.default_rng(1), np.linspace(-5, 9, 7))
    found = matrix(*prox_f2_iterative(G, 2, PenaltyWeights(1.0, 1.0, 1.0), 30))
    assert np.linalg.norm(found) <= np.sqrt(2) + 1e-12


@pytest.mark.slow
def test_iterative_of_zero():
    found = matrix(*prox_f2_iterative(np.zeros((4, 4)), 1, PenaltyWeights(0.1, 0.1, 0.1), 500))
    exact = matrix(*prox_f2_direct(np.zeros((4, 4)), 1, PenaltyWeights(0.1, 0.1, 0.1)))
    np.testing.assert_allclose(found, exact, atol=0.01)


def test_constants_of_the_corollary():
    S = sample_covariance(np.random.default_rng(0), 20, 6)
    p, d, alpha = 6, 3, 0.25
    mu = (np.sqrt((S**2).sum()) + alpha * p + 1) * np.sqrt(p / (d + 1))
    weights = PenaltyWeights.of(S, d, alpha * p, "paper")
    np.testing.assert_allclose(weights.above, mu * np.sqrt(d * (d + 1)))
    np.testing.assert_allclose(weights.trace, mu / np.sqrt(p))
    np.testing.assert_allclose(weights.below, mu * np.sqrt(p * (d + 1)))
    assert PenaltyWeights.of(S, d, alpha * p, 2.0).trace == pytest.approx(2.0 / np.sqrt(p))
    assert weights.scaled(0.5) == PenaltyWeights(0.5 * weights.above, 0.5 * weights.trace, 0.5 * weights.below)
    published = PenaltyWeights.of(S, d, alpha * p, "paper", "published")
    assert published == PenaltyWeights(weights.above, weights.trace, weights.above, each=True)


def soft_objective(u, values, total, weights):
    outside = np.sum if weights.each else np.max
    return (
        weights.above * outside(np.maximum(u - 1, 0))
        + weights.trace * abs(u.sum() - total)
        + weights.below * outside(np.maximum(-u, 0))
        + 0.5 * np.sum((u - values) ** 2)
    )


@pytest.mark.slow
@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_soft_penalties_against_a_convex_solver(seed, each):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    values = 2 * rng.standard_normal(n)
    total = int(rng.integers(1, n + 1))
    weights = PenaltyWeights(*(rng.uniform(0, 3, 3) * (rng.uniform(size=3) < 0.8)), each)
    u = cp.Variable(n)
    outside = cp.sum if each else cp.max
    penalty = (
        weights.above * outside(cp.pos(u - 1))
        + weights.trace * cp.abs(cp.sum(u) - total)
        + weights.below * outside(cp.pos(-u))
    )
    problem = cp.Problem(cp.Minimize(penalty + 0.5 * cp.sum_squares(u - values)))
    problem.solve(solver="CLARABEL")
    found = soft_capped_simplex(values, total, weights)
    assert soft_objective(found, values, total, weights) <= problem.value + 1e-7
    np.testing.assert_allclose(found, u.value, atol=1e-4)


@pytest.mark.slow
@given(values=VALUES, total=st.integers(1, 5), weights=SOFT, seed=st.integers(0, 99))
def test_soft_penalties_no_better_point_nearby(values, total, weights, seed):
    found = soft_capped_simplex(values, total, weights)
    best = soft_objective(found, values, total, weights)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1, 1.0):
        for _ in range(10):
            other = found + size * rng.standard_normal(len(values))
            assert best <= soft_objective(other, values, total, weights) + 1e-10


@pytest.mark.slow
@given(values=VALUES, each=st.booleans())
def test_large_weights_give_the_projection(values, each):
    total = (len(values) + 1) // 2
    soft = soft_capped_simplex(values, total, PenaltyWeights(1e3, 1e3, 1e3, each))
    np.testing.assert_allclose(soft, capped_simplex(values, total), atol=1e-9)


@pytest.mark.parametrize("each", [False, True])
def test_zero_weights_change_nothing(each):
    values = np.array([3.0, -1.0, 0.5])
    np.testing.assert_allclose(soft_capped_simplex(values, 1, PenaltyWeights(0.0, 0.0, 0.0, each)), values)


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("trace", [0.05, 0.4, 5.0])
@pytest.mark.parametrize("each", [False, True])
def test_few_eigenpairs_are_enough(each, trace, many):
    """Only eigenvalues above the shift are computed, from a warm start, and the rest is known to become 0."""
    rng = np.random.default_rng(4)
    p, d = 300, 3
    Q = orthogonal(rng, p)
    values = np.concatenate([[2.5, 1.4, 1.2, 0.7], rng.uniform(-0.3, 0.04, p - 4)])
    weights = PenaltyWeights(8.0, trace, 1e4, each)
    space = Eigenspace(Q[:, :6].T + 0.1 * rng.standard_normal((6, p)))
    vectors, u = prox_f2_direct((Q * values) @ Q.T, d, weights, space, tol=1e-9, many=many)
    assert len(u) <= 4
    wanted = soft_capped_simplex(values, d, weights)
    np.testing.assert_allclose(matrix(vectors, u), (Q * wanted) @ Q.T, atol=1e-7)
