"""Columns of a sparse matrix: never dense, with centring and scaling left implicit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse

from fantope.checks import not_finite
from fantope.operators.columns import CHUNK, TileValues, rounding
from fantope.typing import AnyArray, Array, IntArray

ENTRIES = 2**22  # stored entries that are held in double precision at a time


class SparseColumns:
    """Columns of a scipy.sparse matrix.

    It is kept in compressed columns. A matrix that comes in any other format is converted, which for the moment takes
    the memory of both; a matrix in compressed columns is shared, not copied.
    """

    def __init__(self, X: Any) -> None:
        self.X = scipy.sparse.csc_array(X)
        if not self.X.has_canonical_format:
            self.X = self.X.copy()  # never change what the user holds
            self.X.sum_duplicates()
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        self._stored = np.diff(self.X.indptr)

    def moments(self, names: list[str] | None = None) -> tuple[Array, Array, Array]:
        """Return means and centred mean squares from the stored entries, a run of columns at a time."""
        n, p = self.shape
        mean, more, square = np.zeros(p), np.zeros(p), np.zeros(p)
        for first, last, data, column in self._runs():
            bad = ~np.isfinite(data)
            if bad.any():
                at = int(bad.argmax())
                row = int(self.X.indices[int(self.X.indptr[first]) + at])
                raise not_finite("X", float(data[at]), row, first + int(column[at]), names)
            size, zeros = last - first, n - self._stored[first:last]
            m = np.bincount(column, data, minlength=size) / n
            data -= m[column]
            rest = (np.bincount(column, data, minlength=size) - zeros * m) / n
            total = np.bincount(column, data**2, minlength=size) + zeros * m**2
            mean[first:last], more[first:last] = m, rest
            square[first:last] = np.maximum(total / n - rest**2, 0.0)
        return mean, more, square

    def _runs(self) -> Iterator[tuple[int, int, Array, IntArray]]:
        """Yield (first column, last + 1, stored entries, the column of each, counted from the first)."""
        first, p, indptr = 0, self.shape[1], self.X.indptr
        while first < p:
            last = int(np.searchsorted(indptr, int(indptr[first]) + ENTRIES, side="right")) - 1
            last = min(max(last, first + 1), p)
            data = self.X.data[indptr[first] : indptr[last]].astype(np.float64)
            yield first, last, data, np.repeat(np.arange(last - first), self._stored[first:last])
            first = last

    def times(self, V: Array) -> Array:
        """Return X V."""
        return np.asarray(self.X @ V)

    def transposed_times(self, V: Array) -> Array:
        """Return Xᵀ V."""
        return np.asarray(self.X.T @ V)

    def _implicit(self, mean: Array) -> Array:
        """Return the part of each mean that is subtracted from products, not from entries.

        A column without zeros is centred entry by entry: it may have a mean that is huge against its deviation, and
        subtracting products would cancel every digit. A column with a zero cannot: mean² ≤ n·variance.
        """
        return np.where(self._stored == self.shape[0], 0.0, mean)

    def _part(self, columns: IntArray, mean: Array) -> Any:
        part = self.X[:, columns].astype(np.float64)
        part.data -= np.repeat(mean[columns] - self._implicit(mean)[columns], self._stored[columns])
        return part

    def products(self, rows: IntArray, cols: IntArray | None, mean: Array) -> Array:
        """Σ(x − μ)(y − ν) = Σxy − μΣy − νΣx + nμν, with the sum of products over stored entries alone."""
        left = self._part(rows, mean)
        return self._centred(left, rows, left if cols is None else self._part(cols, mean), cols, mean)

    def _centred(self, left: Any, rows: IntArray, right: Any, cols: IntArray | None, mean: Array) -> Array:
        n = self.shape[0]
        product: Array = (left.T @ right).toarray()
        product /= n
        implicit = self._implicit(mean)
        mu, nu = implicit[rows], implicit[rows if cols is None else cols]
        if mu.any() or nu.any():
            product -= np.outer(mu, np.asarray(right.sum(axis=0)).ravel() / n - nu)
            product -= np.outer(np.asarray(left.sum(axis=0)).ravel() / n, nu)
        return product

    def pairs(self, rows: IntArray, cols: IntArray, mean: Array) -> Array:
        """Return the products of pairs of columns."""
        n = self.shape[0]
        left, right = self._part(rows, mean), self._part(cols, mean)
        implicit = self._implicit(mean)
        mu, nu = implicit[rows], implicit[cols]
        first, second = (np.asarray(part.sum(axis=0)).ravel() / n for part in (left, right))
        found: Array = np.asarray(left.multiply(right).sum(axis=0)).ravel() / n - mu * (second - nu) - nu * first
        return found

    def tiles(self, mean: Array, norm: Array, groups: list[IntArray]) -> Callable[[int, int], TileValues]:
        """Return correlations in double precision; the error grows where implicit centring cancels."""
        inflation = np.sqrt(1.0 + (self._implicit(mean) / norm) ** 2)
        most = [float(inflation[group].max()) for group in groups]
        held: list[Any] = [-1, None]  # the rows of tiles share their left side

        def multiplied(a: int, b: int) -> TileValues:
            if held[0] != a:
                held[:] = [a, self._part(groups[a], mean)]
            rows, cols = groups[a], groups[b]
            right = held[1] if a == b else self._part(cols, mean)
            values = self._centred(held[1], rows, right, None if a == b else cols, mean)
            values /= norm[rows][:, None]
            values /= norm[cols]
            return values, rounding(self.shape[0]) * most[a] * most[b], True

        return multiplied


def from_backed(X: Any) -> scipy.sparse.csc_array:
    """Read the sparse matrix of a backed AnnData file into compressed columns, a slab of rows at a time.

    It then is in memory once; converting a matrix in compressed rows as a whole would hold it twice. ``X`` is anndata's
    CSRDataset or CSCDataset.
    """
    try:
        if X.format == "csc":
            return scipy.sparse.csc_array(X.to_memory())
        return _columns_from_rows(X)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        raise OSError(
            f"X could not be read from its file ({str(error).splitlines()[0]}); the file is truncated or damaged: "
            "write it again."
        ) from error


def _columns_from_rows(X: Any) -> scipy.sparse.csc_array:
    n, p = (int(size) for size in X.shape)
    stored = X.group["indices"]
    entries = int(stored.shape[0])
    counts = np.zeros(p, dtype=np.int64)
    for start in range(0, entries, ENTRIES):
        counts += np.bincount(np.asarray(stored[start : start + ENTRIES]), minlength=p)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    data = np.empty(entries, dtype=X.dtype)
    indices: AnyArray = np.empty(entries, dtype=np.int32 if max(n, entries) < 2**31 else np.int64)
    following = indptr[:-1].copy()  # where the next entry of each column goes
    step = max(1, n * (CHUNK // 12) // max(entries, 1))
    for start in range(0, n, step):
        slab = scipy.sparse.csc_array(X[start : start + step])
        size = np.diff(slab.indptr)
        to = np.arange(slab.nnz) + np.repeat(following - slab.indptr[:-1], size)
        data[to], indices[to] = slab.data, slab.indices + start
        following += size
    return scipy.sparse.csc_array((data, indices, indptr), shape=(n, p))
