"""From whatever holds the data to an operator."""

from __future__ import annotations

from math import ceil, prod
from mmap import ALLOCATIONGRANULARITY
from typing import Any, Literal, overload

import numpy as np
import scipy.sparse

from fantope.checks import check_finite, is_sparse, unmasked
from fantope.errors import InputError, check_choice, require
from fantope.operators.columns import ArrayColumns, TiledColumns
from fantope.operators.data import DataCovariance, LocalCovariance
from fantope.operators.pairwise import PairwiseCovariance, pairwise
from fantope.operators.ranks import METHODS, Method, check_sample_weight, transformed, weighted
from fantope.operators.sparse import SparseColumns, from_backed
from fantope.typing import Array

Kind = Literal["covariance", "correlation"]
NUMBERS = "iufb"  # kinds of NumPy types: signed and unsigned integers, floats, booleans


@overload
def covariance(
    X: Any, *, kind: Kind = "covariance", center: bool = True, layer: str | None = None, method: Method = "pearson",
    missing: Literal["error"] = "error", sample_weight: Any = None,
) -> DataCovariance: ...  # fmt: skip


@overload
def covariance(
    X: Any, *, kind: Kind = "covariance", center: bool = True, layer: str | None = None, method: Method = "pearson",
    missing: Literal["pairwise"], sample_weight: Any = None,
) -> PairwiseCovariance: ...  # fmt: skip


def covariance(
    X: Any,
    *,
    kind: Kind = "covariance",
    center: bool = True,
    layer: str | None = None,
    method: Method = "pearson",
    missing: Literal["error", "pairwise"] = "error",
    sample_weight: Any = None,
) -> DataCovariance | PairwiseCovariance:
    """Return the covariance or correlation matrix of X as an operator; nothing p × p is formed.

    S = (X − 1μᵀ)ᵀ(X − 1μᵀ)/n, and S_ij/√(S_ii S_jj) for a correlation.

    Parameters
    ----------
    X : (n, p) ndarray, DataFrame, scipy.sparse matrix, numpy memmap, zarr or HDF5 array, dask array or AnnData
        Rows are samples. Sparse data stay sparse, in compressed columns in memory: centring and scaling are implicit.
        float32 data stay float32. Files and stores are read a slab at a time, dask arrays by the workers.
    kind : {"covariance", "correlation"}
        The covariance divides by n, as in the paper.
    center : bool, default True
        Subtract the column means.
    layer : str, optional
        The layer of an AnnData object to take instead of ``X.X``.
    method : {"pearson", "spearman", "kendall", "normal-scores"}
        Correlations of values, of ranks, of the signs of differences (tau-b), or of normal scores Φ⁻¹(rank/(n + 1)).
        All but the first need kind="correlation" and X in memory; "kendall" takes n²/2 numbers a variable.
    missing : {"error", "pairwise"}
        "pairwise": each entry of S is from the samples that have both variables, with ranks, if any, taken within each
        column. S is formed, for up to 10,000 variables, and may be indefinite, which no solver and no certificate
        minds. ``fewest_pairs`` and ``n_pairs`` of the result say how many samples entries rest on.
    sample_weight : (n,) array, optional
        S = Σ w_k(x_k − μ)(x_k − μ)ᵀ/Σw with the weighted means μ; for method="pearson".

    Returns
    -------
    DataCovariance or PairwiseCovariance
        To be passed wherever a matrix S is.

    Examples
    --------
    >>> import numpy as np, fantope
    >>> X = np.random.default_rng(0).standard_normal((50, 2000))
    >>> X[:, :10] += 3 * X[:, [0]]
    >>> op = fantope.covariance(X, kind="correlation")
    >>> sol = fantope.solve(op, 1, 0.6)
    >>> sol.support.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    require(kind in ("covariance", "correlation"), "kind", "be 'covariance' or 'correlation'", repr(kind))
    names, X = _named(unmasked("X", X), layer)
    if method != "pearson" or missing != "error" or sample_weight is not None:
        return _changed(_in_memory(X), names, kind, center, method, missing, sample_weight)
    if _is_dask(X):
        from fantope.operators.dask import DaskColumns, DaskCovariance

        return DaskCovariance(DaskColumns(X), kind, center, names)
    return LocalCovariance(_columns(X), kind, center, names)


def _changed(
    X: Array, names: list[str] | None, kind: Kind, center: bool, method: Any,
    missing: Any, sample_weight: Any,
) -> DataCovariance | PairwiseCovariance:  # fmt: skip
    """Return S of ranks, of weighted samples, or over pairwise complete samples."""
    check_choice("method", method, METHODS)
    require(missing in ("error", "pairwise"), "missing", "be 'error' or 'pairwise'", repr(missing))
    if method != "pearson" and (kind != "correlation" or not center):
        raise InputError(
            argument="method", expected="'pearson' with kind='covariance' or center=False", got=repr(method),
            remedy="ranks have correlations only: say kind='correlation'",
        )  # fmt: skip
    weights = None if sample_weight is None else check_sample_weight(sample_weight, len(X))
    if weights is not None and method != "pearson":
        raise InputError(argument="sample_weight", expected="left out with a method of ranks", got=repr(method))
    center = center and method != "kendall"
    if missing == "pairwise":
        require(not np.isinf(X).any(), "X", "be finite numbers, or NaN where a value is missing", "infinity")
        present = ~np.isnan(X)
        return pairwise(transformed(X, method), present, kind, center, names, weights)
    if method != "pearson":
        check_finite(X, "X", names, first_row=0)
    if weights is not None:
        check_finite(X, "X", names, first_row=0)
        X, center = weighted(X, weights, center), False
    op = LocalCovariance(ArrayColumns(transformed(X, method)), kind, center, names)
    op.n_observations = len(X)
    return op


def _in_memory(X: Any) -> Array:
    """Return X as an array; ranks, weights and missing values need all of it."""
    if _is_dask(X) or scipy.sparse.issparse(X) or hasattr(X, "to_memory"):
        raise InputError(
            argument="X", expected="an array or DataFrame in memory for ranks, sample weights and missing values",
            got=type(X).__name__, remedy="pass X.toarray(), or X.compute()",
        )  # fmt: skip
    values = np.asarray(X)
    check_shape(values.shape, values.dtype)
    return values.astype(np.float64)


def _is_dask(X: Any) -> bool:
    return type(X).__module__.split(".")[0] in ("dask", "dask_expr")  # without importing it


def _named(X: Any, layer: str | None) -> tuple[list[str] | None, Any]:
    """Return the names of the variables, if there are any, and what holds the numbers."""
    annotated = not _is_dask(X) and hasattr(X, "var_names")
    if layer is not None and not annotated:
        raise ValueError(f"layer is for AnnData objects only, got layer={layer!r} with {type(X).__name__}.")
    if annotated:
        if layer is not None and layer not in X.layers:
            known = ", ".join(map(repr, X.layers)) or "none"
            raise ValueError(f"layer must be one of the layers of X ({known}), got {layer!r}.")
        values = X.X if layer is None else X.layers[layer]
        if values is None:
            raise ValueError("X has no matrix of its own (X.X is None); name one of its layers with layer=….")
        return [str(name) for name in X.var_names], values
    if not _is_dask(X) and hasattr(X, "iloc") and hasattr(X, "to_numpy"):
        return _frame(X)
    return None, X


def _frame(X: Any) -> tuple[list[str] | None, Any]:
    if not hasattr(X, "columns"):
        raise ValueError(f"X must have two dimensions (samples, variables), got a {type(X).__name__}; use a DataFrame.")
    names = [str(name) for name in X.columns]
    kinds = list(X.dtypes)
    texts = [j for j, kind in enumerate(kinds) if getattr(kind, "kind", "O") not in NUMBERS]
    if texts:
        more = f" and {len(texts) - 1} more" if len(texts) > 1 else ""
        raise ValueError(
            f"X must hold numbers, got {kinds[texts[0]]} in column {names[texts[0]]!r}{more}; drop it or encode it."
        )
    if kinds and all(type(kind).__name__ == "SparseDtype" for kind in kinds):
        return names, X.sparse.to_coo()
    if all(isinstance(kind, np.dtype) for kind in kinds):
        return names, X.to_numpy()
    return names, X.to_numpy(dtype=np.float64, na_value=np.nan)  # nullable columns


def _columns(X: Any) -> TiledColumns:
    """Return the columns of a matrix of numbers with at least two rows and two columns."""
    backed = hasattr(X, "to_memory") and hasattr(X, "format")  # a sparse matrix in a file of AnnData
    if isinstance(X, np.matrix) or not (backed or is_sparse(X) or (hasattr(X, "shape") and hasattr(X, "dtype"))):
        X = np.asarray(X)
    check_shape(tuple(X.shape), X.dtype)
    if backed:
        return SparseColumns(from_backed(X))
    if scipy.sparse.issparse(X):
        return SparseColumns(X)
    check_mapped(X)
    check_chunks(X)
    return ArrayColumns(X)


def check_shape(shape: tuple[int, ...], dtype: Any) -> None:
    """Refuse what is not a matrix of numbers with two rows and two columns."""
    require(len(shape) == 2, "X", "be a two-dimensional (samples, variables) array", f"shape {shape}")
    require(np.dtype(dtype).kind in NUMBERS, "X", "hold numbers", f"dtype {dtype}", "drop or encode text columns")
    require(shape[0] >= 2, "X", "have at least 2 rows (samples)", f"shape {shape}")
    require(shape[1] >= 2, "X", "have at least 2 columns (variables)", f"shape {shape}")


def check_mapped(X: Any) -> None:
    """Refuse a mapped file that has become shorter than its map: reading it would end the process."""
    mapped = getattr(X, "_mmap", None)
    if mapped is None:
        return
    offset = int(getattr(X, "offset", 0))
    page = offset - offset % ALLOCATIONGRANULARITY
    try:
        size = int(mapped.size())
    except (OSError, ValueError):
        return
    if size < page + len(mapped):
        raise ValueError(
            f"X maps {page + len(mapped):,} bytes of {getattr(X, 'filename', None)}, which has only {size:,}: the file "
            "is truncated; write it again."
        )


def check_chunks(X: Any) -> None:
    """Refuse a zarr array with chunks that are not in its store: zarr would silently read its fill value."""
    if not hasattr(X, "nchunks_initialized"):
        return
    stored, expected, what = X.nchunks_initialized, X.nchunks, "chunks"
    if getattr(X, "shards", None):
        stored //= prod(shard // chunk for shard, chunk in zip(X.shards, X.chunks, strict=True))
        expected, what = prod(ceil(size / shard) for size, shard in zip(X.shape, X.shards, strict=True)), "shards"
    if stored < expected:
        raise ValueError(
            f"X lacks {expected - stored} of its {expected} {what} in the zarr store, which zarr would read as "
            f"{X.fill_value}: copy the store again, or, if they are meant, write it with "
            "config={'write_empty_chunks': True} or pass X[:]."
        )
