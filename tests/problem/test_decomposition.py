import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

import fantope
from fantope.operators import DenseCovariance
from fantope.penalties import L1
from fantope.problem.decomposition import decompose
from problems import Instance, assert_certified, blocks, equicorrelated, independent_bracket, sample_covariance

COUNTER_EXAMPLE = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 0.95]])


@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
def test_isolated_variable_that_the_unsafe_rule_drops(solver):
    """Two variables have a larger diagonal than variable 3, and yet it belongs to the solution."""
    sol = fantope.solve(COUNTER_EXAMPLE, 2, 0.1, solver=solver, tol=1e-8)
    assert sol.objective == pytest.approx(2.55, rel=1e-7)
    assert sol.support.tolist() == [0, 1, 2]
    dropped = fantope.solve(np.array([[1.0, 0.9], [0.9, 1.0]]), 1, 0.1)
    assert dropped.objective < 1.81  # one direction of the pair is worth 1.7, the second 0


@pytest.mark.slow
@given(p=st.integers(2, 30), d=st.integers(1, 4), density=st.floats(0, 0.2), seed=st.integers(0, 10**6))
def test_what_is_kept(p, d, density, seed):
    rng = np.random.default_rng(seed)
    S = rng.uniform(-1, 1, (p, p)) * (rng.uniform(size=(p, p)) < density)
    S = np.triu(S, 1) + np.triu(S, 1).T + np.diag(rng.uniform(0, 2, p))
    alpha, d = 0.2, min(d, p - 1)
    parts = decompose(DenseCovariance(S), d, L1(alpha))
    graph = scipy.sparse.csr_array((np.abs(S) > alpha) & ~np.eye(p, dtype=bool))
    _, wanted = connected_components(graph, directed=False)
    assert len({*zip(parts.labels.tolist(), wanted.tolist(), strict=True)}) == wanted.max() + 1
    degree = graph.sum(axis=1)
    isolated = np.flatnonzero(degree == 0)
    kept_isolated = np.intersect1d(parts.kept, isolated)
    assert set(np.flatnonzero(degree)) <= set(parts.kept)
    assert len(kept_isolated) == min(d, len(isolated))
    if len(kept_isolated) < len(isolated):
        rest = np.setdiff1d(isolated, kept_isolated)
        assert S.diagonal()[kept_isolated].min() >= S.diagonal()[rest].max()
    assert len(parts.kept) >= min(d, p)
    reduced, labels = parts.problem.S, parts.labels[parts.kept]
    same = labels[:, None] == labels
    np.testing.assert_array_equal(reduced[same], S[np.ix_(parts.kept, parts.kept)][same])
    assert not reduced[~same].any()


def test_one_component_is_not_copied():
    S = equicorrelated(5, 0.5)
    assert np.shares_memory(decompose(DenseCovariance(S), 1, L1(0.1)).problem.S, S)


@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
def test_decomposed_equals_whole(solver):
    """Entries below alpha change neither the optimum nor the support: a solver that saw them would agree."""
    rng = np.random.default_rng(3)
    S = blocks(sample_covariance(rng, 30, 6), sample_covariance(rng, 30, 5), np.diag([3.0, 2.5, 0.1, 0.2]))
    noise = rng.uniform(-0.05, 0.05, S.shape)
    noisy = S + np.where(S == 0, np.triu(noise, 1) + np.triu(noise, 1).T, 0.0)
    alpha = 0.3
    sol = fantope.solve(noisy, 3, alpha, solver=solver, tol=1e-7)
    clean = fantope.solve(S, 3, alpha, solver=solver, tol=1e-7)
    assert sol.objective == pytest.approx(clean.objective, rel=1e-6)
    assert_certified(Instance("noisy", noisy, 3, alpha), sol)


def test_dropped_variables_never_come_back():
    rng = np.random.default_rng(5)
    S = blocks(2 * equicorrelated(4, 0.7), np.diag(np.linspace(0.5, 1.5, 20)))
    sol = fantope.solve(S, 2, 0.2, tol=1e-8)
    order = rng.permutation(24)
    shuffled = fantope.solve(S[np.ix_(order, order)], 2, 0.2, tol=1e-8)
    assert shuffled.objective == pytest.approx(sol.objective, rel=1e-7)
    assert sol.support.tolist() == [0, 1, 2, 3, 23]
    assert sorted(order[shuffled.support].tolist()) == sol.support.tolist()


def test_blocks_are_exactly_zero_between():
    rng = np.random.default_rng(6)
    sizes = (7, 6, 5)
    S = blocks(*[sample_covariance(rng, 30, k) for k in sizes]) + 0.01
    sol = fantope.solve(S, 3, 0.2, tol=1e-6)
    label = np.repeat(np.arange(3), sizes)
    X = sol.projection.toarray()
    assert not X[label[:, None] != label].any()
    coo = sol.projection.tocoo()
    assert (label[coo.row] == label[coo.col]).all()  # not stored either


@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
def test_blocks_share_a_fractional_trace(solver):
    """Two equal triples and d = 1: every split of the trace is optimal; d = 3 gives one whole and a shared rest."""
    pair = equicorrelated(3, 0.6)
    for count, d in ((2, 1), (2, 3), (3, 2)):
        instance = Instance("shared", blocks(*[pair] * count), d, 0.1)
        sol = fantope.solve(instance.S, d, instance.alpha, solver=solver, tol=1e-7)
        assert sol.status is fantope.Status.SOLVED
        assert_certified(instance, sol)
        traces = sol.projection.diagonal().reshape(count, 3).sum(axis=1)
        assert traces.sum() == pytest.approx(d)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), share=st.floats(0.3, 1.2))
def test_lifted_dual_is_valid(seed, share):
    rng = np.random.default_rng(seed)
    S = sample_covariance(rng, 8, 9)
    alpha = share * float(np.abs(S - np.diag(S.diagonal())).max())
    instance = Instance("lifted", S, 2, alpha)
    sol = fantope.solve(S, 2, alpha)
    everything = np.arange(9)
    U = sol.dual.block(everything, everything)
    found = independent_bracket(instance, sol.projection, U)
    assert found.dual_bound <= sol.dual_bound + 1e-12 * instance.scale
    assert found.objective >= sol.objective - 1e-12 * instance.scale


def test_alpha_max():
    S = sample_covariance(np.random.default_rng(1), 20, 7)
    off = np.abs(S - np.diag(S.diagonal())).max()
    assert fantope.alpha_max(S, 2) == off
    order = np.argsort(-S.diagonal())[:2]
    sol = fantope.solve(S, 2, off)
    assert sol.support.tolist() == sorted(order.tolist())
    assert sol.objective == pytest.approx(np.sort(S.diagonal())[-2:].sum() - 2 * off)
    assert len(fantope.solve(S, 2, 0.95 * off, tol=1e-6).support) >= 2
    assert fantope.alpha_max(np.diag([1.0, 2.0, -5.0]), 1) == 0.0


def test_a_problem_that_memory_cannot_hold_is_refused_at_once(monkeypatch):
    Z = np.random.default_rng(0).standard_normal((10, 40))
    monkeypatch.setattr("fantope.problem.decomposition._physical_memory", lambda: 1000.0)
    with pytest.raises(MemoryError, match=r"alpha must be larger .* 40 of 40 variables .* raise alpha"):
        fantope.solve(fantope.covariance(Z), 2, 0.01)
    monkeypatch.undo()
    assert fantope.solve(fantope.covariance(Z), 2, 0.01).gap < 1e-4
