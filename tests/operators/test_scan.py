"""No pair above alpha is ever missed, judged in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

import fantope
from fantope.operators import data
from fantope.operators.tiles import Tile, connections, forest, largest

MAKERS = {
    "dense": np.asarray,
    "float32": lambda Y: np.asarray(Y, dtype=np.float32),
    "sparse": scipy.sparse.csr_array,
}


def exact_products(Y, center):
    columns = [[Fraction(float(value)) for value in column] for column in Y.T]
    if center:
        means = [sum(column) / len(column) for column in columns]
        columns = [[value - mean for value in column] for column, mean in zip(columns, means, strict=True)]
    return [[sum(a * b for a, b in zip(left, right, strict=True)) / len(left) for right in columns] for left in columns]


def exact_edges(S, kind, alpha):
    """All pairs with |S_ij| > alpha, without rounding."""
    limit = Fraction(alpha)
    for i in range(len(S)):
        for j in range(i):
            scale = S[i][i] * S[j][j] if kind == "correlation" else 1
            if S[i][j] ** 2 > limit**2 * scale:
                yield i, j


@st.composite
def matrices(draw):
    n, p = draw(st.integers(2, 12)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    Y = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p)
    style = draw(st.sampled_from(["plain", "offset", "twins", "few-digits", "zeros"]))
    if style == "offset":
        Y += 10.0 ** rng.integers(0, 9, p)
    elif style == "twins":
        Y[:, -1] = Y[:, 0] * draw(st.sampled_from([1.0, -1.0, 3.0]))
    elif style == "few-digits":
        Y = np.round(rng.standard_normal((n, p)) * 2)
    elif style == "zeros":
        Y *= rng.random((n, p)) < 0.5
    return Y


@pytest.mark.slow
@given(
    matrices(), st.sampled_from(list(MAKERS)), st.booleans(), st.sampled_from(["covariance", "correlation"]), st.data()
)
def test_every_true_edge_is_found(Y, maker, center, kind, choice):
    X = MAKERS[maker](Y)
    stored = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    try:
        op = fantope.covariance(X, kind=kind, center=center)
    except ValueError:  # constant columns have no correlation
        return
    S = exact_products(stored, center)
    i, j = choice.draw(st.sampled_from([(i, j) for i in range(len(S)) for j in range(i)]))
    entry = abs(float(S[i][j]))
    if kind == "correlation":
        entry /= float(S[i][i]) ** 0.5 * float(S[j][j]) ** 0.5
    for alpha in (entry, np.nextafter(entry, 0), entry * (1 - 1e-7), entry * (1 + 1e-7), 0.0):
        found = [op.component_labels(float(alpha)), op.graph(float(alpha)).component_labels(float(alpha))]
        for r, c in exact_edges(S, kind, float(alpha)):
            for labels in found:
                assert labels[r] == labels[c], (alpha, r, c)


@pytest.mark.parametrize("n", [50, 1900])
def test_doubtful_pairs_are_decided_in_double_precision(n):
    """In single precision alone, all pairs within n·1e-7 of alpha would count as edges."""
    rng = np.random.default_rng(0)
    Y = rng.standard_normal((n, 2))
    op = fantope.covariance(Y, kind="correlation")
    r = abs(float(op.block(np.array([0]), np.array([1]))[0, 0]))
    assert op.component_labels(r * (1 + 1e-9)).tolist() == [0, 1]
    assert op.component_labels(r * (1 - 1e-9)).tolist() == [0, 0]
    assert op.graph(r).component_labels(r * (1 + 1e-9)).tolist() == [0, 0]  # safe, not sharp


def test_many_doubtful_pairs_count_as_edges(monkeypatch):
    monkeypatch.setattr("fantope.operators.tiles.DOUBTFUL", 0)
    Y = np.random.default_rng(0).standard_normal((50, 2))
    op = fantope.covariance(Y, kind="correlation")
    r = abs(float(op.block(np.array([0]), np.array([1]))[0, 0]))
    assert op.component_labels(r * (1 + 1e-9)).tolist() == [0, 0]


def test_single_precision_margin_covers_the_error_of_tiles():
    rng = np.random.default_rng(5)
    Y = rng.standard_normal((300, 64)) + rng.standard_normal((300, 1))
    op = fantope.covariance(Y.astype(np.float32), kind="correlation")
    values, margin, exact = op.columns.tiles(op.mean, op._norm, [np.arange(64)])(0, 0)
    error = np.abs(values - op.block(np.arange(64), np.arange(64)))
    assert values.dtype == np.float32
    assert not exact
    np.fill_diagonal(error, 0)
    assert 0 < error.max() < margin < 1e-4


def test_largest_entry_among_near_ties(monkeypatch):
    monkeypatch.setattr(data, "TILE", 3)
    rng = np.random.default_rng(1)
    base = rng.standard_normal((60, 1))
    Y = base + 1e-4 * rng.standard_normal((60, 12))  # correlations of 1 − 1e-8, told apart only in double precision
    op = fantope.covariance(Y, kind="correlation")
    S = op.block(np.arange(12), np.arange(12))
    assert op.largest_off_diagonal() == pytest.approx(np.abs(S - np.eye(12)).max(), rel=1e-15)


def test_reducing_a_tile():
    values = np.array([[0.9, 0.2, 0.8], [0.1, 0.7, 0.6]])
    tile = Tile(values, np.array([3, 5]), np.array([10, 11, 12]), np.ones(2), np.ones(3), 0.15, False)
    rows, cols, bounds = forest(tile, 0.5)
    assert set(zip(rows, cols, strict=True)) == {(3, 10), (3, 12), (5, 11), (5, 12)}
    np.testing.assert_allclose(sorted(bounds), [0.75, 0.85, 0.95, 1.05])
    found = connections(tile, 0.5)  # certain above 0.65; (5, 12) at 0.6 is not
    assert set(zip(found.rows, found.cols, strict=True)) == {(3, 10), (3, 12), (5, 11)}
    assert list(zip(found.doubtful_rows, found.doubtful_cols, strict=True)) == [(5, 12)]
    top = largest(tile, 0.0)
    assert top.at_least == pytest.approx(0.75)
    assert set(zip(top.rows, top.cols, strict=True)) == {(3, 10), (3, 12), (5, 11)}
