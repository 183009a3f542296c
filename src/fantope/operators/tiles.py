"""One pass over S, tile by tile: which tiles are needed, and what is kept of each.

The functions that reduce a tile run where the tile is, in this process or on a worker of a cluster: what they return
is a small multiple of the number of variables in it, whatever the number of entries above the threshold; but for
:func:`above`, which returns them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from fantope.kernels.scan import entries_above, roots, unite
from fantope.operators.graph import Edges, heaviest_forest
from fantope.typing import AnyArray, Array, IntArray

Level = Callable[[], float]  # what entries have to exceed; it may rise during a scan
Needed = Callable[[IntArray, IntArray], bool]  # whether the tile of these rows and columns can still tell anything

DOUBTFUL = 100_000  # pairs of a tile that may be left to be decided in double precision; more count as edges
CANDIDATES = 4096  # pairs of a tile that may hold the largest entry


@dataclass(frozen=True)
class Tile:
    """Correlations between two groups of variables, as far as rounding lets them be known."""

    values: AnyArray  # (r, c): correlations, in single or double precision
    rows: IntArray  # (r,): the variables
    cols: IntArray
    scale_rows: Array  # (r,): S_ij is the correlation times both scales
    scale_cols: Array
    margin: float  # largest error of a correlation
    exact: bool  # whether the error is that of double precision, which nothing else can improve on

    @property
    def on_diagonal(self) -> bool:
        """Whether the two groups are the same."""
        return bool(self.rows[0] == self.cols[0])

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.rows) if self.on_diagonal else len(self.rows) + len(self.cols)

    def above(self, threshold: float) -> Edges:
        """Return row and column numbers in the tile, and upper bounds, of all |S_ij| that may exceed ``threshold``."""
        return entries_above(self.values, self.scale_rows, self.scale_cols, self.margin, threshold, self.on_diagonal)

    def without(self, pairs: Edges, apart: IntArray | None) -> Edges:
        """Leave out the pairs of two variables of ``apart``, which ascends."""
        if apart is None:
            return pairs
        r, c, bounds = pairs
        rows, cols = np.isin(self.rows, apart), np.isin(self.cols, apart)
        kept = ~(rows[r] & cols[c])
        return r[kept], c[kept], bounds[kept]

    def global_pairs(self, r: IntArray, c: IntArray) -> tuple[IntArray, IntArray]:
        """Return the variables of rows and columns of the tile."""
        return self.rows[r], self.cols[c]

    def joint(self, c: IntArray) -> IntArray:
        """Return numbers of the columns that follow those of the rows, or are the same on the diagonal."""
        return c if self.on_diagonal else c + len(self.rows)


@dataclass(frozen=True)
class Connections:
    """What a tile connects: pairs that are edges for certain, and pairs for which rounding leaves it open."""

    rows: IntArray
    cols: IntArray
    doubtful_rows: IntArray
    doubtful_cols: IntArray


def forest(tile: Tile, alpha: float, apart: IntArray | None = None) -> Edges:
    """Return a heaviest spanning forest of the tile's pairs with |S_ij| > alpha, without those inside ``apart``."""
    r, c, bounds = tile.without(tile.above(alpha), apart)
    if len(r) >= tile.size:
        r, joint, bounds = heaviest_forest(tile.size, r, tile.joint(c), bounds)
        c = joint if tile.on_diagonal else joint - len(tile.rows)
    return (*tile.global_pairs(r, c), bounds)


def connections(tile: Tile, alpha: float) -> Connections:
    """Return pairs that connect what the tile's pairs with |S_ij| > alpha connect, and the doubtful ones besides."""
    r, c, bounds = tile.above(alpha)
    sure = np.ones(len(r), dtype=bool)
    if not tile.exact:
        sure = bounds - 2 * tile.margin * tile.scale_rows[r] * tile.scale_cols[c] > alpha
        if len(sure) - int(sure.sum()) > DOUBTFUL:
            sure[:] = True
    parents = np.arange(tile.size)
    joined = unite(parents, r[sure], tile.joint(c[sure]))
    maybe_r, maybe_c = r[~sure], c[~sure]
    apart = roots(parents, maybe_r) != roots(parents, tile.joint(maybe_c))
    return Connections(
        *tile.global_pairs(r[sure][joined], c[sure][joined]), *tile.global_pairs(maybe_r[apart], maybe_c[apart])
    )


def above(tile: Tile, alpha: float, apart: IntArray | None = None) -> Edges:
    """Return all pairs with |S_ij| > alpha, without those inside ``apart``: bounds of |S_ij| with the sign of S_ij."""
    r, c, bounds = tile.without(tile.above(alpha), apart)
    return (*tile.global_pairs(r, c), np.copysign(bounds, tile.values[r, c]))


@dataclass(frozen=True)
class Largest:
    """Pairs of a tile that may hold its largest |S_ij|, with upper bounds; the largest is at least ``at_least``."""

    rows: IntArray
    cols: IntArray
    bounds: Array
    at_least: float


def largest(tile: Tile, at_least: float, apart: IntArray | None = None) -> Largest:
    """Return the pairs that may hold the largest |S_ij| of all, given that it is ``at_least`` so large.

    Pairs of two variables of ``apart`` are left out.
    """
    value = np.abs(tile.values) * tile.scale_rows[:, None] * tile.scale_cols
    if tile.on_diagonal:
        np.fill_diagonal(value, 0.0)
    if apart is not None:
        value[np.ix_(np.isin(tile.rows, apart), np.isin(tile.cols, apart))] = 0.0
    i, j = divmod(int(value.argmax()), value.shape[1])
    at_least = max(at_least, float(value[i, j]) - tile.margin * float(tile.scale_rows[i] * tile.scale_cols[j]))
    r, c, bounds = tile.without(tile.above(at_least), apart)
    if len(r) > CANDIDATES:
        chosen = np.argpartition(-bounds, CANDIDATES)[:CANDIDATES]
        r, c, bounds = r[chosen], c[chosen], bounds[chosen]
    return Largest(*tile.global_pairs(r, c), bounds, at_least)


def everything(rows: IntArray, cols: IntArray) -> bool:
    """Say that any tile is needed."""
    return True


def pairs(
    groups: Sequence[IntArray], sigma: Array, threshold: Level, needed: Needed = everything, side: int | None = None
) -> Iterator[tuple[int, int]]:
    """Yield the pairs of groups that are needed and may hold an |S_ij| above ``threshold()``.

    |S_ij| ≤ σ_i σ_j: with the variables grouped by descending σ, for a covariance of words, nearly all pairs are left
    out. Row by row, or in squares of ``side`` × ``side`` pairs.
    """
    most = [float(sigma[group].max()) for group in groups]
    for a, b in _upper_half(len(groups), side or max(len(groups), 1)):
        if most[a] * most[b] > threshold() and needed(groups[a], groups[b]):
            yield a, b


def _upper_half(size: int, side: int) -> Iterator[tuple[int, int]]:
    for top in range(0, size, side):
        for left in range(top, size, side):
            for a in range(top, min(top + side, size)):
                for b in range(max(a, left), min(left + side, size)):
                    yield a, b
