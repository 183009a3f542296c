import numpy as np
import pytest

import fantope
from fantope.penalties import L1, WeightedL1
from fantope.problem import dominance
from fantope.problem.dual import ExtendedDual
from fantope.problem.projection import Factors
from fantope.problem.slack import SplitSlack
from fantope.problem.soft_graph import dense_graph, soft_matrix


def instance(seed, penalty=None, m=300, a=40):
    """A strong block that is active, weak ones outside, and a U on the active rows that is anywhere in the box."""
    rng = np.random.default_rng(seed)
    S = 0.25 * rng.standard_normal((m, m)) * (rng.random((m, m)) < 0.1)
    S[:a, :a] += 1.0
    S[a : a + 30, a : a + 30] += 0.3
    S = S + S.T + np.diag(rng.uniform(0.5, 1.5, m))
    penalty = L1(0.4) if penalty is None else penalty
    box = penalty.limits(np.arange(a), np.arange(m))
    U = np.clip(S[:a] + 0.05 * rng.standard_normal((a, m)), -box, box)
    U[:, :a] = 0.5 * (U[:, :a] + U[:, :a].T)
    dual = ExtendedDual(penalty, np.arange(a), U)
    X = Factors(np.arange(a), np.linalg.qr(rng.standard_normal((a, 3)))[0].T.copy(), np.ones(3))
    return S, dual, X


def split(S, dual):
    return SplitSlack(
        lambda r, c: S[np.ix_(r, c)],
        S.diagonal(),
        dense_graph(lambda r, c: S[np.ix_(r, c)], len(S), dual.penalty),
        dual,
    )


def dominated_bounds(S, dual, *rest):
    return dominance.dominated_bounds(split(S, dual), *rest)


def weighted(m=300):
    W = np.random.default_rng(9).uniform(0.3, 0.6, (m, m))
    return WeightedL1(1.0, 0.5 * (W + W.T))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("penalty", [None, weighted()], ids=["number", "weights"])
@pytest.mark.parametrize("count", [1, 3])
def test_bounds_hold(seed, penalty, count):
    S, dual, X = instance(seed, penalty)
    found = dominated_bounds(S, dual, X, count, 1e-3, -np.inf)
    exact = np.linalg.eigvalsh(dual.slack(S))[::-1][:count]
    if found is None:  # a weak block may be stronger than the d-th eigenvalue
        assert count > 1
    else:
        assert (np.sort(found)[::-1] >= exact).all()


def test_what_is_not_dominated_is_not_bounded():
    S, dual, X = instance(0)
    S[100:150, 100:150] += 2.0
    assert dominated_bounds(S, dual, X, 1, 1e-3, -np.inf) is None
    S[100:150, 100:150] -= 2.0
    assert dominated_bounds(S, dual, X, 1, 1e-3, -np.inf) is not None
    S[200, 200] += 500.0
    assert dominated_bounds(S, dual, X, 1, 1e-3, -np.inf) is None


@pytest.mark.slow
def test_a_solution_is_certified_without_a_factorisation_of_all_variables(monkeypatch):
    rng = np.random.default_rng(0)
    data = rng.standard_normal((80, 900))
    data[:, :25] += 1.5 * rng.standard_normal((80, 1))
    data[:, 25:45] += 1.5 * rng.standard_normal((80, 1))
    S = np.corrcoef(data.T)
    monkeypatch.setattr("fantope.problem.certificate.bounds_within", lambda *args: pytest.fail("factorised"))
    monkeypatch.setattr("fantope.problem.certificate.DENSE_UP_TO", 400)
    found = fantope.solve(S, 2, 0.35, tol=1e-3)
    assert found.status.name == "SOLVED" and found.gap <= 1e-3
    monkeypatch.undo()
    assert found.verify(S).gap <= 1e-3


def test_looks_see_the_same_matrix_with_too_many_pairs_for_a_graph():
    S, dual, _ = instance(1)
    V = np.random.default_rng(0).standard_normal((300, 4))
    pairs = soft_matrix(S, dual.penalty)
    found = SplitSlack(lambda r, c: S[np.ix_(r, c)], S.diagonal(), pairs, dual, single=True) @ V
    np.testing.assert_allclose(found, dual.slack(S) @ V, atol=1e-4)


def test_bounds_that_cannot_be_accepted_are_not_sought_in_larger_cores(monkeypatch):
    S, dual, X = instance(2)
    S[0, 100] = S[100, 0] = 3.0  # a variable outside that lifts the bound
    cores = []
    dominate = dominance.dominate
    monkeypatch.setattr(dominance, "dominate", lambda core, tau: cores.append(core) or dominate(core, tau))
    found = dominated_bounds(S, dual, X, 1, 1e-3, -np.inf, 1.0, 300)
    assert len(cores) == 1
    assert found[0] >= np.linalg.eigvalsh(dual.slack(S))[-1]
