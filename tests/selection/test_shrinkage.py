"""Loadings shrunk by as much as their noise warrants."""

import numpy as np
import pytest
from scipy.special import digamma

import fantope
from fantope.penalties import MCP
from fantope.selection import shrink_loadings, shrinkage
from fantope.selection.shrinkage import _alike


def _fit(sim, alpha=0.35):
    S = np.cov(sim.Z, rowvar=False, bias=True)
    return S, fantope.solve(S, 2, MCP(alpha), tol=1e-3)


@pytest.mark.slow
def test_closer_to_the_truth_on_the_same_variables():
    gains = []
    for seed in range(4):
        sim = fantope.simulate(100, 150, random_state=seed)
        S, sol = _fit(sim)
        V = shrink_loadings(S, sol.components, 100)
        gains.append(sim.recovery(sol.components).error - sim.recovery(V).error)
        assert set(np.flatnonzero(V.any(axis=0))) <= set(sol.support)
        np.testing.assert_allclose(V @ V.T, np.eye(2), atol=1e-12)
        between = V @ S @ V.T
        assert abs(between[0, 1]) < 1e-9 and between[0, 0] > between[1, 1]
    assert min(gains) > 0.0 and np.mean(gains) > 0.05


@pytest.mark.slow
def test_no_unit_and_an_operator_is_the_matrix():
    sim = fantope.simulate(100, 120, random_state=4)
    S, sol = _fit(sim)
    V = shrink_loadings(S, sol.components, 100)
    np.testing.assert_allclose(shrink_loadings(1e-8 * S, sol.components, 100), V, atol=1e-6)
    np.testing.assert_allclose(shrink_loadings(fantope.covariance(sim.Z), sol.components, 100), V, atol=1e-6)


def test_loadings_that_differ_by_more_than_noise_stay():
    rng = np.random.default_rng(0)
    v = np.zeros(60)
    v[:12] = np.linspace(0.3, 1.0, 12)
    v /= np.linalg.norm(v)
    Z = 0.3 * rng.standard_normal((4000, 60)) + 4.0 * rng.standard_normal((4000, 1)) * v
    S = np.cov(Z, rowvar=False, bias=True)
    own = np.zeros((1, 60))
    own[0, :12] = np.linalg.eigh(S[:12, :12])[1][:, -1]
    own *= np.sign(own.sum())
    np.testing.assert_allclose(shrink_loadings(S, own, 4000), own, atol=1e-3)


@pytest.mark.parametrize("n", [2, 4])
def test_nothing_to_estimate_noise_from(n):
    V = np.eye(2, 6)
    np.testing.assert_array_equal(shrink_loadings(np.diag([2.0, 1.5, 1, 1, 1, 1]), V, n), V)
    low = np.zeros((6, 6))
    low[0, 0] = 1.0
    np.testing.assert_array_equal(shrink_loadings(low, V, 100), V)


def test_components_of_another_shape():
    with pytest.raises(ValueError, match=r"components must be a \(d, 6\) array"):
        shrink_loadings(np.eye(6), np.eye(2, 5), 10)


@pytest.mark.slow
def test_estimators_refit_concave_penalties_unless_told_otherwise():
    sim = fantope.simulate(100, 120, random_state=4)
    anew, plain = (fantope.SparsePCA(2, penalty="mcp", refit=refit, tol=1e-3).fit(sim.Z) for refit in ("auto", False))
    np.testing.assert_array_equal(plain.components_, plain.solution_.components)
    np.testing.assert_array_equal(plain.solution_.components, anew.solution_.components)
    assert sim.recovery(anew.components_).error < sim.recovery(plain.components_).error
    assert anew.explained_variance_.sum() <= plain.explained_variance_.sum() + 1e-9
    assert anew.transform(sim.Z).var(axis=0) == pytest.approx(anew.explained_variance_)
    l1, refitted = (fantope.SparsePCA(2, penalty="l1", refit=refit, tol=1e-3).fit(sim.Z) for refit in ("auto", True))
    np.testing.assert_array_equal(l1.components_, l1.solution_.components)
    assert sim.recovery(refitted.components_).error < sim.recovery(l1.components_).error
    with pytest.raises(ValueError, match="refit=True needs the number of samples"):
        fantope.SparsePCA(2, alpha=0.3, kind="precomputed", refit=True).fit(np.cov(sim.Z.T))


def test_a_variable_that_was_left_out_comes_in_and_noise_goes():
    sim = fantope.simulate(200, 150, random_state=2)
    S, sol = _fit(sim)
    start = sol.components.copy()
    start[:, [3, 25]] = 0.0  # of the first and of the second group
    start[:, 100:103] = 0.1  # noise
    start = np.linalg.qr(start.T)[0].T
    found = {add: set(np.flatnonzero(shrink_loadings(S, start, 200, add=add).any(axis=0))) for add in (False, True)}
    assert found[True] == set(range(35))
    assert found[False] == set(range(35)) - {3, 25}


@pytest.mark.slow
def test_components_that_one_variable_outweighs_stay():
    from sklearn.datasets import load_breast_cancer

    Z = load_breast_cancer().data
    pca = fantope.SparsePCA(2).fit(Z)
    np.testing.assert_array_equal(pca.components_, pca.solution_.components)
    assert pca.explained_variance_ratio_.sum() > 0.99


@pytest.mark.slow
def test_refit_follows_from_who_chose_alpha():
    sim = fantope.simulate(60, 100, random_state=3)
    free = fantope.SparsePCA(2, tol=1e-3).fit(sim.Z)
    given = fantope.SparsePCA(2, alpha=2.0 * free.alpha_, penalty="mcp", tol=1e-3).fit(sim.Z)
    every = fantope.SparsePCA(2, alpha=2.0 * free.alpha_, penalty="mcp", refit="all", tol=1e-3).fit(sim.Z)
    assert set(given.support_) <= set(given.solution_.support) < set(every.support_)
    assert not np.array_equal(given.components_, given.solution_.components)


def test_noise_that_is_alike_is_estimated_from_all_variables():
    sampled = 2.0 * np.random.default_rng(0).chisquare(40, 5000) / 40
    np.testing.assert_allclose(_alike(sampled, 40), 2.0, rtol=0.05)  # each by itself is off by 22 %
    unlike = np.geomspace(1e-3, 1e3, 100)
    np.testing.assert_allclose(_alike(unlike, 40), unlike, rtol=0.06)
    np.testing.assert_allclose(_alike(1e6 * sampled, 40), 1e6 * _alike(sampled, 40))
    for few in ([0.0, 0.0], [0.0, 3.0]):  # nothing to compare with
        np.testing.assert_array_equal(_alike(np.array(few), 5), few)
    np.testing.assert_allclose(_alike(np.array([2.0, 2.0, 0.0]), 4), [2.0 * np.exp(np.log(2) - digamma(2))] * 2 + [0.0])


def test_rounds_that_go_to_and_fro_end_where_they_would_have_ended(monkeypatch):
    X = np.random.default_rng(11).standard_normal((60, 100))
    S = np.cov(X, rowvar=False, bias=True)
    start = np.linalg.eigh(S)[1][:, -2:].T
    start = np.linalg.qr(np.where(np.abs(start) > 0.12, start, 0.0).T)[0].T
    rounds, found = [], []
    regress = shrinkage._regress
    for ends in (shrinkage.TO_AND_FRO, 0.0):
        monkeypatch.setattr(shrinkage, "TO_AND_FRO", ends)
        count = []
        monkeypatch.setattr(shrinkage, "_regress", lambda *given, count=count: count.append(1) or regress(*given))
        found.append(shrink_loadings(S, start, 60, add=True))
        rounds.append(len(count))
    assert rounds[0] < 40 and rounds[1] == shrinkage.ROUNDS
    np.testing.assert_allclose(*found, atol=1e-4)
    assert not np.array_equal(found[0], start)
