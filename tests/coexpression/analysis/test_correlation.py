import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from fantope.coexpression.analysis.correlation import matrix, mean_correlations, operator, rewrite


def data(seed=0, n=25, p=9):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + rng.standard_normal((n, 1))
    X[0, 3] = 40.0  # an outlier
    X[:, 5] = np.round(X[:, 5])  # ties
    return X


def bicor(x, y):
    """The published formula for one pair, written out."""

    def weighted(v):
        med = np.median(v)
        mad = np.median(np.abs(v - med))
        if mad == 0:
            return v - v.mean()
        u = (v - med) / (9 * mad)
        return (v - med) * (1 - u**2) ** 2 * (np.abs(u) < 1)

    a, b = weighted(x), weighted(y)
    return (a @ b) / np.sqrt((a @ a) * (b @ b))


def test_pearson_is_pearson():
    X = data()
    np.testing.assert_allclose(matrix(rewrite(X, "pearson")), np.corrcoef(X, rowvar=False), atol=1e-12)


def test_spearman_is_spearman():
    X = data()
    np.testing.assert_allclose(matrix(rewrite(X, "spearman")), spearmanr(X).statistic, atol=1e-12)


def test_bicor_against_the_formula():
    X = data()
    X[:, 7] = np.where(np.arange(25) < 5, 1.0, 0.0)  # median absolute deviation zero
    p = X.shape[1]
    direct = [[bicor(X[:, i], X[:, j]) for j in range(p)] for i in range(p)]
    np.testing.assert_allclose(matrix(rewrite(X, "bicor")), direct, atol=1e-12)


def test_bicor_shrugs_off_an_outlier():
    X = data()
    clean = X.copy()
    clean[0, 3] = 0.0
    pearson = abs(matrix(rewrite(X, "pearson"))[3, 0] - matrix(rewrite(clean, "pearson"))[3, 0])
    robust = abs(matrix(rewrite(X, "bicor"))[3, 0] - matrix(rewrite(clean, "bicor"))[3, 0])
    assert robust < 0.3 * pearson


@pytest.mark.parametrize("method", ["pearson", "spearman", "bicor"])
def test_operator_is_the_matrix(method):
    Z = rewrite(data(), method)
    everything = np.arange(Z.shape[1])
    np.testing.assert_allclose(operator(Z).block(everything, everything), matrix(Z), atol=1e-12)


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(["pearson", "spearman", "bicor"]), st.floats(0.1, 50), st.floats(-9, 9))
def test_units_do_not_matter(seed, method, scale, shift):
    X = data(seed, n=12, p=6)
    np.testing.assert_allclose(matrix(rewrite(X * scale + shift, method)), matrix(rewrite(X, method)), atol=1e-8)


@pytest.mark.parametrize("width", [2, 1024])
def test_means_of_correlations(width):
    Z = rewrite(data(), "pearson")
    R = matrix(Z)
    off = R[~np.eye(len(R), dtype=bool)]
    np.testing.assert_allclose(mean_correlations(Z, width), [off.mean(), np.abs(off).mean()])
    assert np.isnan(mean_correlations(Z[:, :1])).all()
