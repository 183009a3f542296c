"""Rank correlations, sample weights and missing values, against pandas, SciPy and the definitions."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import fantope
from fantope.errors import InputError

RNG = np.random.default_rng(0)
X = np.exp(RNG.standard_normal((24, 1)) * RNG.uniform(0, 1, 7) + RNG.standard_normal((24, 7)))
X[:, 2] = np.round(X[:, 2])  # ties
GAPS = np.where(RNG.random(X.shape) < 0.15, np.nan, X)


def dense(op):
    return op.block(np.arange(op.size), np.arange(op.size))


@pytest.mark.parametrize("method", ["pearson", "spearman", "kendall"])
def test_correlations_are_those_of_pandas(method):
    op = fantope.covariance(X, kind="correlation", method=method)
    np.testing.assert_allclose(dense(op), pd.DataFrame(X).corr(method=method), atol=1e-7)


def test_normal_scores_are_correlations_of_normal_quantiles():
    from scipy.stats import norm, rankdata

    scores = norm.ppf(rankdata(X, axis=0) / 25)
    op = fantope.covariance(X, kind="correlation", method="normal-scores")
    np.testing.assert_allclose(dense(op), np.corrcoef(scores, rowvar=False), atol=1e-12)


@pytest.mark.parametrize("method", ["pearson", "kendall"])
def test_pairwise_correlations_are_those_of_pandas(method):
    op = fantope.covariance(GAPS, kind="correlation", method=method, missing="pairwise")
    np.testing.assert_allclose(op.S, pd.DataFrame(GAPS).corr(method=method), atol=1e-10)
    there = (~np.isnan(GAPS)).astype(int)
    np.testing.assert_array_equal(op.n_pairs, there.T @ there)
    assert op.fewest_pairs == op.n_pairs.min()


def test_pairwise_ranks_are_taken_within_columns():
    op = fantope.covariance(GAPS, kind="correlation", method="spearman", missing="pairwise")
    np.testing.assert_allclose(op.S, pd.DataFrame(GAPS).rank().corr(), atol=1e-10)


def test_pairwise_covariances_and_means_that_stay():
    op = fantope.covariance(GAPS, missing="pairwise")
    np.testing.assert_allclose(op.S, pd.DataFrame(GAPS).cov() * (op.n_pairs - 1) / op.n_pairs, atol=1e-10)
    raw = fantope.covariance(GAPS, missing="pairwise", center=False)
    both = ~np.isnan(GAPS[:, 0]) & ~np.isnan(GAPS[:, 1])
    assert raw.S[0, 1] == pytest.approx((GAPS[both, 0] * GAPS[both, 1]).mean())
    complete = fantope.covariance(X, missing="pairwise")
    np.testing.assert_allclose(complete.S, np.cov(X, rowvar=False, bias=True), atol=1e-12)


def test_a_matrix_far_from_positive_is_solved_and_certified():
    values = np.random.default_rng(1).standard_normal((9, 12))
    values[np.random.default_rng(2).random(values.shape) < 0.3] = np.nan
    op = fantope.covariance(values, kind="correlation", missing="pairwise")
    assert np.linalg.eigvalsh(op.S)[0] < -0.1
    sol = fantope.solve(op, 2, 0.3, tol=1e-5)
    assert sol.gap <= 1e-5 and sol.verify(op.S).gap <= 1.2e-5


def test_weights_count_as_repetitions():
    times = RNG.integers(0, 4, len(X))
    repeated = np.repeat(X, times, axis=0)
    for kind in ("covariance", "correlation"):
        op = fantope.covariance(X, kind=kind, sample_weight=times)
        np.testing.assert_allclose(dense(op), dense(fantope.covariance(repeated, kind=kind)), atol=1e-10)
    gaps = fantope.covariance(GAPS, missing="pairwise", sample_weight=times + 1)
    again = fantope.covariance(np.repeat(GAPS, times + 1, axis=0), missing="pairwise")
    np.testing.assert_allclose(gaps.S, again.S, atol=1e-10)


@pytest.mark.slow
def test_many_columns_of_ranks_form_no_matrix():
    values = np.random.default_rng(0).standard_normal((40, 20_000)).astype(np.float32)
    values[:, :8] = values[:, [0]] ** 3 + 0.1 * values[:, :8]
    op = fantope.covariance(values, kind="correlation", method="spearman")
    sol = fantope.solve(op, 1, 0.85)
    assert sol.support.tolist() == list(range(8))


COLUMN, APART = X.copy(), X.copy()
COLUMN[:, 3] = np.nan
APART[:12, 1], APART[12:, 4] = np.nan, np.nan


@pytest.mark.parametrize(
    ("values", "arguments", "message"),
    [
        (COLUMN, {"missing": "pairwise"}, "column 3 is all missing; drop it"),
        (pd.DataFrame(COLUMN).add_prefix("v"), {"missing": "pairwise"}, "'v3' is all missing"),
        (APART, {"missing": "pairwise"}, "column 1 and column 4 share no sample"),
        (GAPS, {"kind": "correlation", "method": "spearman"}, "X must be finite|X must have no missing|NaN|nan"),
        (X, {"method": "spearman"}, "ranks have correlations only"),
        (X, {"kind": "correlation", "method": "spearmann"}, "method must be one of"),
        (X, {"missing": "drop"}, "missing must be 'error' or 'pairwise', got 'drop'"),
        (X, {"sample_weight": [1.0]}, "sample_weight must be 24 numbers, one for each sample"),
        (X, {"sample_weight": -np.ones(24)}, "sample_weight must be finite numbers, 0 or larger"),
        (X, {"kind": "correlation", "method": "kendall", "sample_weight": np.ones(24)}, "sample_weight must be left"),
        (scipy.sparse.csr_array(X), {"kind": "correlation", "method": "spearman"}, "in memory"),
        (np.where(X > 5, np.inf, X), {"missing": "pairwise"}, "infinity"),
    ],
)
def test_bad_input_is_one_sentence(values, arguments, message):
    with pytest.raises(InputError, match=message) as error:
        fantope.covariance(values, **arguments)
    assert "\n" not in str(error.value)
