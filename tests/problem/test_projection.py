import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

import fantope
from fantope.eigen import Eigenspace
from fantope.penalties import L1
from fantope.problem import projection
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors, compress, narrowed, project, repair, within
from fantope.problem.simplex import capped_simplex
from fantope.solvers import Status
from problems import blocks, equicorrelated, sample_covariance, spectrum


def nearest(Y, d):
    values, Q = np.linalg.eigh(Y)
    return (Q * capped_simplex(values, d)) @ Q.T


def in_fantope(X, d):
    values = np.linalg.eigvalsh(X)
    return values[0] >= -1e-10 and values[-1] <= 1 + 1e-10 and abs(values.sum() - d) < 1e-10


def distance_to(Y):
    """An objective under which the nearest point is the best."""
    return lambda X: -float(np.linalg.norm(X.matrix(len(Y)).toarray() - Y))


@given(m=st.integers(2, 12), d=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_repair_gives_the_nearest_point(m, d, seed):
    d = min(d, m)
    Y = spectrum(np.random.default_rng(seed), np.random.default_rng(seed).uniform(-0.5, 1.5, m))
    found = repair(Y, d, distance_to(Y))
    X = found.matrix(m).toarray()
    assert in_fantope(X, d)
    np.testing.assert_allclose(X, nearest(Y, d), atol=1e-9)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), d=st.integers(1, 3))
def test_repair_takes_the_better_of_two(seed, d):
    rng = np.random.default_rng(seed)
    S = sample_covariance(rng, 20, 8)
    problem = Problem(S, d, L1(0.2))
    Y = spectrum(rng, rng.uniform(-0.2, 1.0, 8))
    found = repair(Y, d, problem.objective)
    X = found.matrix(8).toarray()
    assert in_fantope(X, d)
    Q = np.linalg.eigh(Y)[1][:, -d:]

    def value(A):
        return np.sum(S * A) - 0.2 * np.abs(A).sum()

    assert value(X) >= max(value(nearest(Y, d)), value(Q @ Q.T)) - 1e-9


def test_a_fractional_optimum_is_not_rounded():
    """Eigenvalues 0.74, 0.17, 0.09 look like a projection of rank one; rounding would cost 1 % of the optimum."""
    S = equicorrelated(4, -0.3)
    problem = Problem(S, 1, L1(0.1))
    Q = np.linalg.eigh(S)[1]
    for weights in ([0.74, 0.17, 0.09], [0.97, 0.02, 0.01]):
        Y = (Q[:, 1:] * weights) @ Q[:, 1:].T
        found = repair(Y, 1, problem.objective)
        assert problem.objective(found) >= np.sum(S * Y) - 0.1 * np.abs(Y).sum() - 1e-12


@pytest.mark.parametrize("dense_up_to", [0, 1000])
def test_repair_keeps_zero_rows_and_blocks(monkeypatch, dense_up_to):
    monkeypatch.setattr(projection, "DENSE_UP_TO", dense_up_to)
    rng = np.random.default_rng(2)
    Y = blocks(np.zeros((3, 3)), spectrum(rng, rng.uniform(0, 1, 50)), np.zeros((2, 2)), spectrum(rng, np.ones(4)))
    start = rng.standard_normal((6, 59))
    found = repair(Y, 3, distance_to(Y), start)
    assert set(found.rows) <= set(np.flatnonzero(Y.any(axis=1)))
    X = found.matrix(59).toarray()
    assert not X[:55, 55:].any()
    assert in_fantope(X, 3)
    np.testing.assert_allclose(X, nearest(Y, 3), atol=1e-8)


@pytest.mark.parametrize(("d", "weights"), [(2, [1.0, 0.6, 0.3, 0.1]), (2, [1.0, 1.0]), (1, [0.4, 0.35, 0.25])])
def test_rows_are_left_out_at_the_same_rank(d, weights):
    rng = np.random.default_rng(4)
    V = np.linalg.qr(rng.standard_normal((20, len(weights))))[0].T
    X, used = Factors(np.arange(0, 40, 2), V, np.array(weights)), np.arange(20) < 17
    objective = Problem(sample_covariance(rng, 30, 40), d, L1(0.05)).objective
    found = narrowed(X, used, d, objective)
    assert set(found.rows) <= set(X.rows[used])
    assert len(found.weights) in (d, len(weights))
    assert in_fantope(found.matrix(40).toarray(), d)
    # Nothing but the range that X has there, and no eigenvector turned where its weight does not ask for it.
    left = X.vectors[:, used]
    basis = np.linalg.qr(left.T)[0]
    own = found.vectors[:, np.isin(found.rows, X.rows[used])]
    np.testing.assert_allclose(own @ basis @ basis.T, own, atol=1e-12)
    rounded = narrowed(X, used, d, lambda X: -len(X.weights))
    np.testing.assert_array_equal(rounded.weights, np.ones(d))


def test_leaving_rows_out_keeps_blocks_apart_and_every_weight_at_most_one():
    rng = np.random.default_rng(5)
    V = np.zeros((3, 12))
    V[0, :6], V[1:, 6:] = 1.0 / np.sqrt(6.0), np.linalg.qr(rng.standard_normal((6, 2)))[0].T
    X = Factors(np.arange(12), V, np.array([1.0, 0.7, 0.3]))
    used = np.ones(12, dtype=bool)
    used[[10, 11]] = False
    found = narrowed(X, used, 2, lambda X: len(X.weights))
    assert len(found.weights) == 3
    assert found.weights.max() == 1.0
    dense = found.matrix(12).toarray()
    assert in_fantope(dense, 2)
    assert not dense[:6, 6:].any()
    assert narrowed(X, np.arange(12) < 1, 2, lambda _: 0.0) is None


def test_a_product_repairs_nearly_as_well_and_keeps_rows_and_blocks():
    rng = np.random.default_rng(6)
    V = np.zeros((4, 40))
    V[:2, :20], V[2:, 20:35] = (np.linalg.qr(rng.standard_normal((m, 2)))[0].T for m in (20, 15))
    error = spectrum(rng, rng.uniform(-2e-3, 2e-3, 40))
    error[:20, 20:] = error[20:, :20] = error[35:] = error[:, 35:] = 0.0
    Y = (V.T * [1.0, 0.9, 0.08, 0.02]) @ V + error
    about = V + 0.02 * rng.standard_normal(V.shape)
    found, best = within(Y, about, 2, distance_to(Y)), repair(Y, 2, distance_to(Y))
    assert set(found.rows) <= set(range(35))
    assert len(found.weights) <= 8 < len(best.weights)  # four in each of two blocks
    X = found.matrix(40).toarray()
    assert in_fantope(X, 2)
    assert not X[:20, 20:].any()
    assert np.linalg.norm(X - Y) < 2.0 * np.linalg.norm(best.matrix(40).toarray() - Y)


def test_too_few_rows_to_repair():
    Y = np.zeros((5, 5))
    assert repair(Y, 1, lambda _: 0.0) is None
    assert within(Y, np.eye(5)[:2], 1, lambda _: 0.0) is None
    Y[2, 2] = 1.0
    assert repair(Y, 2, lambda _: 0.0) is None
    assert within(Y, np.eye(5)[:2], 2, lambda _: 0.0) is None
    assert repair(Y, 1, lambda _: 0.0).rows.tolist() == [2]


@pytest.mark.parametrize("m", [5, 60, 150])
def test_project(m):
    G = spectrum(np.random.default_rng(m), np.random.default_rng(m).uniform(-1, 3, m))
    space = Eigenspace(np.random.default_rng(0).standard_normal((5, m)) if m > 10 else None)
    for _ in range(2):
        vectors, weights = project(G, 2, space, 1e-10)
        np.testing.assert_allclose((vectors.T * weights) @ vectors, nearest(G, 2), atol=1e-8)
        assert (weights > 0).all()


def test_factors():
    V = np.zeros((2, 4))
    V[0, [0, 1]] = np.sqrt(0.5)
    V[1, 3] = 1.0
    X = Factors(np.array([1, 3, 4, 6]), V, np.array([1.0, 0.5]))
    small = compress(X)
    assert small.rows.tolist() == [1, 3, 6]
    dense = small.matrix(8).toarray()
    np.testing.assert_array_equal(dense, X.matrix(8).toarray())
    np.testing.assert_allclose(dense[np.ix_([1, 3], [1, 3])], 0.5)
    assert dense[6, 6] == 0.5
    assert small.matrix(8).nnz == 5
    assert small.lifted(np.arange(10, 20)).rows.tolist() == [11, 13, 16]


def test_eigenvalues_that_are_neighbouring_numbers():
    """Half their sum is one of the two, above which there is nothing."""
    for low in np.random.default_rng(0).uniform(0.1, 3.0, 50):
        Y = np.diag([np.nextafter(low, 9.0), low, 0.02])
        for wanted in (0, 1):
            found = repair(Y, 1, lambda X, k=wanted: float(X.rows[0] == k))
            assert found.weights.sum() == pytest.approx(1.0) and found.weights.max() <= 1.0


@pytest.mark.slow
def test_a_circulant_with_integer_entries():
    column = np.array([-1.0, 4.0, -1.0, 4.0, -3.0, 0.0])
    S = scipy.linalg.circulant(np.concatenate([column, column[:0:-1]]))
    solution = fantope.solve(S, 1, 2.0)
    assert solution.status is Status.SOLVED and solution.verify().gap <= 1e-4
