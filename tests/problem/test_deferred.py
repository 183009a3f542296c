"""Problems whose S is formed when something needs all of it, beside those that have it from the start."""

import numpy as np
import pytest
import scipy.sparse

import fantope
from fantope.penalties import L1
from fantope.problem import decomposition
from fantope.problem.decomposition import decompose
from fantope.problem.deferred import DeferredProblem
from fantope.problem.wide import WideProblem

N, P = 40, 300


def data(seed=0):
    """Two groups, some pairs and single variables at alpha = 0.7, a constant column, one with a huge mean."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N, P))
    X[:, :120] += 2.0 * rng.standard_normal((N, 1))
    X[:, 120:140] += 4.0 * rng.standard_normal((N, 1))
    X[:, 140:160:2] += 3.0 * X[:, 141:160:2]
    X[:, 5] += 1e9
    X[:, 200] = 3.0
    return X


def operators():
    X = data()
    some = np.delete(X, 200, axis=1)
    return {
        "covariance": fantope.covariance(X),
        "correlation": fantope.covariance(some, kind="correlation"),
        "second moments": fantope.covariance(X[:, 6:], center=False),
        "ranks": fantope.covariance(some, kind="correlation", method="spearman"),
        "single precision": fantope.covariance(some[:, 6:].astype(np.float32), kind="correlation"),
    }


@pytest.fixture
def soon(monkeypatch):
    monkeypatch.setattr(decomposition, "DEFERRED_FROM", 1)


@pytest.mark.parametrize("name", operators())
@pytest.mark.parametrize("wide", [False, True])
def test_blocks_are_those_of_s(name, wide, soon, monkeypatch):
    op, rng = operators()[name], np.random.default_rng(1)
    monkeypatch.setattr(decomposition, "LARGEST_DENSE", 0 if wide else 2**32)
    alpha = 0.7 * (1.0 if name != "covariance" else float(np.median(op.diagonal())))
    problem = decompose(op, 2, L1(alpha)).problem
    assert isinstance(problem, WideProblem if wide else DeferredProblem) and problem.factor is not None
    m = problem.size
    monkeypatch.setattr(decomposition, "DEFERRED_FROM", P + 1)
    monkeypatch.setattr(decomposition, "LARGEST_DENSE", 2**32)
    S = decompose(op, 2, L1(alpha)).problem.S
    assert len(np.unique(problem.labels)) > 1 and (S == 0.0).any()
    close = {"rtol": 0, "atol": 1e-13 * np.abs(S).max()}
    for rows, cols in (
        (np.arange(m), np.arange(m)),
        (np.sort(rng.choice(m, m // 3, replace=False)), np.sort(rng.choice(m, m // 2, replace=False))),
        (np.arange(m // 2), np.arange(m // 2, m)),
        (np.arange(0), np.arange(m)),
    ):
        found = problem.block(rows, cols)
        np.testing.assert_allclose(found, S[np.ix_(rows, cols)], **close)
        np.testing.assert_array_equal(found == 0.0, S[np.ix_(rows, cols)] == 0.0)  # exactly, between components
    assert np.array_equal(problem.block(np.arange(m), np.arange(m)), problem.block(np.arange(m), np.arange(m)).T)
    np.testing.assert_array_equal(problem.diagonal(), S.diagonal())
    assert "S" not in problem.__dict__
    if not wide:
        np.testing.assert_array_equal(problem.S, S)
        np.testing.assert_array_equal(problem.block(np.arange(3), np.arange(m)), S[:3])


@pytest.mark.slow
def test_an_active_set_does_not_form_s(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 1500))
    for first in range(0, 150, 30):
        X[:, first : first + 30] += 2.0 * rng.standard_normal((60, 1))
    op = fantope.covariance(X, kind="correlation")
    forms = []
    formed = DeferredProblem.S.func
    monkeypatch.setattr(DeferredProblem.S, "func", lambda self: forms.append(self) or formed(self))
    found = fantope.solve(op, 2, 0.42)
    assert found.status.name == "SOLVED" and decompose(op, 2, L1(0.42)).problem.size >= 1000 and not forms
    assert found.verify().gap <= 1.02e-4
    whole = fantope.solve(op, 2, 0.42, solver="admm", tol=1e-2)  # which needs all of it
    assert len(forms) == 1 and whole.objective <= found.dual_bound and found.objective <= whole.dual_bound


def test_many_samples_and_sparse_data_have_no_factor():
    rng = np.random.default_rng(0)
    assert fantope.covariance(rng.standard_normal((151, 4))).factor(np.arange(4)) is None
    assert fantope.covariance(rng.standard_normal((150, 4))).factor(np.arange(4)).shape == (4, 150)
    sparse = scipy.sparse.random_array((50, 30), density=0.2, rng=rng)
    assert fantope.covariance(sparse).factor(np.arange(30)) is None
