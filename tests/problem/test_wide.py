"""Problems over more variables than an m × m array holds: forced at a small size, beside the dense route."""

import numpy as np
import pytest

import fantope
from fantope.operators import DenseCovariance
from fantope.penalties import L1, WeightedL1
from fantope.problem import dominance
from fantope.problem.certificate import row_sums
from fantope.problem.decomposition import decompose
from fantope.problem.dual import ExtendedDual
from fantope.problem.projection import Factors
from fantope.problem.slack import SplitSlack
from fantope.problem.soft_graph import dense_graph, soft_graph
from fantope.problem.wide import WideProblem

ALPHA = 0.28


def factor_data(n=90, p=500, modules=6, size=25, seed=0):
    """Modules of different strength, and noise that connects nearly all variables at ALPHA."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    for k in range(modules):
        X[:, k * size : (k + 1) * size] += np.outer(rng.standard_normal(n), rng.uniform(0.4, 1.6, size)) / (1 + 0.2 * k)
    return X


@pytest.fixture(scope="module")
def op():
    return fantope.covariance(factor_data(), kind="correlation")


@pytest.fixture
def forced(monkeypatch):
    """No array over all kept variables is allowed; one that is formed all the same fails."""
    monkeypatch.setattr("fantope.problem.decomposition.LARGEST_DENSE", 0)
    monkeypatch.setattr("fantope.problem.leverage.MOST_UNUSED", 100)
    block = fantope.operators.DataCovariance.block

    def checked(self, rows, cols):
        assert len(rows) * len(cols) < 0.5 * self.size**2
        return block(self, rows, cols)

    monkeypatch.setattr(fantope.operators.DataCovariance, "block", checked)


def special(p=500):
    """Weights of their own on some pairs, one of them forbidden, as the steps of a concave penalty have them."""
    W = np.random.default_rng(3).uniform(0.2, 1.0, (60, 60))
    W = 0.5 * (W + W.T)
    W[3, 40] = W[40, 3] = np.inf
    return WeightedL1.on_block(ALPHA, np.arange(60), W)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [L1(ALPHA), special()], ids=["number", "weights"])
def test_the_graph_is_the_soft_threshold(op, penalty):
    every = np.arange(op.size)
    S = op.block(every, every)
    size = np.maximum(np.abs(S) - penalty.limits(every, every), 0.0)
    np.fill_diagonal(size, 0.0)
    labels = np.zeros(op.size, dtype=np.intp)
    for S_of in (op, DenseCovariance(S)):
        graph, alpha = soft_graph(S_of, penalty, every, labels, 1e9)
        assert alpha == ALPHA
        soft = graph.product(np.eye(op.size))
        np.testing.assert_allclose(soft, np.copysign(size, S) * (size > 0), atol=1e-4)
        assert (np.abs(soft) >= size).all() and (np.abs(graph.product(np.eye(op.size), True)) >= size).all()
    np.testing.assert_allclose(
        dense_graph(lambda r, c: S[np.ix_(r, c)], len(S), penalty).product(np.eye(op.size)), soft, atol=1e-7
    )


@pytest.mark.slow
@pytest.mark.parametrize("penalty", [L1(ALPHA), special()], ids=["number", "weights"])
@pytest.mark.parametrize("d", [1, 3])
def test_the_same_answer_as_by_arrays(op, forced, monkeypatch, penalty, d):
    parts = decompose(op, d, penalty)
    assert isinstance(parts.problem, WideProblem) and parts.problem.size > 400
    wide = fantope.solve(op, d, penalty, tol=1e-3)
    assert wide.status.name == "SOLVED" and wide.gap <= 1e-3
    assert isinstance(wide.dual.reduced, ExtendedDual)
    assert wide.verify().gap <= 1.02e-3
    lower, upper = wide.leverage_bounds()
    again = fantope.solve(op, d, penalty, tol=1e-3, init=wide)
    assert again.n_iter == 0
    monkeypatch.undo()
    dense = fantope.solve(op, d, penalty, tol=1e-6)
    assert wide.objective <= dense.dual_bound and dense.objective <= wide.dual_bound
    assert wide.verify().gap <= 1.02e-3  # by a factorisation of all variables
    leverage = dense.projection.diagonal()
    assert (lower <= leverage + 1e-3).all() and (leverage - 1e-3 <= upper).all() and (upper < 1.0).any()


@pytest.mark.slow
def test_a_path_and_mcp(op, forced):
    path = fantope.solve_path(op, 2, [0.5, 0.4, 0.3], tol=1e-3)
    assert [solution.status.name for solution in path] == 3 * ["SOLVED"]
    found = fantope.solve(op, 1, fantope.penalties.MCP(0.45), tol=1e-3)
    assert found.gap <= 1e-3 and found.verify().gap <= 1.02e-3


@pytest.mark.slow
def test_a_dual_point_that_was_changed_is_refused(op, forced):
    found = fantope.solve(op, 2, ALPHA, tol=1e-3)
    reduced = found.dual.reduced
    reduced.U[0, -1] = 2 * ALPHA
    with pytest.raises(fantope.CertificateError, match="leaves the box"):
        found.verify()
    reduced.U[:] = 0.0  # in the box, and no dual point of this bracket
    with pytest.raises(fantope.CertificateError, match="wider"):
        found.verify()


def test_a_graph_that_does_not_fit_is_refused_with_an_alpha_that_does(op, forced, monkeypatch):
    monkeypatch.setattr("fantope.problem.decomposition._physical_memory", lambda: 60 * 3000.0)
    with pytest.raises(MemoryError, match=r"alpha must be larger .* 3,000 pairs .* to about 0\.\d+\.$") as said:
        fantope.solve(op, 2, 0.2)
    enough = float(str(said.value).split()[-1][:-1])
    assert 0.2 < enough < 0.45
    assert fantope.solve(op, 2, enough, tol=1e-3).status.name == "SOLVED"


def test_other_solvers_say_that_they_need_the_matrix(op, forced):
    with pytest.raises(MemoryError, match=r"solver must be 'auto' at alpha = 0\.28, where \d+ variables"):
        fantope.solve(op, 2, ALPHA, solver="admm")


@pytest.mark.slow
def test_an_active_set_that_may_not_grow_ends_with_a_bracket(op, forced, monkeypatch):
    monkeypatch.setattr("fantope.solvers.active_set.WIDEST", 60)
    found = fantope.solve(op, 3, 0.2, tol=1e-5)
    assert found.status.name == "FULL" and 1e-5 < found.gap < 1.0
    assert "raise alpha" in str(found.status)
    found.verify()


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("largest", [0, 60, 200])
def test_a_core_bounds_what_the_active_set_does_not_dominate(largest, share, monkeypatch):
    monkeypatch.setattr(dominance, "DENSE_SHARE", share)
    monkeypatch.setattr(dominance, "STRIP", 128)
    rng = np.random.default_rng(0)
    m, a = 300, 20
    S = 0.3 * rng.standard_normal((m, m)) * (rng.random((m, m)) < 0.1)
    S[:a, :a] += 0.6
    S[100:140, 100:140] += 0.5  # as strong as the active block
    S = S + S.T + np.diag(rng.uniform(0.5, 1.5, m))
    penalty = L1(0.4)
    dual = ExtendedDual(penalty, np.arange(a), np.clip(S[:a], -0.4, 0.4))
    M = SplitSlack(
        lambda r, c: S[np.ix_(r, c)], S.diagonal(), dense_graph(lambda r, c: S[np.ix_(r, c)], len(S), penalty), dual
    )
    X = Factors(np.arange(a), np.eye(a)[:2], np.ones(2))
    dense = dual.slack(S)
    np.testing.assert_allclose(M @ np.eye(m), dense, atol=1e-6)
    exact = np.linalg.eigvalsh(dense)[::-1]
    found = dominance.dominated_bounds(M, X, 2, 1e-6, -np.inf, -np.inf, largest)
    assert (found is None) == (largest == 0)
    if found is not None:
        assert (found >= exact[:2]).all()
        assert found.sum() < (1.05 if largest == 200 else 2.0) * exact[:2].sum()
        core, E, tau = dominance.dominating(M, X, 2, 5, largest)
        N = tau * np.eye(m)
        N[np.ix_(core, core)] = E
        assert np.linalg.eigvalsh(N - dense)[0] > -1e-9
    assert exact[0] <= row_sums(M).max()
