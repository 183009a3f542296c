import cvxpy as cp
import numpy as np
import pytest

from fantope.prox.penalties import PenaltyWeights, prox_f2_direct, prox_f2_iterative
from fantope.prox.simplex import capped_simplex
from problems import sample_covariance, spectrum


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
