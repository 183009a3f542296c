"""Data in files and stores, and the sentences for data that cannot be used."""

import os

import anndata
import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import zarr

import fantope
from fantope.operators import columns, data, sparse
from fantope.testing import check_covariance

RNG = np.random.default_rng(0)
N, P = 40, 30
X = RNG.standard_normal((N, P)) + RNG.standard_normal((N, 1)) * RNG.uniform(-2, 2, P)
COUNTS = RNG.poisson(0.6, (N, P)).astype(np.float32)
COUNTS[0] += 1
X.flags.writeable = COUNTS.flags.writeable = False
NAMES = [f"gene{j}" for j in range(P)]


def memmapped(folder, values):
    np.save(folder / "X.npy", values)
    return np.load(folder / "X.npy", mmap_mode="r")


def raw_memmap(folder, values):
    with open(folder / "X.bin", "wb") as file:
        file.write(b"x" * 5000)
        file.write(values.tobytes())
    return np.memmap(folder / "X.bin", dtype=values.dtype, mode="r", offset=5000, shape=values.shape)


def zarr_array(folder, values, **options):
    array = zarr.create_array(
        store=folder / "X.zarr", shape=values.shape, chunks=(9, 7), dtype=values.dtype, overwrite=True, **options
    )
    array[:] = values
    return zarr.open_array(folder / "X.zarr", mode="r")


def sharded(folder, values):
    return zarr_array(folder, values, shards=(18, 14))


def hdf5(folder, values, chunks=(11, 8)):
    with h5py.File(folder / "X.h5", "w") as file:
        file.create_dataset("X", data=values, chunks=chunks)
    return h5py.File(folder / "X.h5", "r")["X"]


def hdf5_contiguous(folder, values):
    return hdf5(folder, values, chunks=None)


def annotated(values):
    return anndata.AnnData(values, var=pd.DataFrame(index=NAMES))


def backed(folder, values):
    annotated(values).write_h5ad(folder / "X.h5ad")
    return anndata.read_h5ad(folder / "X.h5ad", backed="r")


def backed_csr(folder, values):
    return backed(folder, scipy.sparse.csr_matrix(values))


def backed_csc(folder, values):
    return backed(folder, scipy.sparse.csc_matrix(values))


def in_memory(folder, values):
    return annotated(values)


def layered(folder, values):
    adata = annotated(np.zeros_like(values))
    adata.layers["counts"] = values
    return adata


SOURCES = [memmapped, raw_memmap, zarr_array, sharded, hdf5, hdf5_contiguous, backed, backed_csr, backed_csc, in_memory]


@pytest.mark.slow
@pytest.mark.parametrize("chunk", [2500, 2**26], ids=["slabs", "whole"])
@pytest.mark.parametrize("values", [X, COUNTS], ids=["float64", "counts"])
@pytest.mark.parametrize("source", SOURCES)
def test_equals_the_array_in_memory(source, values, chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "CHUNK", chunk)
    monkeypatch.setattr(columns, "FEW", 3)
    monkeypatch.setattr(sparse, "CHUNK", chunk)
    monkeypatch.setattr(sparse, "ENTRIES", max(chunk // 16, 10))
    monkeypatch.setattr(data, "TILE", 8)
    expected = fantope.covariance(values, kind="correlation")
    held = source(tmp_path, values)
    op = fantope.covariance(held, kind="correlation")
    near = {"rtol": 0, "atol": 1e-13}
    np.testing.assert_allclose(op.mean, expected.mean, **near)
    np.testing.assert_allclose(op.scale, expected.scale, **near)
    picks = [np.arange(P), np.array([3, 4, 5, 6]), np.array([20, 1, 7, 29, 13]), np.array([2, 9])]
    for rows in picks:
        for cols in picks:
            np.testing.assert_allclose(op.block(rows, cols), expected.block(rows, cols), **near)
    V = np.random.default_rng(1).standard_normal((P, 2))
    np.testing.assert_allclose(op.matmul(V), expected.matmul(V), rtol=0, atol=1e-12)
    for held_bytes in (columns.HELD, 0):
        monkeypatch.setattr(columns, "HELD", held_bytes)
        for alpha in (0.3, 0.6, 0.8):
            np.testing.assert_array_equal(op.component_labels(alpha), expected.component_labels(alpha))
    assert op.largest_off_diagonal() == pytest.approx(expected.largest_off_diagonal(), rel=1e-13)
    assert op.names == (NAMES if isinstance(held, anndata.AnnData) else None)
    check_covariance(op)
    solution = fantope.solve(op, 2, 0.6)
    assert solution.verify(expected).gap < 1e-4


@pytest.mark.slow
def test_a_backed_sparse_matrix_is_read_in_slabs_in_its_own_precision(tmp_path, monkeypatch):
    monkeypatch.setattr(sparse, "CHUNK", 12 * 50)
    op = fantope.covariance(backed_csr(tmp_path, COUNTS))
    assert op.columns.X.data.dtype == np.float32
    np.testing.assert_array_equal(op.columns.X.toarray(), COUNTS)


def test_layers(tmp_path):
    adata = layered(tmp_path, X)
    everything = np.arange(P)
    expected = fantope.covariance(X).block(everything, everything)
    op = fantope.covariance(adata, layer="counts")
    np.testing.assert_array_equal(op.block(everything, everything), expected)
    with pytest.raises(ValueError, match=r"layer must be one of the layers of X \('counts'\), got 'raw'"):
        fantope.covariance(adata, layer="raw")
    with pytest.raises(ValueError, match=r"layer is for AnnData objects only, got layer='counts' with ndarray"):
        fantope.covariance(X, layer="counts")
    with pytest.raises(ValueError, match=r"X has no matrix of its own .* layer="):
        fantope.covariance(anndata.AnnData(obs=pd.DataFrame(index=["a", "b"]), var=pd.DataFrame(index=["c", "d"])))


def test_names_may_repeat():
    frame = pd.DataFrame(X.copy(), columns=["a", "b"] * (P // 2))
    op = fantope.covariance(frame)
    assert op.names[:3] == ["a", "b", "a"]
    assert fantope.solve(op, 1, 1.0).n_features == P
    frame.iloc[3, 5] = np.nan
    with pytest.raises(ValueError, match=r"got nan in row 3, column 5 \('b'\)"):
        fantope.covariance(frame)


def test_nullable_columns():
    frame = pd.DataFrame({"a": pd.array([1, 2, 4], dtype="Int64"), "b": [0.5, 0.1, 0.2]})
    np.testing.assert_allclose(fantope.covariance(frame).mean, [7 / 3, 0.8 / 3])
    frame.loc[1, "a"] = pd.NA
    with pytest.raises(ValueError, match=r"got nan in row 1, column 0 \('a'\).*impute"):
        fantope.covariance(frame)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("source", [None, "sparse", zarr_array, hdf5])
def test_values_that_are_not_finite_are_placed(source, value, tmp_path, monkeypatch):
    monkeypatch.setattr(columns, "CHUNK", 700)
    monkeypatch.setattr(sparse, "ENTRIES", 50)
    bad = np.where(COUNTS == 0, 0.0, COUNTS)
    bad[17, 12] = value
    held = {None: lambda: bad, "sparse": lambda: scipy.sparse.csr_array(bad)}.get(
        source, lambda: source(tmp_path, bad)
    )()
    with pytest.raises(ValueError, match=rf"X must be finite, got {value} in row 17, column 12; remove or impute"):
        fantope.covariance(held)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (pd.DataFrame({"a": [1.0, 2], "dose": ["x", "y"]}), r"got object in column 'dose'; drop it or encode it"),
        (pd.DataFrame({"u": ["p", "q"], "a": [1, 2], "v": ["x", "y"]}), r"column 'u' and 1 more"),
        (pd.DataFrame({"a": [1, 2], "t": pd.to_datetime(["2020", "2021"])}), r"got datetime64.* in column 't'"),
        (pd.Series([1.0, 2.0]), r"got a Series; use a DataFrame"),
        (np.array([["a", "b"], ["c", "d"]]), r"X must hold numbers, got dtype <U1"),
        (np.array([[1, None], [2, 3]], dtype=object), r"X must hold numbers, got dtype object"),
        (np.ones((3, 3), dtype=complex), r"X must hold numbers, got dtype complex128"),
        (scipy.sparse.csr_array(np.eye(3, dtype=complex)), r"got dtype complex128"),
        (np.ones(5), r"two-dimensional \(samples, variables\) array, got shape \(5,\)"),
        (np.ones((2, 2, 2)), r"two-dimensional"),
        (None, r"two-dimensional"),
        (np.ones((1, 5)), r"at least 2 rows \(samples\), got shape \(1, 5\)"),
        (scipy.sparse.csr_array(np.ones((1, 5))), r"at least 2 rows"),
        (np.ones((5, 1)), r"at least 2 columns \(variables\), got shape \(5, 1\)"),
        (np.ones((0, 0)), r"at least 2 rows"),
        (np.array([[1e200, 1.0], [-1e200, 2.0]]), r"overflow in column 0"),
    ],
)
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
def test_data_that_cannot_be_used(bad, message):
    with pytest.raises(ValueError, match=message):
        fantope.covariance(bad)


def test_bad_kind():
    with pytest.raises(ValueError, match=r"kind must be 'covariance' or 'correlation', got 'spearman'"):
        fantope.covariance(X, kind="spearman")


def test_constant_columns_are_named():
    frame = pd.DataFrame(X, columns=NAMES).assign(gene3=1.0, gene8=2.0)
    with pytest.raises(ValueError, match=r"no constant columns .* got 2: 'gene3', 'gene8'; drop them"):
        fantope.covariance(frame, kind="correlation")
    with pytest.raises(ValueError, match=r"got 30: column 0, column 1, column 2, column 3, column 4, …; drop"):
        fantope.covariance(np.ones((4, 30)), kind="correlation")
    with pytest.raises(ValueError, match=r"no columns of zeros"):
        fantope.covariance(np.zeros((4, 3)), kind="correlation", center=False)


@pytest.mark.parametrize(("make", "what"), [(zarr_array, "1 of its 25 chunks"), (sharded, "1 of its 9 shards")])
def test_a_missing_chunk_is_noticed(make, what, tmp_path):
    make(tmp_path, X)
    (tmp_path / "X.zarr" / "c" / "1" / "2").unlink()
    broken = zarr.open_array(tmp_path / "X.zarr", mode="r")
    with pytest.raises(ValueError, match=rf"X lacks {what} in the zarr store, which zarr would read as 0\.0: copy"):
        fantope.covariance(broken)


def test_chunks_that_are_meant_to_be_empty(tmp_path):
    values = X.copy()
    values[:9, :7] = 0.0
    array = zarr_array(tmp_path, values, config={"write_empty_chunks": True})
    np.testing.assert_allclose(fantope.covariance(array).mean, values.mean(axis=0))
    array = zarr_array(tmp_path, values)
    with pytest.raises(ValueError, match="write_empty_chunks"):
        fantope.covariance(array)
    np.testing.assert_allclose(fantope.covariance(array[:]).mean, values.mean(axis=0))


def test_a_damaged_chunk_is_placed(tmp_path):
    array = zarr_array(tmp_path, X, compressors=None)
    (tmp_path / "X.zarr" / "c" / "2" / "1").write_bytes(b"short")
    with pytest.raises(OSError, match=r"X could not be read in rows 0 to 39 \(.*\); the file or store is truncated"):
        fantope.covariance(array)


def test_a_damaged_hdf5_chunk_is_placed(tmp_path):
    with h5py.File(tmp_path / "X.h5", "w") as file:
        file.create_dataset("X", data=X, chunks=(11, 8), compression="gzip")
        file["X"].id.write_direct_chunk((0, 0), b"no gzip", filter_mask=0)
    with pytest.raises(OSError, match=r"X could not be read in rows 0 to 39 \(.*\); the file or store is truncated"):
        fantope.covariance(h5py.File(tmp_path / "X.h5", "r")["X"])


@pytest.mark.parametrize("make", [memmapped, raw_memmap])
def test_a_truncated_mapped_file_is_noticed(make, tmp_path):
    mapped = make(tmp_path, X)
    for view in (mapped, mapped[5:, 3:]):
        fantope.covariance(view)
    os.truncate(mapped.filename, 8000)
    for view in (mapped, mapped[5:, 3:]):
        with pytest.raises(ValueError, match=r"X maps .* bytes of .*, which has only 8,000: the file is truncated"):
            fantope.covariance(view)


def test_a_truncated_backed_matrix_is_noticed(tmp_path):
    adata = backed_csr(tmp_path, COUNTS)
    adata.file.close()
    with h5py.File(tmp_path / "X.h5ad", "r+") as file:
        del file["X/data"]
        file.create_dataset("X/data", data=np.ones(5, dtype=np.float32))
    with pytest.raises(OSError, match="X could not be read from its file"):
        fantope.covariance(anndata.read_h5ad(tmp_path / "X.h5ad", backed="r"))
