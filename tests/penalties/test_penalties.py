import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fantope
from fantope.penalties import L1, WeightedL1
from fantope.testing import check_penalty
from problems import WEIGHTED


@pytest.mark.slow
@given(alpha=st.floats(0.0, 10.0), seed=st.integers(0, 10**6))
def test_l1_is_a_penalty(alpha, seed):
    check_penalty(L1(alpha), random_state=seed)


@pytest.mark.parametrize("instance", WEIGHTED, ids=repr)
def test_weighted_l1_is_a_penalty(instance):
    check_penalty(WeightedL1(instance.alpha, instance.weights), p=len(instance.S))


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), k=st.integers(0, 6), alpha=st.floats(0.0, 3.0))
def test_weights_on_a_block_are_weights(seed, k, alpha):
    rng = np.random.default_rng(seed)
    rows = rng.permutation(9)[:k]
    W = rng.uniform(0.0, 2.0, (k, k))
    W[rng.uniform(size=(k, k)) < 0.2] = np.inf
    W = np.triu(W) + np.triu(W, 1).T
    block = WeightedL1.on_block(alpha, rows, W)
    check_penalty(block, p=9, random_state=seed)
    whole = np.ones((9, 9))
    whole[np.ix_(rows, rows)] = W
    full = WeightedL1(alpha, whole)
    some, others = rng.permutation(9)[:5], rng.permutation(9)[:4]
    finite = np.isfinite(whole.diagonal())  # a forbidden variable forbids its row: no block says so of the outside
    some, others = some[finite[some]], others[finite[others]]
    np.testing.assert_array_equal(
        np.broadcast_to(block.limits(some, others), (len(some), len(others))), full.limits(some, others)
    )
    np.testing.assert_array_equal(block.diagonal(np.arange(9)), full.diagonal(np.arange(9)))


def test_infinity_forbids_whatever_alpha_is():
    W = np.array([[1.0, np.inf], [np.inf, 1.0]])
    np.testing.assert_array_equal(WeightedL1(0.0, W).limits(), [[0.0, np.inf], [np.inf, 0.0]])


def test_equality_and_repr():
    W = np.full((3, 3), 2.0)
    assert WeightedL1(1.0, W) == WeightedL1(1.0, W.copy()) != WeightedL1(2.0, W)
    assert WeightedL1(1.0, W) != L1(1.0)
    assert repr(WeightedL1(0.5, W)) == "WeightedL1(alpha=0.5, weights: 3 × 3)"
    assert repr(WeightedL1.on_block(0.5, [4, 2, 9], W)) == "WeightedL1(alpha=0.5, weights: 1, but for 3 × 3)"


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((3, 2)), r"weights must be a square array of shape \(p, p\), got shape \(3, 2\)"),
        (np.ones(3), r"weights must be a square array of shape \(p, p\), got shape \(3,\)"),
        ([[1.0, -1.0], [-1.0, 1.0]], r"weights must be 0 or larger, got -1.0 at row 0, column 1"),
        ([[1.0, np.nan], [np.nan, 1.0]], r"weights must be numbers, 0 or larger, got nan at row 0, column 1"),
        ([[1.0, 2.0], [1.0, 1.0]], r"weights must be symmetric, got 2 at row 0, column 1 but 1 the other way round"),
        ("many", r"weights must be a numeric array of shape \(p, p\), got str"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        WeightedL1(0.1, weights)


def test_bad_blocks():
    with pytest.raises(ValueError, match="rows must be distinct variables"):
        WeightedL1.on_block(0.1, [1, 1], np.ones((2, 2)))
    with pytest.raises(ValueError, match="rows must be variables by their numbers"):
        WeightedL1.on_block(0.1, [-1, 1], np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"weights must be as many as rows, 3 × 3, got shape \(2, 2\)"):
        WeightedL1.on_block(0.1, [1, 2, 3], np.ones((2, 2)))


def test_a_penalty_has_to_fit_s():
    S = np.eye(4) + 0.5
    with pytest.raises(ValueError, match=r"weights must have shape \(4, 4\), one weight for each entry of S"):
        fantope.solve(S, 1, WeightedL1(0.1, np.ones((3, 3))))
    with pytest.raises(ValueError, match="rows must be variables from 0 to 3, got 7"):
        fantope.solve(S, 1, WeightedL1.on_block(0.1, [1, 7], np.ones((2, 2))))
    W = np.ones((4, 4))
    W[[0, 1, 2], [0, 1, 2]] = np.inf
    with pytest.raises(ValueError, match="weights must leave at least 2 variables, as many as n_components"):
        fantope.solve(S, 2, WeightedL1(0.1, W))
