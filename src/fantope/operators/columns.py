"""Where the columns of a data matrix come from: memory, a sparse matrix, a file, a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
import scipy.sparse

from fantope.typing import AnyArray, Array, IntArray

CHUNK = 64 * 2**20  # bytes of a chunked or mapped array that are held at a time while its moments are computed


class Columns(Protocol):
    """A data matrix of n rows (samples) and p columns (variables)."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p)."""
        ...

    def moments(self) -> tuple[Array, Array]:
        """Return the mean and the (centred) mean square of each column, in float64."""
        ...

    def gather(self, columns: IntArray) -> AnyArray:
        """Return the (n, k) columns as a dense array."""
        ...

    def times(self, V: Array) -> Array:
        """Return X V."""
        ...

    def transposed_times(self, V: Array) -> Array:
        """Return Xᵀ V."""
        ...


class ArrayColumns:
    """Columns of anything that is indexed like a two-dimensional array: ndarray, memmap, zarr, HDF5.

    Parameters
    ----------
    X : array-like with ``shape`` and slicing
        Never copied whole.
    """

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))

    def moments(self) -> tuple[Array, Array]:
        """Read the array once for the means and once for the mean squares, a slab of rows at a time."""
        n, p = self.shape
        mean = np.zeros(p)
        for start, slab in self._slabs():
            _check_finite(slab, start)
            mean += slab.sum(axis=0)
        mean /= n
        square = np.zeros(p)
        for _, slab in self._slabs():
            slab = slab - mean
            square += np.einsum("ij,ij->j", slab, slab)
        return mean, square / n

    def times(self, V: Array) -> Array:
        """Return X V, a slab of rows at a time."""
        return np.concatenate([slab @ V for _, slab in self._slabs()])

    def transposed_times(self, V: Array) -> Array:
        """Return Xᵀ V, a slab of rows at a time."""
        total = np.zeros((self.shape[1], *V.shape[1:]))
        for start, slab in self._slabs():
            total += slab.T @ V[start : start + len(slab)]
        return total

    def _slabs(self) -> Iterator[tuple[int, Array]]:
        step = max(1, CHUNK // (8 * max(self.shape[1], 1)))
        for start in range(0, self.shape[0], step):
            yield start, self._slab(start, start + step)

    def _slab(self, start: int, stop: int) -> Array:
        return np.asarray(self.X[start:stop], dtype=np.float64)

    def gather(self, columns: IntArray) -> AnyArray:
        """Return the (n, k) columns."""
        if isinstance(self.X, np.ndarray):
            return self.X[:, columns]
        # Stores want rising, distinct indices; a run of neighbours is read as a slice.
        unique, inverse = np.unique(columns, return_inverse=True)
        if len(unique) and unique[-1] - unique[0] + 1 == len(unique):
            found = np.asarray(self.X[:, int(unique[0]) : int(unique[-1]) + 1])
        elif hasattr(self.X, "oindex"):
            found = np.asarray(self.X.oindex[:, unique])
        else:
            found = np.asarray(self.X[:, unique])
        return found[:, inverse]


class SparseColumns:
    """Columns of a scipy.sparse matrix; centring and scaling stay implicit.

    Parameters
    ----------
    X : sparse matrix or array
        Converted to compressed columns, never to a dense matrix.
    """

    def __init__(self, X: Any) -> None:
        self.X = scipy.sparse.csc_array(X)
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))

    def moments(self) -> tuple[Array, Array]:
        """Return means and centred mean squares from the stored entries."""
        n, p = self.shape
        data = self.X.data.astype(np.float64)
        _check_finite(data[:, None], 0)
        column = np.repeat(np.arange(p), np.diff(self.X.indptr))
        mean = np.bincount(column, data, minlength=p) / n
        deviation = np.bincount(column, (data - mean[column]) ** 2, minlength=p)
        zeros = n - np.diff(self.X.indptr)
        return mean, (deviation + zeros * mean**2) / n

    def gather(self, columns: IntArray) -> AnyArray:
        """Return the (n, k) columns, dense."""
        return np.asarray(self.X[:, columns].toarray())

    def times(self, V: Array) -> Array:
        """Return X V."""
        return np.asarray(self.X @ V)

    def transposed_times(self, V: Array) -> Array:
        """Return Xᵀ V."""
        return np.asarray(self.X.T @ V)

    def products(self, rows: IntArray, cols: IntArray) -> Array:
        """Return X[:, rows]ᵀ X[:, cols] without a dense copy of either."""
        left = self.X[:, rows].astype(np.float64)
        right = left if rows is cols else self.X[:, cols].astype(np.float64)
        return np.asarray((left.T @ right).toarray())


def _check_finite(slab: AnyArray, first_row: int) -> None:
    if not np.isfinite(slab).all():
        row, column = np.argwhere(~np.isfinite(slab))[0]
        raise ValueError(
            f"X must be finite, got {slab[row, column]} in row {first_row + row}, column {column}; remove or impute "
            "missing values first (`fantope fit --impute mean|drop`)."
        )
