"""S, soft-thresholded, as a sparse matrix: what S − U is among variables for which U is S, clipped to the box."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse

from fantope.kernels.symmetric import symmetric_product
from fantope.operators import Covariance, DataCovariance
from fantope.operators.graph import Edges
from fantope.penalties import Entrywise
from fantope.typing import AnyArray, Array, IntArray

STRIP = 256  # rows of S read at a time
CACHED = 64  # rows that stay in cache while they are read twice


@dataclass(frozen=True)
class SoftGraph:
    """The pairs with |S_ij| > w_ij, i < j, and with the sign of S_ij an upper bound of |S_ij| − w_ij."""

    indptr: AnyArray  # (m + 1,)
    indices: AnyArray  # int32
    values: AnyArray  # float32, rounded upwards

    @property
    def size(self) -> int:
        """Number of variables m."""
        return len(self.indptr) - 1

    @cached_property
    def degree(self) -> int:
        """The most pairs that a variable is in."""
        own = np.diff(self.indptr)
        return int((own + np.bincount(self.indices, minlength=self.size)).max(initial=0))

    def product(self, V: Array, absolute: bool = False) -> Array:
        """Return N V, or |N| V, for a vector or a thin block."""
        block = np.ascontiguousarray(V if V.ndim == 2 else V[:, None])
        out = np.zeros(block.shape)
        symmetric_product(self.indptr, self.indices, self.values, block, absolute, out)
        return out if V.ndim == 2 else out[:, 0]

    def near(self, rows: IntArray) -> IntArray:
        """Return the variables that are in a pair with one of ``rows``, ascending."""
        chosen = np.zeros(self.size)
        chosen[rows] = 1.0
        return np.flatnonzero(self.product(chosen, absolute=True))


@dataclass(frozen=True)
class SoftMatrix:
    """The same where pairs are too many for a graph, to look at: S soft-thresholded, without its diagonal."""

    values: AnyArray  # (m, m), float32

    @property
    def size(self) -> int:
        """Number of variables m."""
        return len(self.values)

    @property
    def degree(self) -> int:
        """The most pairs that a variable may be in."""
        return self.size - 1

    def product(self, V: Array, absolute: bool = False) -> Array:
        """Return N V, or |N| V, for a vector or a thin block."""
        N = np.abs(self.values) if absolute else self.values
        return np.asarray((V.T.astype(np.float32) @ N).T, dtype=np.float64)  # N is symmetric; N @ V takes longer

    def near(self, rows: IntArray) -> IntArray:
        """Return the variables that may be in a pair with one of ``rows``: all."""
        return np.arange(self.size)


def soft_matrix(S: Array, penalty: Entrywise) -> SoftMatrix:
    """Return the matrix of all pairs."""
    every, values = np.arange(len(S)), np.empty(S.shape, np.float32)
    for start in range(0, len(S), CACHED):
        rows = slice(start, start + CACHED)
        clipped = penalty.clip(S[rows].copy(), every[rows], every)
        np.subtract(S[rows], clipped, out=values[rows], casting="same_kind")
    np.fill_diagonal(values, 0.0)
    return SoftMatrix(values)


def soft_graph(
    S: Covariance, penalty: Entrywise, kept: IntArray, labels: IntArray, most: float
) -> tuple[SoftGraph | None, float]:
    """Return the graph over the ``kept`` variables, and alpha; None, and an alpha that fits, beyond ``most`` pairs.

    ``labels`` are the components of all variables: what rounding might add between them is left out.
    """
    position = np.full(S.size, -1, dtype=np.int32)
    position[kept] = np.arange(len(kept), dtype=np.int32)
    gathered = _Gathered(most)
    for rows, cols, excess in _excesses(S, penalty, lambda: gathered.cut):
        i, j = position[rows], position[cols]
        known = (i >= 0) & (j >= 0) & (labels[rows] == labels[cols]) & (np.abs(excess) > gathered.cut)
        gathered.add(np.minimum(i, j)[known], np.maximum(i, j)[known], _upwards(excess[known]))
    i, j, values = gathered.arrays()
    if gathered.cut > 0.0:
        return None, penalty.alpha + gathered.cut * (penalty.alpha / penalty.common if penalty.common else 1.0)
    upper = scipy.sparse.coo_array((values, (i, j)), shape=(len(kept), len(kept))).tocsr()
    return SoftGraph(upper.indptr, upper.indices, upper.data), penalty.alpha


def dense_graph(strip: Callable[[IntArray, IntArray], Array], size: int, penalty: Entrywise) -> SoftGraph:
    """Return the graph of a matrix by its consecutive rows and columns."""
    found = list(_strips(strip, np.arange(size), penalty))
    rows, cols, excess = (np.concatenate(each) for each in zip(*found, strict=True))
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=size))])
    return SoftGraph(indptr, cols.astype(np.int32), _upwards(excess))


def _upwards(values: Array) -> AnyArray:
    """Round magnitudes upwards to single precision."""
    size = np.nextafter(np.abs(values).astype(np.float32), np.float32(np.inf))
    return np.copysign(size, values).astype(np.float32)


def _excesses(S: Covariance, penalty: Entrywise, cut: Callable[[], float]) -> Iterator[Edges]:
    """Yield the pairs with |S_ij| − w_ij > cut(), which may rise, and others; the excess has the sign of S_ij."""
    if not isinstance(S, DataCovariance):
        yield from _strips(S.block, np.arange(S.size), penalty)
        return
    special = penalty.rows if len(penalty.rows) else None
    for rows, cols, sizes in S.pairs_above(lambda: penalty.common + cut(), special):
        yield rows, cols, np.copysign(np.abs(sizes) - penalty.common, sizes)
    if special is not None:
        yield from _strips(S.block, special, penalty)


def _strips(block: Callable[[IntArray, IntArray], Array], chosen: IntArray, penalty: Entrywise) -> Iterator[Edges]:
    """Yield the pairs among the variables ``chosen``, a strip of rows at a time."""
    for start in range(0, len(chosen), STRIP):
        rows, cols = chosen[start : start + STRIP], chosen[start:]
        S, limits = block(rows, cols), penalty.limits(rows, cols)
        r, c = np.nonzero(np.abs(S) > limits)
        once = rows[r] < cols[c]
        r, c = r[once], c[once]
        values = S[r, c]
        excess = np.abs(values) - (limits if isinstance(limits, float) else limits[r, c])
        yield rows[r], cols[c], np.copysign(excess, values)


class _Gathered:
    """Pairs that come in parts; where they are too many the smaller ones are given up, and ``cut`` says below what."""

    def __init__(self, most: float) -> None:
        self.most, self.cut, self._count = most, 0.0, 0
        self._parts: list[tuple[AnyArray, AnyArray, AnyArray]] = []

    def add(self, i: AnyArray, j: AnyArray, values: AnyArray) -> None:
        self._parts.append((i, j, values))
        self._count += len(i)
        if self._count > self.most:
            i, j, values = self.arrays()
            size = np.abs(values)
            last = self._count - int(self.most) // 2
            self.cut = float(np.partition(size, last)[last])
            kept = size > self.cut
            self._parts, self._count = [(i[kept], j[kept], values[kept])], int(kept.sum())

    def arrays(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        empty = (np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0, np.float32))
        parts, self._parts = [empty, *self._parts], []
        i, j, values = (np.concatenate(each) for each in zip(*parts, strict=True))
        self._parts = [(i, j, values)]
        return i, j, values
