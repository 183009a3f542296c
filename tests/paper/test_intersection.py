import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fantope
from fantope.intersection import (
    Ball,
    Interior,
    Intersection,
    LevelSet,
    fps,
    incremental,
    largest_at_most,
    nearest_correlation,
    smallest_at_least,
    splitting,
)
from fantope.online import fantope_distance
from fantope.penalties import Group, NonNegative, Smooth, Trend
from problems import sample_covariance


def symmetric(seed, p, scale):
    A = np.random.default_rng(seed).standard_normal((p, p))
    A = A + A.T
    return scale * A / np.linalg.norm(A)


def covariance(p, d):
    sim = fantope.simulate(4 * p, p, sizes=(5, 4, 3)[:d], eigenvalues=(12, 9, 6)[:d])
    return sim.Z.T @ sim.Z / (4 * p)


@pytest.mark.slow
@pytest.mark.parametrize(("constants", "d"), [("paper", 3), ("interior", 1), ("interior", 2), ("interior", 3)])
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0.0, 1.0))
def test_penalty_bounds_the_distance_to_the_fantope(constants, d, seed, size):
    p = 12
    problem = fps(np.eye(p), d, 0.1, constants=constants)
    X = symmetric(seed, p, size * np.sqrt(d))
    assert fantope_distance(X, d) <= problem.penalty(X) * (1 + 1e-12) + 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("part", [largest_at_most(1.0, 1.0), smallest_at_least(0.0, 1.0)], ids=lambda part: part.name)
@given(seed=st.integers(0, 2**32 - 1), size=st.floats(0.1, 5.0), t=st.floats(0.01, 3.0))
def test_prox_of_the_positive_part_is_the_minimiser(part, seed, size, t):
    X = symmetric(seed, 6, size)
    u = part.prox_positive_part(X, t)

    def value(Y):
        return t * part.residual(Y) + 0.5 * np.sum((Y - X) ** 2)

    for k in range(20):
        assert value(u) <= value(u + symmetric(seed + k + 1, 6, 10.0 ** -(k % 5))) + 1e-12


@pytest.mark.slow
@given(seed=st.integers(0, 2**32 - 1))
def test_subgradients_support_the_function(seed):
    X, Y = symmetric(seed, 6, 2.0), symmetric(seed + 1, 6, 2.0)
    for part in (largest_at_most(1.0, 1.0), smallest_at_least(0.0, 1.0)):
        assert part.value(Y) >= part.value(X) + np.vdot(part.subgradient(X), Y - X) - 1e-10


@pytest.mark.slow
@pytest.mark.parametrize("constants", ["paper", "interior"])
def test_fps_agrees_with_the_engine(constants):
    p, d, alpha = 20, 3, 0.2
    S = covariance(p, d)
    best = fantope.solve(S, d, alpha, tol=1e-8)
    found = splitting(fps(S, d, alpha, constants=constants), d / p * np.eye(p))
    assert found.converged
    assert found.objective == pytest.approx(-best.objective, rel=1e-5)
    np.testing.assert_allclose(found.x, best.projection.toarray(), atol=1e-3)
    assert found.penalty < 1e-3


def test_weak_penalty_leaves_the_set_and_undercuts_the_optimum():
    p, d, alpha = 20, 3, 0.2
    S = covariance(p, d)
    problem = fps(S, d, alpha)
    found = splitting(problem, d / p * np.eye(p), mu=1e-4 * problem.exact_mu, max_iter=500)
    assert found.value < -fantope.solve(S, d, alpha).objective - 0.1
    assert found.penalty > 0.1


def nearest_by_cvxpy(A, high):
    x = cp.Variable(A.shape, symmetric=True)
    problem = cp.Problem(cp.Minimize(cp.norm(x - A, "fro")), [x >> 0, cp.diag(x) == 1, x >= -1.0, x <= high])
    problem.solve(solver="CLARABEL")
    return x.value


@pytest.mark.slow
@pytest.mark.parametrize("upper", [1.0, 0.4])
def test_nearest_correlation_matrix(upper):
    A = np.random.default_rng(3).uniform(-1, 1, (9, 9))
    A = (A + A.T) / 2
    np.fill_diagonal(A, 1.0)
    assert np.linalg.eigvalsh(A)[0] < -0.1
    high = np.where(np.eye(9, dtype=bool), 1.0, upper)
    problem = nearest_correlation(A, upper=upper)
    found = splitting(problem, np.eye(9), tol=1e-8)
    np.testing.assert_allclose(found.x, nearest_by_cvxpy(A, high), atol=1e-4)
    near = problem.feasible(found.x)
    assert np.linalg.eigvalsh(near)[0] >= -1e-12 and (near.diagonal() == 1).all()
    assert np.max(near - high) <= 1e-12
    assert problem.objective.value(near) == pytest.approx(found.objective, abs=1e-4)
    assert incremental(problem, np.eye(9)).objective == pytest.approx(found.objective, rel=0.05)


def test_errors_say_what_is_missing():
    A = np.eye(3)
    with pytest.raises(ValueError, match="lower must be at most upper"):
        nearest_correlation(A, lower=0.5, upper=0.2)
    with pytest.raises(ValueError, match="interior must be positive definite"):
        nearest_correlation(A, lower=1.0)
    with pytest.raises(ValueError, match="constants must be"):
        fps(A, 1, 0.1, constants="mine")
    problem = nearest_correlation(A)
    bare = LevelSet("bare", lambda x: 0.0, lambda x: x, 1.0)
    with pytest.raises(ValueError, match="'bare' has none"):
        splitting(Intersection(problem.objective, (bare,), problem.ball), A)
    with pytest.raises(ValueError, match="needs an interior point"):
        Intersection(problem.objective, (bare,), Ball(1.0)).feasible(A)
    assert Intersection(problem.objective, (bare,), Ball(2.0), Interior(A, 1.0)).feasible(A) is not None


@pytest.mark.slow
@pytest.mark.parametrize(
    "penalty",
    [
        NonNegative(0.1),
        Group(0.1, [[0, 3], [1, 2], [4, 5]]),
        Group(0.1, [[0, 3], [1, 2], [4, 5]], l1_share=0.5),
        Smooth(0.1, 0.3),
        Trend(0.1),
    ],
    ids=repr,
)
def test_other_penalties_through_the_general_scheme(penalty):
    S = sample_covariance(np.random.default_rng(0), 30, 6)
    found = splitting(fps(S, 2, penalty, constants="interior"), np.eye(6) / 3, tol=1e-5, max_iter=3000)
    sol = fantope.solve(S, 2, penalty, tol=1e-7)
    assert found.converged
    assert -found.objective == pytest.approx(sol.objective, abs=1e-4)
    np.testing.assert_allclose(found.x, sol.projection.toarray(), atol=5e-3)


def test_non_negative_needs_a_slater_point():
    with pytest.raises(ValueError, match="constants must be 'interior' for NonNegative"):
        fps(np.eye(4), 1, NonNegative(0.1))
