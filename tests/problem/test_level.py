import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fantope
from fantope.penalties import L1, WeightedL1
from fantope.problem import certificate, level
from fantope.problem.dual import ExtendedDual
from fantope.problem.projection import Factors
from fantope.problem.slack import SplitSlack
from fantope.problem.soft_graph import soft_matrix


def instance(seed, penalty=None, m=120, a=25, scale=1.0, coupled=0.02):
    """A strong active block, noise outside that is dense after thresholding, and a U near S between the two."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((m, m // 2)) / np.sqrt(m // 2)
    S = noise @ noise.T
    S[:a, :a] += 0.4
    S *= scale
    penalty = L1(0.02 * scale) if penalty is None else penalty
    box = penalty.limits(np.arange(a), np.arange(m))
    U = np.clip(S[:a] - coupled * scale * rng.standard_normal((a, m)), -box, box)
    U[:, :a] = np.clip(S[:a, :a], -box[:, :a], box[:, :a]) if np.ndim(box) else np.clip(S[:a, :a], -box, box)
    dual = ExtendedDual(penalty, np.arange(a), U)
    M = dual.slack(S)
    rows = np.linalg.eigh(M[:a, :a])[1].T[::-1][:1]
    return S, dual, Factors(np.arange(a), np.ascontiguousarray(rows), np.ones(1))


def split(S, dual):
    return SplitSlack(lambda r, c: S[np.ix_(r, c)], S.diagonal(), soft_matrix(S, dual.penalty), dual)


def outside_value(S, dual):
    a = len(dual.active)
    return np.linalg.eigvalsh(dual.slack(S)[a:, a:])[-1]


@given(seed=st.integers(0, 10**6), share=st.floats(1e-7, 1.0), power=st.integers(-12, 11))
def test_a_level_is_proven_where_it_is_above_all_eigenvalues(seed, share, power):
    S, dual, _ = instance(seed, scale=10.0**power)
    largest = outside_value(S, dual)
    found = level.proven_level(split(S, dual), (1.0 + share) * largest)
    assert found >= largest
    if share > 1e-2:
        assert found <= (1.0 + share) * largest * 1.01


@given(seed=st.integers(0, 10**6), share=st.floats(1e-9, 0.5))
def test_no_level_is_proven_that_is_below_an_eigenvalue(seed, share):
    S, dual, _ = instance(seed)
    largest = outside_value(S, dual)
    assert level.proven_level(split(S, dual), (1.0 - share) * largest) >= largest


def test_rounding_counts_what_the_factor_has_lost():
    """Equal rows: single precision finds a factor although the level is below the largest eigenvalue."""
    m, a = 400, 10
    S = np.ones((m, m))
    S[:a] = S[:, :a] = 0.0
    dual = ExtendedDual(L1(1e-3), np.arange(a), np.zeros((a, m)))
    M, largest = split(S, dual), outside_value(S, dual)
    found = [level.proven_level(M, largest * (1.0 - off)) for off in (1e-9, 1e-8, 3e-8)]
    assert min(found) >= largest
    assert np.isfinite(level.proven_level(M, largest * (1.0 + 1e-3)))


@pytest.mark.parametrize("scale", [1e-60, 1e60])
def test_beyond_single_precision_nothing_is_proven(scale):
    S, dual, _ = instance(3, scale=scale)
    with np.errstate(over="ignore", under="ignore"):
        M = split(S, dual)
    assert level.proven_level(M, 2.0 * outside_value(S, dual)) == np.inf


def weights(m=120):
    W = np.random.default_rng(9).uniform(0.01, 0.04, (m, m))
    return WeightedL1(1.0, 0.5 * (W + W.T))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("penalty", [None, weights()], ids=["number", "weights"])
def test_bounds_hold(seed, penalty):
    S, dual, X = instance(seed, penalty)
    exact = np.linalg.eigvalsh(dual.slack(S))[-1]
    found = level.levelled_bounds(split(S, dual), X, 1, 1e-6, -np.inf, 1.05 * exact)
    assert found is not None
    assert exact <= found[0] <= 1.05 * exact


def test_without_room_there_is_none():
    S, dual, X = instance(0)
    exact = np.linalg.eigvalsh(dual.slack(S))[-1]
    assert level.levelled_bounds(split(S, dual), X, 1, 1e-6, -np.inf, 0.9 * exact) is None


def test_others_above_the_active_set_have_none():
    S, dual, X = instance(1)
    S[60:100, 60:100] += 1.0
    inside = np.linalg.eigvalsh(dual.slack(S)[:25, :25])[-1]
    assert level.levelled_bounds(split(S, dual), X, 1, 1e-6, -np.inf, 1.1 * inside) is None


@pytest.mark.slow  # 1,000 variables
def test_a_solution_is_certified_by_it(monkeypatch):
    found = []

    def spy(*args):
        found.append(level.levelled_bounds(*args))
        return found[-1]

    monkeypatch.setattr(certificate, "levelled_bounds", spy)
    sim = fantope.simulate(250, 1000, random_state=0)
    S = np.cov(sim.Z, rowvar=False)
    solution = fantope.solve(S, 2, 0.5 * np.sqrt(np.log(1000) / 250))
    assert found and found[-1] is not None
    assert solution.verify(S).gap <= solution.gap <= 1e-4
