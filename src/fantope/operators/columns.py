"""Where the columns of a data matrix come from: memory, a mapped file, a store on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from fantope.checks import check_finite
from fantope.typing import AnyArray, Array, IntArray

CHUNK = 64 * 2**20  # bytes of an array that are held in double precision at a time
HELD = 1.5 * 2**30  # bytes of normalised data that may stay in memory during a scan
SINGLE_UP_TO = 2000  # samples; longer sums are scanned in double precision, to keep the rounding margin small
HELD_UP_TO = 16_384  # samples; longer columns are read in slabs of rows for each tile
FEW = 64  # columns that an HDF5 file reads faster one by one than as whole rows

STRIP = 512  # rows of a symmetric product that are computed, or copied, at a time

TileValues = tuple[AnyArray, float, bool]  # correlations, a bound of their error, whether in double precision


class Columns(Protocol):
    """A data matrix of n rows (samples) and p columns (variables)."""

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p)."""

    def moments(self, names: list[str] | None) -> tuple[Array, Array, Array]:
        """Return the mean of each column as a sum of two numbers, and its centred mean square; all in float64.

        What is not finite is refused.
        """

    def products(self, rows: IntArray, cols: IntArray | None, mean: Array) -> Array:
        """Return Σ_k (x_ki − mean_i)(x_kj − mean_j)/n over i in ``rows``, j in ``cols``.

        With None for the same ones only what is not left of the diagonal counts: :func:`mirror_upper` does the rest.
        """

    def pairs(self, rows: IntArray, cols: IntArray, mean: Array) -> Array:
        """Return Σ_k (x_ki − mean_i)(x_kj − mean_j)/n for each pair (i, j) of ``rows`` and ``cols``."""

    def times(self, V: Array) -> Array:
        """Return X V."""

    def transposed_times(self, V: Array) -> Array:
        """Return Xᵀ V."""


class TiledColumns(Columns, Protocol):
    """Columns that this process can multiply."""

    def tiles(self, mean: Array, norm: Array, groups: list[IntArray]) -> Callable[[int, int], TileValues]:
        """Return a function that gives the correlations of the groups a and b, a ascending and b ≥ a."""


def rounding(n: int, precision: type = np.float64) -> float:
    """Return a bound of the error of a correlation of n samples.

    With unit roundoff u: n·u for the sum, n·u for the two norms, and less than 32·u for the other operations.
    """
    return (n + 16) * float(np.finfo(precision).eps)


def mirror_upper(total: Array) -> None:
    """Copy what is right of the diagonal to the left of it."""
    for start in range(0, len(total), STRIP):
        strip = slice(start, start + STRIP)
        total[start + STRIP :, strip] = total[strip, start + STRIP :].T
        corner = total[strip, strip]
        corner[:] = np.triu(corner) + np.triu(corner, 1).T


class ArrayColumns:
    """Columns of what has a shape and slices like an array: ndarray, memmap, zarr, HDF5. It is never copied whole."""

    def __init__(self, X: Any) -> None:
        self.X = X
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))

    def moments(self, names: list[str] | None = None) -> tuple[Array, Array, Array]:
        """Read the array once for the means and once for the mean squares, a slab of rows at a time."""
        n, p = self.shape
        mean = np.zeros(p)
        for start, slab in self._slabs():
            check_finite(slab, "X", names, first_row=start)
            mean += slab.sum(axis=0)
        mean /= n
        # What the deviations leave is the rounding error of the mean: large, for a column that hardly varies.
        rest, square = np.zeros(p), np.zeros(p)
        for _, slab in self._slabs():
            slab = slab - mean
            rest += slab.sum(axis=0)
            square += np.einsum("ij,ij->j", slab, slab)
        rest /= n
        return mean, rest, np.maximum(square / n - rest**2, 0.0)

    def times(self, V: Array) -> Array:
        """Return X V, a slab of rows at a time."""
        return np.concatenate([slab @ V for _, slab in self._slabs()])

    def transposed_times(self, V: Array) -> Array:
        """Return Xᵀ V, a slab of rows at a time."""
        total = np.zeros((self.shape[1], *V.shape[1:]))
        for start, slab in self._slabs():
            total += slab.T @ V[start : start + len(slab)]
        return total

    def products(self, rows: IntArray, cols: IntArray | None, mean: Array) -> Array:
        """Sum the products of slabs of rows."""
        both = rows if cols is None else np.concatenate([rows, cols])
        k = len(rows)
        total = np.zeros((k, k if cols is None else len(cols)))
        for number, piece in enumerate(self._pieces(both)):
            piece -= mean[both]
            if cols is None:
                # Right of the diagonal, a strip at a time: NumPy's product of a matrix with its own transpose also
                # copies one half to the other, which for thousands of columns takes about as long as the product.
                for start in range(0, k, STRIP):
                    strip, right = piece[:, start : start + STRIP].T, piece[:, start:]
                    target = total[start : start + STRIP, start:]
                    if number == 0:  # mostly the only one: no further array for the product
                        np.matmul(strip, right, out=target)
                    else:
                        target += strip @ right
            else:
                total += piece[:, :k].T @ piece[:, k:]
        total /= self.shape[0]
        return total

    def gathered(self, columns: IntArray) -> Array:
        """Return the chosen columns as rows, in double precision."""
        return np.ascontiguousarray(np.concatenate(list(self._pieces(columns))).T)

    def pairs(self, rows: IntArray, cols: IntArray, mean: Array) -> Array:
        """Sum the products of slabs of rows."""
        both, position = np.unique(np.concatenate([rows, cols]), return_inverse=True)
        total = np.zeros(len(rows))
        for piece in self._pieces(both):
            piece -= mean[both]
            total += np.einsum("ij,ij->j", piece[:, position[: len(rows)]], piece[:, position[len(rows) :]])
        return total / self.shape[0]

    def tiles(self, mean: Array, norm: Array, groups: list[IntArray]) -> Callable[[int, int], TileValues]:
        """Multiply centred columns of unit length, which stay in memory as long as they fit."""
        n, _ = self.shape
        if n > HELD_UP_TO:

            def summed(a: int, b: int) -> TileValues:
                rows, cols = groups[a], groups[b]
                values = self.products(rows, None if a == b else cols, mean)
                if a == b:
                    mirror_upper(values)
                values /= norm[rows][:, None]
                values /= norm[cols]
                return values, rounding(n), True

            return summed
        precision = np.float32 if n <= SINGLE_UP_TO else np.float64
        scale = norm * np.sqrt(n)
        whole = None
        if not isinstance(self.X, np.ndarray) and n * self.shape[1] * np.dtype(precision).itemsize <= HELD:
            # A store is read once, along its rows, and not once for each group.
            whole = np.empty(self.shape, dtype=precision)
            for start, slab in self._slabs():
                whole[start : start + len(slab)] = (slab - mean) / scale
        held: dict[int, AnyArray] = {}

        def normalised(group: int) -> AnyArray:
            if group in held:
                return held[group]
            columns = groups[group]
            if whole is not None:
                return whole[:, columns]
            Z = np.concatenate([((piece - mean[columns]) / scale[columns]) for piece in self._pieces(columns)])
            Z = Z.astype(precision, copy=False)
            if sum(block.nbytes for block in held.values()) + Z.nbytes <= HELD:
                held[group] = Z
            return Z

        def multiplied(a: int, b: int) -> TileValues:
            for done in [group for group in held if group < a]:
                del held[done]
            left = normalised(a)
            return left.T @ (left if a == b else normalised(b)), rounding(n, precision), precision is np.float64

        return multiplied

    def _slabs(self) -> Iterator[tuple[int, Array]]:
        """Yield (first row, rows) of the whole array."""
        step = self._step(self.shape[1])
        for start in range(0, self.shape[0], step):
            yield start, self._read(slice(start, start + step), None)

    def _pieces(self, columns: IntArray) -> Iterator[Array]:
        """Yield the chosen columns, a slab of rows at a time, as new arrays."""
        n, p = self.shape
        if isinstance(self.X, np.ndarray):
            step = self._step(len(columns))
            for start in range(0, n, step):
                yield self.X[start : start + step][:, columns].astype(np.float64)
            return
        # Stores want ascending, distinct indices.
        unique, inverse = np.unique(columns, return_inverse=True)
        run = len(unique) > 0 and int(unique[-1] - unique[0]) + 1 == len(unique)
        few = run or hasattr(self.X, "oindex") or len(unique) <= FEW
        step = self._step(len(unique) if few else p)
        for start in range(0, n, step):
            rows = slice(start, start + step)
            if run:
                found = self._read(rows, slice(int(unique[0]), int(unique[-1]) + 1))
            else:
                found = self._read(rows, unique) if few else self._read(rows, None)[:, unique]
            yield found[:, inverse]

    def _step(self, width: int) -> int:
        """Return how many rows of ``width`` columns to read at a time: whole chunks of a store, if they are small."""
        step = max(1, CHUNK // (8 * max(width, 1)))
        chunks = getattr(self.X, "chunks", None)
        if chunks:
            whole = max(1, step // int(chunks[0])) * int(chunks[0])
            step = whole if whole <= 4 * step else step
        return step

    def _read(self, rows: slice, columns: Any) -> Array:
        try:
            if columns is None:
                found = self.X[rows]
            elif isinstance(columns, np.ndarray) and hasattr(self.X, "oindex"):
                found = self.X.oindex[rows, columns]
            else:
                found = self.X[rows, columns]
            return np.asarray(found, dtype=np.float64)
        except (OSError, RuntimeError, ValueError, EOFError) as error:
            stop = min(rows.stop, self.shape[0])
            raise OSError(
                f"X could not be read in rows {rows.start} to {stop - 1} ({_first_line(error)}); the file or store is "
                "truncated or damaged: write it again."
            ) from error


def _first_line(error: BaseException) -> str:
    return (str(error) or type(error).__name__).splitlines()[0]
