"""The metric that follows the rows of X: its parts, where it leads, and when a run goes there."""

import numpy as np
import pytest

import fantope
from fantope.problem.near_projection import NearCone
from fantope.problem.problem import Problem
from fantope.solvers import near_admm, row_metric
from fantope.solvers.row_metric import RowMetric, uneven


def sample(n, p):
    Z = fantope.simulate(n, p, random_state=0).Z
    S = Z.T @ Z / n
    return 0.5 * (S + S.T), 0.5 * np.sqrt(np.log(p) / n)


@pytest.fixture(scope="module")
def rough():
    """A problem and the points of a rough solution."""
    S, alpha = sample(100, 80)
    solution = fantope.solve(S, 2, alpha, tol=1e-2)
    rows = np.arange(80)
    problem = Problem(S, 2, fantope.penalties.L1(alpha))
    return problem, solution.projection.toarray(), solution.dual.block(rows, rows)


def symmetric(A):
    return np.tril(A) + np.tril(A, -1).T


def test_the_cone_projection_and_its_derivative():
    rng = np.random.default_rng(0)
    G, change = (A + A.T for A in rng.standard_normal((2, 12, 12)))

    def positive_part(A):
        values, V = np.linalg.eigh(A)
        return (V * np.maximum(values, 0.0)) @ V.T

    cone = NearCone()
    np.testing.assert_allclose(symmetric(cone.exact(G.copy(), False)), positive_part(G), atol=1e-12)
    step = 1e-5 * change
    np.testing.assert_allclose(symmetric(cone.near(step)), positive_part(G + step), atol=1e-8)


def test_the_shift_gives_the_trace():
    rng = np.random.default_rng(1)
    values, weight = rng.standard_normal(30), rng.uniform(0.1, 2.0, 30)
    shift = row_metric._shift(values, weight, 3.0)
    assert weight @ np.maximum(values - shift * weight, 0.0) == pytest.approx(3.0, abs=1e-12)


def test_few_rows_are_uneven():
    assert uneven(np.array([1.0, 0.5, 1e-4, 0.0, 1e-9]))
    assert not uneven(np.array([1.0, 0.5, 0.1, 0.0, 1e-9]))
    assert not uneven(np.zeros(4))


def leading(X):
    return np.linalg.eigh(X)[1].T[-4:]


def test_it_begins_where_the_run_is(rough):
    problem, X, U = rough
    U = np.where(X != 0.0, problem.alpha * np.sign(X), U)  # Z = Y + W says both only where they agree
    Y, dual = RowMetric.begin(problem, X, U, 10.0, leading(X)).split()
    np.testing.assert_allclose(Y, X, atol=1e-12)
    np.testing.assert_allclose(dual, U, atol=1e-12)


@pytest.mark.slow
def test_it_leads_to_the_optimum(rough):
    problem, X, U = rough
    best = fantope.solve(problem.S, 2, problem.alpha, tol=1e-7)
    metric = RowMetric.begin(problem, X, U, 20.0, leading(X))
    while metric.iteration < 400:
        metric.serve(400)
    Y, dual = metric.split()
    assert not metric.lost
    assert np.trace(Y) == pytest.approx(2.0, abs=1e-10)
    assert np.abs(dual).max() <= problem.alpha * (1 + 1e-12)
    assert problem.objective(problem.repair(Y)) == pytest.approx(best.objective, rel=1e-5)
    assert metric.estimate < 1e-4 * best.objective


def test_a_run_that_gets_lost_there_goes_on_in_the_plain_metric(monkeypatch):
    S, alpha = sample(100, 80)
    monkeypatch.setattr(near_admm, "ROWS_FROM", 20)
    monkeypatch.setattr(row_metric, "FEW", 1.0)
    monkeypatch.setattr(row_metric, "LOST", 0.0)
    assert fantope.solve(S, 2, alpha, tol=1e-6).gap <= 1e-6


@pytest.mark.slow
def test_few_iterations_where_the_plain_metric_crawls():
    S, alpha = sample(100, 400)  # 1,879 iterations before
    solution = fantope.solve(S, 2, alpha, tol=1e-6)
    assert solution.gap <= 1e-6
    assert solution.n_iter < 600


def test_a_renewed_cone_projection():
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    G = (Q * np.concatenate([[3.0, 2.0], -np.linspace(0.5, 4.0, 58)])) @ Q.T
    change = rng.standard_normal((60, 60))
    cone = NearCone()
    cone.renewed(G, False, 1e-4)
    H = G + 1e-3 * (change + change.T)
    found = symmetric(np.asarray(cone.renewed(H, False, 1e-4)))
    assert len(cone._steps) == 1  # not decomposed in full
    values, V = np.linalg.eigh(H)
    np.testing.assert_allclose(found, (V * np.maximum(values, 0.0)) @ V.T, atol=1e-4)


def test_a_cone_projection_with_few_negative_eigenvalues():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((90, 90)))[0]
    G = (Q * np.concatenate([0.5 + rng.random(70), -0.5 - rng.random(20)])) @ Q.T
    change = rng.standard_normal((90, 90))
    change = 1e-3 * (change + change.T)
    cone = NearCone()
    before = symmetric(np.asarray(cone.exact(np.tril(G), False)))
    found = symmetric(np.asarray(cone.near(np.tril(change))))
    values, V = np.linalg.eigh(G + change)
    after = (V * np.maximum(values, 0.0)) @ V.T
    assert np.linalg.norm(found - after) < 0.05 * np.linalg.norm(before - after)
    P = rng.standard_normal((90, 2))
    np.testing.assert_allclose(cone.inside(P), Q[:, :70] @ (Q[:, :70].T @ P), atol=1e-12)
