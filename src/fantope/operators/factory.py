"""From whatever holds the data to an operator."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.sparse

from fantope.operators.columns import ArrayColumns, SparseColumns
from fantope.operators.data import DataCovariance


def covariance(
    X: Any, *, kind: Literal["covariance", "correlation"] = "covariance", center: bool = True
) -> DataCovariance:
    """Return the covariance or correlation matrix of X as an operator; nothing p × p is formed.

    Parameters
    ----------
    X : (n, p) ndarray, DataFrame, scipy.sparse matrix, numpy memmap, zarr array, dask array or AnnData
        Rows are samples. Sparse data stay sparse: centring and scaling are implicit. float32 data stay float32.
    kind : {"covariance", "correlation"}
        The covariance divides by n, as in the paper.
    center : bool, default True
        Subtract the column means.

    Returns
    -------
    DataCovariance
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
    if kind not in ("covariance", "correlation"):
        raise ValueError(f"kind must be 'covariance' or 'correlation', got {kind!r}.")
    names = None
    if hasattr(X, "var_names"):  # AnnData, in memory or backed
        names, X = [str(name) for name in X.var_names], X.X
    elif hasattr(X, "iloc"):  # DataFrame
        names = [str(name) for name in X.columns]
        texts = [name for name, kind_ in zip(names, X.dtypes, strict=True) if kind_.kind not in "iufb"]
        if texts:
            raise ValueError(f"X must hold numbers, got text in column {texts[0]!r}; drop it or encode it.")
        X = X.to_numpy()
    if type(X).__module__.startswith("dask."):
        from fantope.operators.dask import DaskCovariance

        return DaskCovariance(X, kind, center, names)
    columns = SparseColumns(X) if scipy.sparse.issparse(X) else ArrayColumns(_array(X))
    n, p = columns.shape
    if n < 2:
        raise ValueError(f"X must have at least 2 rows (samples), got shape {columns.shape}.")
    if p < 2:
        raise ValueError(f"X must have at least 2 columns (variables), got shape {columns.shape}.")
    return DataCovariance(columns, kind, center, names)


def _array(X: Any) -> Any:
    """Return X itself if it can be sliced like an array, an ndarray otherwise; numbers in two dimensions."""
    if not (hasattr(X, "shape") and hasattr(X, "dtype")):
        X = np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X must be a two-dimensional (samples, variables) array, got shape {tuple(X.shape)}.")
    if np.dtype(X.dtype).kind not in "iufb":
        raise ValueError(f"X must hold numbers, got dtype {X.dtype}; drop or encode text columns.")
    return X
