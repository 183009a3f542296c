"""S as a rule over data: covariance or correlation, any block of it on demand, p × p never formed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from fantope.kernels.scan import entries_above
from fantope.operators.columns import Columns, SparseColumns
from fantope.operators.graph import ThresholdGraph, collect, labels_of
from fantope.typing import AnyArray, Array, IntArray

TILE = 2048  # variables on a side: 16 MB of float32, which stays in cache while it is read
HELD = 1.5 * 2**30  # bytes of normalised float32 data that may stay in memory during a scan
SINGLE_UP_TO = 2000  # samples; longer sums are scanned in double precision, to keep the rounding margin small


class DataCovariance:
    """Covariance (divided by n) or correlation matrix of the columns of a data matrix.

    Parameters
    ----------
    columns : Columns
    kind : "covariance" or "correlation"
    center : bool
        Subtract the column means. Without it the covariance is the second moment, as in the paper.
    names : sequence of str, optional
        Names of the variables, for messages.
    """

    def __init__(
        self,
        columns: Columns,
        kind: Literal["covariance", "correlation"] = "covariance",
        center: bool = True,
        names: list[str] | None = None,
    ) -> None:
        self.columns = columns
        self.kind = kind
        self.center = center
        self.names = names
        mean, square = columns.moments()
        self.mean = mean if center else np.zeros_like(mean)
        variance = square if center else square + mean**2
        # What rounding leaves of a constant column counts as zero.
        constant = variance <= 1e-26 * (square + mean**2) + np.finfo(float).tiny
        if kind == "correlation" and constant.any():
            where = np.flatnonzero(constant)
            shown = ", ".join(repr(names[i]) if names else str(i) for i in where[:5])
            raise ValueError(
                f"X must have no constant columns for kind='correlation', got {len(where)}: {shown}"
                f"{', …' if len(where) > 5 else ''}; drop them, or use kind='covariance'."
            )
        self._variance = np.where(constant, 0.0, variance)
        self._norm = np.sqrt(np.where(constant, 1.0, variance))  # divides columns; constant ones stay zero

    @property
    def size(self) -> int:
        """Number of variables p."""
        return self.columns.shape[1]

    @property
    def n_samples(self) -> int:
        """Number of samples n."""
        return self.columns.shape[0]

    @property
    def scale(self) -> Array:
        """What each centred column is divided by: 1 for a covariance, its standard deviation for a correlation."""
        return self._norm if self.kind == "correlation" else np.ones(self.size)

    def diagonal(self) -> Array:
        """Return the (p,) diagonal: variances, or ones."""
        return np.ones(self.size) if self.kind == "correlation" else self._variance.copy()

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return S[rows][:, cols] in float64; exactly symmetric where rows and cols are the same."""
        same = rows is cols or (len(rows) == len(cols) and np.array_equal(rows, cols))
        if isinstance(self.columns, SparseColumns):
            block = self.columns.products(rows, rows if same else cols) / self.n_samples
            block -= np.outer(self.mean[rows], self.mean[cols])
            block /= np.outer(self.scale[rows], self.scale[cols])
        else:
            left = self._standardised(rows)
            block = left.T @ (left if same else self._standardised(cols))
            block /= self.n_samples
        if same:
            block = 0.5 * (block + block.T)
        _, r, c = np.intersect1d(rows, cols, return_indices=True)
        block[r, c] = self.diagonal()[np.asarray(rows)[r]]
        return block

    def _standardised(self, columns: IntArray) -> Array:
        Z = self.columns.gather(columns).astype(np.float64)
        Z -= self.mean[columns]
        Z /= self.scale[columns]
        return Z

    def matmul(self, V: Array) -> Array:
        """Return S V for a vector or a thin block V, reading the data twice."""
        scaled = (V.T / self.scale).T
        inner = self.columns.times(scaled) - self.mean @ scaled
        outer = self.columns.transposed_times(inner) - np.multiply.outer(self.mean, inner.sum(axis=0))
        return np.asarray((outer.T / (self.scale * self.n_samples)).T)

    def component_labels(self, alpha: float) -> IntArray:
        """Return the connected component of each variable in the graph |S_ij| > alpha, i ≠ j."""
        return labels_of(self.size, ((rows, cols) for rows, cols, _ in self._edges(alpha)))

    def graph(self, alpha: float) -> ThresholdGraph:
        """Return all pairs with |S_ij| > alpha: one scan that serves every larger alpha."""
        return collect(self.size, alpha, self._edges(alpha))

    def largest_off_diagonal(self) -> float:
        """Return max |S_ij|, i ≠ j."""
        best: list[float] = [0.0]  # what the scan has found so far, which it needs to skip tiles
        pair = (0, 1)
        for rows, cols, tile, _, scales in self._tiles(lambda: best[0]):
            value = np.abs(tile) * scales[0][:, None] * scales[1]
            if rows[0] == cols[0]:
                np.fill_diagonal(value, 0.0)
            i, j = np.unravel_index(int(value.argmax()), value.shape)
            if value[i, j] > best[0]:
                best[0], pair = float(value[i, j]), (int(rows[i]), int(cols[j]))
        return float(abs(self.block(np.array([pair[0]]), np.array([pair[1]]))[0, 0]))

    def _edges(self, alpha: float) -> Iterator[tuple[IntArray, IntArray, Array]]:
        for rows, cols, tile, margin, scales in self._tiles(lambda: alpha):
            r, c, bounds = entries_above(tile, *scales, margin, alpha, rows[0] == cols[0])
            yield rows[r], cols[c], bounds

    def _tiles(
        self, threshold: Callable[[], float]
    ) -> Iterator[tuple[IntArray, IntArray, AnyArray, float, tuple[Array, Array]]]:
        """Yield tiles of the correlation matrix (upper half) that may hold an |S_ij| above ``threshold()``.

        |S_ij| ≤ σ_i σ_j, so with the variables sorted by falling σ whole rows of tiles can be skipped: for a
        covariance of words that is nearly all of them. Each tile comes with its variables, a bound of its rounding
        error and the scales that turn correlations into entries of S.
        """
        sigma = np.ones(self.size) if self.kind == "correlation" else np.sqrt(self._variance)
        order = np.argsort(-sigma, kind="stable")
        chunks = [order[start : start + TILE] for start in range(0, self.size, TILE)]
        # Natural order inside a chunk: stores are read in runs.
        chunks = [np.sort(chunk) for chunk in chunks] if self.kind == "correlation" else chunks
        largest = [float(sigma[chunk].max()) for chunk in chunks]
        held: dict[int, AnyArray] = {}
        for a, rows in enumerate(chunks):
            if largest[a] * largest[a] <= threshold():
                return
            for b in range(a, len(chunks)):
                if largest[a] * largest[b] <= threshold():
                    break
                cols = chunks[b]
                tile, margin = self._tile(a, rows, b, cols, held)
                yield rows, cols, tile, margin, (sigma[rows], sigma[cols])
            held.pop(a, None)

    def _tile(
        self, a: int, rows: IntArray, b: int, cols: IntArray, held: dict[int, AnyArray]
    ) -> tuple[AnyArray, float]:
        """Return correlations of two chunks and a bound of their error."""
        n = self.n_samples
        if isinstance(self.columns, SparseColumns):
            tile = self.columns.products(rows, cols) / n
            tile -= np.outer(self.mean[rows], self.mean[cols])
            tile /= np.outer(self._norm[rows], self._norm[cols])
            # Implicit centring subtracts numbers that may be larger than the result.
            inflation = np.sqrt(1.0 + (self.mean / self._norm) ** 2)
            return tile, (n + 8) * 2.0**-53 * float(inflation[rows].max() * inflation[cols].max())
        kind = np.float32 if n <= SINGLE_UP_TO else np.float64
        left = self._normalised(a, rows, held, kind)
        tile = left.T @ (left if a == b else self._normalised(b, cols, held, kind))
        return tile, (n + 8) * float(np.finfo(kind).eps)

    def _normalised(self, chunk: int, columns: IntArray, held: dict[int, AnyArray], kind: type) -> AnyArray:
        """Return centred columns of unit length in the scan's precision, kept for later tiles if memory allows."""
        if chunk not in held:
            Z = self.columns.gather(columns).astype(np.float64)
            Z -= self.mean[columns]
            Z /= self._norm[columns] * np.sqrt(self.n_samples)
            if sum(block.nbytes for block in held.values()) + Z.nbytes > HELD:
                return Z.astype(kind)
            held[chunk] = Z.astype(kind)
        return held[chunk]
