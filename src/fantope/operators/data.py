"""S as a rule over data: covariance or correlation, any block of it on demand, p × p never formed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal, TypeVar

import numpy as np

from fantope.checks import VANISHED
from fantope.kernels.scan import roots, unite
from fantope.operators.columns import STRIP, ArrayColumns, Columns, TiledColumns, mirror_upper, rounding
from fantope.operators.graph import Edges, ThresholdGraph, collect, labels_of
from fantope.operators.tiles import Largest, Level, Needed, Tile, above, connections, everything, forest, largest, pairs
from fantope.typing import Array, IntArray

T = TypeVar("T")

TILE = 2048  # variables on a side: 16 MB of float32, which stays in cache while it is read
UNIT = 2.0**-53
FACTOR_UP_TO = 150  # samples up to which a block of S is computed about as fast as it is read
PAIRS = 1024  # single entries of S that are computed at a time


class DataCovariance(ABC):
    """Covariance (divided by n) or correlation matrix of the columns of a data matrix.

    A scan reads S tile by tile in single precision (in double beyond 2,000 samples, and for sparse data). Its rounding
    error is bounded, and an entry within the bound of alpha is decided in double precision or counts as above it: no
    pair with |S_ij| > alpha is ever missed. Without ``center`` the covariance is the second moment, as in the paper;
    ``names`` of the variables are for messages.
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
        self.n_observations = columns.shape[0]  # samples; fewer than rows where these are pairs of samples
        with np.errstate(over="ignore", invalid="ignore"):  # reported below, with the name of the column
            first, rest, square = columns.moments(names)
            mean = first + rest
            # A mean has more digits than a double; where the deviations are about as small as the last one, they count.
            self._rest = rest - (mean - first) if center else np.zeros_like(mean)
        self.mean = mean if center else np.zeros_like(mean)
        variance = square if center else square + mean**2
        if not np.isfinite(variance).all():
            column = int(np.argmin(np.isfinite(variance)))
            raise ValueError(
                f"X must have columns whose squares are finite, got an overflow in {self._called(column)}; divide it "
                "by a large number."
            )
        some = (variance > 0.0) | ((mean != 0.0) & (np.abs(mean) < np.sqrt(VANISHED)))  # or there are zeros alone
        vanishing = some & (variance < VANISHED)
        if vanishing.any() and (kind == "correlation" or variance.max() < VANISHED):
            raise ValueError(
                f"X must have columns whose squares do not vanish, got {self._called(int(np.argmax(vanishing)))} with "
                "a variance below the range of double precision; multiply X by a large number."
            )
        # A column whose values differ in their last digit or so has a variance, but no correlations worth the name.
        scale, tiny = square + mean**2, np.finfo(float).tiny
        self.constant = variance <= 1e-26 * scale + tiny
        if kind == "correlation" and self.constant.any():
            where = np.flatnonzero(self.constant)
            shown = ", ".join(self._called(int(i)) for i in where[:5])
            what = "constant columns" if center else "columns of zeros"
            raise ValueError(
                f"X must have no {what} for kind='correlation', got {len(where)}: {shown}"
                f"{', …' if len(where) > 5 else ''}; drop them, or use kind='covariance'."
            )
        # What rounding leaves of equal values: the mean errs by nu of them, and a difference of squares by nu again.
        equal = variance <= min(1e-26, (8 * columns.shape[0] * UNIT) ** 3) * scale + tiny
        self._variance = np.where(equal, 0.0, variance)
        self._norm = np.sqrt(np.where(equal, 1.0, variance))  # divides columns
        # Means are rounded to double precision. What that adds to a correlation is the product of two such errors.
        self._drift = (2 * UNIT * float((np.abs(self.mean) / self._norm).max())) ** 2

    def _called(self, column: int) -> str:
        return repr(self.names[column]) if self.names else f"column {column}"

    @property
    def size(self) -> int:
        """Number of variables p."""
        return self.columns.shape[1]

    @property
    def n_samples(self) -> int:
        """Number of rows n."""
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
        rows, cols = np.asarray(rows, dtype=np.intp), np.asarray(cols, dtype=np.intp)
        same = np.array_equal(rows, cols)
        block = self.columns.products(rows, None if same else cols, self.mean)
        scale, constant = self.scale, self._variance == 0.0
        for start in range(0, len(rows), STRIP):  # a strip that stays in cache, and of a symmetric block one half
            own, first = rows[start : start + STRIP], start if same else 0
            strip = block[start : start + STRIP, first:]
            if self._drift > UNIT:  # else it is below the rounding of the products
                strip -= np.multiply.outer(self._rest[own], self._rest[cols[first:]])
            strip /= scale[own][:, None]
            strip /= scale[cols[first:]]
            strip[constant[own]] = 0.0
            strip[:, constant[cols[first:]]] = 0.0
        if same:
            mirror_upper(block)
        _, r, c = np.intersect1d(rows, cols, return_indices=True)
        block[r, c] = self.diagonal()[rows[r]]
        return block

    def factor(self, columns: IntArray) -> Array | None:
        """Return F, a row for each variable, with S[columns][:, columns] = FFᵀ up to rounding.

        None where the samples are so many that a block of S is read faster than computed, or the data are sparse.
        """
        if not isinstance(self.columns, ArrayColumns) or self.n_samples > FACTOR_UP_TO:
            return None
        F = self.columns.gathered(columns)
        F -= self.mean[columns][:, None]
        F -= self._rest[columns][:, None]
        F /= (self.scale[columns] * np.sqrt(self.n_samples))[:, None]
        F[self._variance[columns] == 0.0] = 0.0
        return F

    def matmul(self, V: Array) -> Array:
        """Return S V for a vector or a thin block V, reading the data twice."""
        scaled = (V.T / self.scale).T
        inner = self.columns.times(scaled) - self.mean @ scaled
        outer = self.columns.transposed_times(inner) - np.multiply.outer(self.mean, inner.sum(axis=0))
        return np.asarray((outer.T / (self.scale * self.n_samples)).T)

    def component_labels(self, alpha: float) -> IntArray:
        """Return the connected component of each variable in the graph |S_ij| > alpha, i ≠ j.

        Memory: one tile, the normalised data as far as they fit in 1.5 GB, and a few numbers a variable.
        """
        parents = np.arange(self.size)

        def needed(rows: IntArray, cols: IntArray) -> bool:
            first = roots(parents, rows)
            return bool((first != first[0]).any() or (roots(parents, cols) != first[0]).any())

        doubtful: list[tuple[IntArray, IntArray]] = [(np.zeros(0, np.intp), np.zeros(0, np.intp))]
        for found in self._scan(connections, lambda: alpha, needed):
            unite(parents, found.rows, found.cols)
            if len(found.doubtful_rows):
                doubtful.append((found.doubtful_rows, found.doubtful_cols))
        rows, cols = (np.concatenate(parts) for parts in zip(*doubtful, strict=True))
        apart = roots(parents, rows) != roots(parents, cols)
        rows, cols = rows[apart], cols[apart]
        for start in range(0, len(rows), PAIRS):
            r, c = rows[start : start + PAIRS], cols[start : start + PAIRS]
            edge = self._entries(r, c)[1] > alpha
            unite(parents, r[edge], c[edge])
        return labels_of(parents)

    def graph(self, alpha: float, apart: IntArray | None = None) -> ThresholdGraph:
        """Return what the pairs with |S_ij| > alpha, not both in ``apart``, connect: it serves every larger alpha."""
        return collect(self.size, alpha, self._scan(partial(forest, apart=apart), lambda: alpha))

    def pairs_above(self, threshold: Level, apart: IntArray | None = None) -> Iterator[Edges]:
        """Yield all pairs with |S_ij| > threshold(), which may rise, and upper bounds of |S_ij| with the sign of S_ij.

        Pairs of two variables of ``apart`` are left out.
        """
        return self._scan(partial(above, apart=apart), threshold)

    def largest_off_diagonal(self, apart: IntArray | None = None) -> float:
        """Return max |S_ij|, i ≠ j, not both in ``apart``."""
        candidates: list[Largest] = []

        def best() -> float:  # what the scan has found so far, which it needs to skip tiles
            return max((found.at_least for found in candidates), default=0.0)

        for found in self._scan(partial(largest, apart=apart), best):
            candidates.append(found)
        value, known = 0.0, best()
        for found in candidates:
            use = found.bounds > known
            rows, cols = found.rows[use], found.cols[use]
            for start in range(0, len(rows), PAIRS):
                r, c = rows[start : start + PAIRS], cols[start : start + PAIRS]
                value = max(value, float(self._entries(r, c)[0].max()))
        return value

    def _entries(self, rows: IntArray, cols: IntArray) -> tuple[Array, Array]:
        """Return |S_ij| for pairs of variables, and upper bounds of it."""
        scale = self.scale
        centred = self.columns.pairs(rows, cols, self.mean) - self._rest[rows] * self._rest[cols]
        value = np.abs(centred / scale[rows] / scale[cols])
        sigma = self._sigma()
        return value, value + (rounding(self.n_samples) + self._drift) * sigma[rows] * sigma[cols]

    def _sigma(self) -> Array:
        """Return upper bounds of the scales that turn correlations into entries of S."""
        if self.kind == "correlation":
            return np.ones(self.size)
        return np.sqrt(self._variance) * (1.0 + rounding(self.n_samples))

    @abstractmethod
    def _scan(self, reduce: Callable[[Tile, float], T], threshold: Level, needed: Needed = everything) -> Iterator[T]:
        """Yield ``reduce(tile, threshold())`` for the tiles of the upper half that are needed.

        ``threshold()`` may rise, and ``needed(rows, cols)`` turn false, as what is yielded is put to use.
        """


class LocalCovariance(DataCovariance):
    """Covariance or correlation matrix of data that this process reads."""

    columns: TiledColumns

    def _scan(self, reduce: Callable[[Tile, float], T], threshold: Level, needed: Needed = everything) -> Iterator[T]:
        """Yield what each tile is reduced to, one after the other."""
        sigma = self._sigma()
        groups = self._groups(sigma, threshold())
        values_of = self.columns.tiles(self.mean, self._norm, groups)
        for a, b in pairs(groups, sigma, threshold, needed):
            values, margin, exact = values_of(a, b)
            rows, cols = groups[a], groups[b]
            tile = Tile(values, rows, cols, sigma[rows], sigma[cols], margin + self._drift, exact)
            yield reduce(tile, threshold())

    @staticmethod
    def _groups(sigma: Array, threshold: float) -> list[IntArray]:
        """Return groups of variables by descending σ, without those that no pair above ``threshold`` can hold."""
        order = np.argsort(-sigma, kind="stable")
        order = order[sigma[order] * sigma.max() > threshold]
        groups = [order[start : start + TILE] for start in range(0, len(order), TILE)]
        return [np.sort(group) for group in groups]  # stores and caches like ascending columns
