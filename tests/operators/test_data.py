"""Blocks, products and moments against numpy, for every kind of source that lives in memory."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import fantope
from fantope.operators import DenseCovariance, columns, data

RNG = np.random.default_rng(0)
N, P = 23, 17
X = RNG.standard_normal((N, P)) * RNG.uniform(0.5, 3, P) + RNG.uniform(-4, 4, P)
X[:, 4] = X[:, 3]  # a duplicate
X[:, 9] = 2.5 * X[:, 8] + 1.0
COUNTS = RNG.poisson(0.4, (N, P))
COUNTS[0] += 1  # no column of zeros
KINDS = [(kind, center) for kind in ("covariance", "correlation") for center in (True, False)]


def reference(values, kind, center):
    Z = np.asarray(values, dtype=np.longdouble)
    Z = Z - Z.mean(axis=0) if center else Z
    S = Z.T @ Z / len(Z)
    if kind == "correlation":
        S = S / np.sqrt(np.outer(S.diagonal(), S.diagonal()))
        np.fill_diagonal(S, 1.0)
    return S


def forms(values):
    sparse = scipy.sparse.csr_array(values)
    return {
        "ndarray": values,
        "fortran": np.asfortranarray(values),
        "frame": pd.DataFrame(values, columns=[f"g{j}" for j in range(P)]),
        "sparse-frame": pd.DataFrame.sparse.from_spmatrix(scipy.sparse.csr_matrix(values)),
        "list": values.tolist(),
        "csr": sparse,
        "csc": sparse.tocsc(),
        "coo": sparse.tocoo(),
        "csr-matrix": scipy.sparse.csr_matrix(values),
        "csc-matrix": scipy.sparse.csc_matrix(values),
    }


@pytest.fixture(params=[4, 2048], ids=["small-tiles", "one-tile"])
def tile(request, monkeypatch):
    monkeypatch.setattr(data, "TILE", request.param)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "center"), KINDS)
@pytest.mark.parametrize("form", list(forms(X)))
@pytest.mark.parametrize("values", [X, COUNTS], ids=["dense", "counts"])
def test_equals_numpy(values, form, kind, center, tile):
    S = reference(values, kind, center)
    op = fantope.covariance(forms(values)[form], kind=kind, center=center)
    scale = float(np.abs(S).max())
    near = {"rtol": 0, "atol": 1e-13 * scale}
    assert (op.size, op.n_samples) == (P, N)
    everything = np.arange(P)
    whole = op.block(everything, everything)
    np.testing.assert_allclose(whole, S.astype(float), **near)
    np.testing.assert_array_equal(whole, whole.T)
    np.testing.assert_array_equal(whole.diagonal(), op.diagonal())
    rows, cols = np.array([5, 2, 16, 0]), np.array([0, 3, 5])
    block = op.block(rows, cols)
    np.testing.assert_allclose(block, S[np.ix_(rows, cols)].astype(float), **near)
    assert block[0, 2] == op.diagonal()[5]
    assert op.block(rows, np.zeros(0, dtype=np.intp)).shape == (4, 0)
    V = np.random.default_rng(1).standard_normal((P, 3))
    np.testing.assert_allclose(op.matmul(V), (S @ V).astype(float), rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(op.matmul(V[:, 0]), (S @ V[:, 0]).astype(float), rtol=0, atol=1e-12 * scale)
    off = np.abs(S - np.diag(S.diagonal()))
    assert op.largest_off_diagonal() == pytest.approx(float(off.max()), rel=1e-13)
    dense = DenseCovariance(S.astype(float))
    for alpha in np.quantile(off.astype(float), [0.0, 0.3, 0.7, 0.95]) * 1.0001:
        np.testing.assert_array_equal(op.component_labels(alpha), dense.component_labels(alpha))
        graph = op.graph(alpha)
        assert len(graph.rows) < P
        for larger in (alpha, 1.2 * alpha, 2 * alpha):
            np.testing.assert_array_equal(graph.component_labels(larger), dense.component_labels(larger))


def test_mean_and_scale():
    op = fantope.covariance(X, kind="correlation")
    np.testing.assert_allclose(op.mean, X.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(op.scale, X.std(axis=0), rtol=1e-13)
    op = fantope.covariance(X, center=False)
    assert not op.mean.any()
    assert (op.scale == 1).all()


def test_a_graph_serves_larger_alphas_only():
    graph = fantope.covariance(X).graph(1.0)
    with pytest.raises(ValueError, match=r"alpha must be at least 1\.0"):
        graph.component_labels(0.5)


def test_the_graph_stays_a_forest_however_many_pairs_there_are(monkeypatch):
    monkeypatch.setattr("fantope.operators.graph.GATHERED", 10)
    monkeypatch.setattr(data, "TILE", 3)
    op = fantope.covariance(X)
    graph = op.graph(0.0)
    S = op.block(np.arange(P), np.arange(P))
    assert len(graph.rows) == P - 1
    for alpha in (0.1, 0.5, 2.0):
        np.testing.assert_array_equal(graph.component_labels(alpha), DenseCovariance(S).component_labels(alpha))


@pytest.mark.parametrize("name", ["HELD", "HELD_UP_TO", "SINGLE_UP_TO", "CHUNK"])
def test_limits_of_memory_change_no_result(name, monkeypatch):
    monkeypatch.setattr(data, "TILE", 5)
    before = fantope.covariance(X)
    labels, block = before.component_labels(1.0), before.block(np.arange(P), np.arange(P))
    monkeypatch.setattr(columns, name, 600)  # bytes: a few rows; samples: as it was
    if name.endswith("UP_TO"):
        monkeypatch.setattr(columns, name, 10)
    after = fantope.covariance(X)
    np.testing.assert_array_equal(after.component_labels(1.0), labels)
    np.testing.assert_allclose(after.block(np.arange(P), np.arange(P)), block, rtol=0, atol=1e-14)
    assert after.largest_off_diagonal() == pytest.approx(before.largest_off_diagonal(), rel=1e-13)


def test_tiles_that_cannot_matter_are_not_computed(monkeypatch):
    monkeypatch.setattr(data, "TILE", 4)
    rng = np.random.default_rng(3)
    Y = rng.standard_normal((30, 40)) * np.r_[np.full(4, 10.0), np.full(36, 0.1)]
    op = fantope.covariance(Y)
    seen = []
    tiles = op.columns.tiles

    def counted(*args):
        values_of = tiles(*args)
        return lambda a, b: seen.append((a, b)) or values_of(a, b)

    op.columns.tiles = counted
    op.component_labels(5.0)
    assert seen == [(0, 0)]  # σ_i σ_j ≤ 10 · 0.1 everywhere else
    seen.clear()
    assert op.largest_off_diagonal() > 1.0
    assert len(seen) < 10
    seen.clear()
    op.component_labels(0.0)  # one component, as soon as the first row of tiles has shown it
    assert len(seen) < 20


def test_float32_stays_float32():
    Y = X.astype(np.float32)
    assert fantope.covariance(Y).columns.X is Y
    sparse = scipy.sparse.csc_array(Y)
    op = fantope.covariance(sparse)
    assert np.shares_memory(op.columns.X.data, sparse.data)
    np.testing.assert_allclose(
        op.block(np.arange(P), np.arange(P)), reference(Y, "covariance", True).astype(float), atol=1e-12
    )


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64, np.bool_, np.float16, np.longdouble])
def test_numbers_of_any_type(dtype):
    Y = COUNTS.astype(dtype)
    op = fantope.covariance(Y)
    np.testing.assert_allclose(
        op.block(np.arange(P), np.arange(P)), reference(Y, "covariance", True).astype(float), atol=1e-13
    )


def test_sparse_matrices_with_repeated_and_unsorted_entries():
    rows, cols = np.array([0, 0, 2, 1, 2]), np.array([1, 1, 0, 0, 1])
    values = np.array([1.0, 2.0, 5.0, 4.0, 6.0])
    repeated = scipy.sparse.csc_matrix((3, 2))
    repeated.indptr, repeated.indices, repeated.data = (
        np.array([0, 2, 5]),
        np.array([2, 1, 0, 2, 0]),
        values[[2, 3, 0, 4, 1]],
    )
    kept = repeated.data.copy()
    for X in (scipy.sparse.coo_array((values, (rows, cols)), shape=(3, 2)), repeated):
        np.testing.assert_allclose(
            fantope.covariance(X).block(np.arange(2), np.arange(2)),
            np.cov([[0, 3], [4, 0], [5, 6]], rowvar=False, bias=True),
        )
    np.testing.assert_array_equal(repeated.data, kept)


def test_two_samples():
    Y = np.array([[1.0, 2.0, 5.0], [3.0, 1.0, 5.0]])
    S = fantope.covariance(Y).block(np.arange(3), np.arange(3))
    np.testing.assert_allclose(S, np.cov(Y, rowvar=False, bias=True), atol=1e-15)
    R = fantope.covariance(Y[:, :2], kind="correlation").block(np.arange(2), np.arange(2))
    np.testing.assert_allclose(R, [[1, -1], [-1, 1]])


@pytest.mark.parametrize("n", [7, 3000])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e6 / 3, -1e-12, 1e150])
@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csc_array], ids=["dense", "sparse"])
def test_constant_columns(n, value, make):
    Y = np.random.default_rng(n).standard_normal((n, 4))
    Y[:, 2] = value
    op = fantope.covariance(make(Y))
    S = op.block(np.arange(4), np.arange(4))
    assert not S[2].any()
    assert not S[:, 2].any()
    assert op.diagonal()[2] == 0.0
    assert op.component_labels(0.0).tolist() == [0, 0, 1, 0]
    with pytest.raises(ValueError, match=r"no constant columns for kind='correlation', got 1: column 2; drop them"):
        fantope.covariance(make(Y), kind="correlation")


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csc_array], ids=["dense", "sparse"])
def test_a_small_deviation_from_a_large_mean(make):
    deviation = np.random.default_rng(1).integers(-8, 9, (50, 5)) / 8.0
    Y = deviation + np.array([0.0, 2.0**40, -(2.0**40), 2.0**20, 1.0])  # exact sums
    np.testing.assert_array_equal(Y - Y[0], deviation - deviation[0])
    for kind in ("covariance", "correlation"):
        op = fantope.covariance(make(Y), kind=kind)
        S = reference(deviation, kind, True).astype(float)
        np.testing.assert_allclose(op.block(np.arange(5), np.arange(5)), S, atol=1e-7)
        np.testing.assert_array_equal(op.component_labels(0.05), DenseCovariance(S).component_labels(0.05))
        value = op.columns.pairs(np.array([1, 0]), np.array([2, 4]), op.mean)
        np.testing.assert_allclose(value / op.scale[[1, 0]] / op.scale[[2, 4]], S[[1, 0], [2, 4]], atol=1e-7)


def test_sparse_columns_with_large_means_and_a_zero():
    rng = np.random.default_rng(2)
    Y = 1e6 + rng.standard_normal((400, 6))
    Y[3] = 0.0  # one zero a column is as bad as it can get: mean² ≈ n·variance
    S = reference(Y, "correlation", True).astype(float)
    op = fantope.covariance(scipy.sparse.csr_array(Y), kind="correlation")
    np.testing.assert_allclose(op.block(np.arange(6), np.arange(6)), S, atol=1e-9)
    alpha = float(S[0, 1])
    assert op.component_labels(alpha * (1 - 1e-12)).max() == 0  # within the margin: an edge


def test_sparse_memory_is_that_of_tiles(monkeypatch):
    monkeypatch.setattr(data, "TILE", 8)
    Y = scipy.sparse.random_array((30, 200), density=0.2, random_state=np.random.default_rng(0), format="csr")
    op = fantope.covariance(Y)
    sizes = []
    tiles = op.columns.tiles

    def watched(*args):
        values_of = tiles(*args)

        def of(a, b):
            found = values_of(a, b)
            sizes.append(found[0].size)
            return found

        return of

    op.columns.tiles = watched
    op.largest_off_diagonal()
    assert max(sizes) <= 64
