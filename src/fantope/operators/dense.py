"""S as an array in memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fantope.kernels.scan import component_labels, entries_above
from fantope.operators.graph import ThresholdGraph, collect
from fantope.typing import Array, IntArray

STRIP = 1024  # rows at a time: no second p × p array


class DenseCovariance:
    """A symmetric matrix held as a C-contiguous float64 array, which is not copied."""

    def __init__(self, S: Array) -> None:
        self.S = S

    @property
    def size(self) -> int:
        """Number of variables p."""
        return len(self.S)

    def diagonal(self) -> Array:
        """Return the (p,) diagonal."""
        return self.S.diagonal().copy()

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return S[rows][:, cols] as a new array."""
        if len(rows) == len(cols) == self.size:
            everything = np.arange(self.size)
            if np.array_equal(rows, everything) and np.array_equal(cols, everything):
                return self.S.copy()
        return self.S[np.asarray(rows)[:, None], cols]

    def component_labels(self, alpha: float) -> IntArray:
        """Return the connected component of each variable in the graph |S_ij| > alpha, i ≠ j."""
        return np.asarray(component_labels(self.S, alpha), dtype=np.intp)

    def matmul(self, V: Array) -> Array:
        """Return S V."""
        return self.S @ V

    def largest_off_diagonal(self, apart: IntArray | None = None) -> float:
        """Return max |S_ij|, i ≠ j, not both in ``apart``."""
        largest = 0.0
        for start in range(0, self.size, STRIP):
            strip = np.abs(self.S[start : start + STRIP])
            strip[np.arange(len(strip)), start + np.arange(len(strip))] = 0.0
            if apart is not None:
                inside = apart[(start <= apart) & (apart < start + STRIP)] - start
                strip[np.ix_(inside, apart)] = 0.0
            largest = max(largest, float(strip.max()))
        return largest

    def graph(self, alpha: float, apart: IntArray | None = None) -> ThresholdGraph:
        """Return what the pairs with |S_ij| > alpha, not both in ``apart``, connect."""

        def edges() -> Iterator[tuple[IntArray, IntArray, Array]]:
            ones = np.ones(self.size)
            for start in range(0, self.size, STRIP):
                strip = self.S[start : start + STRIP, start:]
                rows, cols, bounds = entries_above(strip, ones[: len(strip)], ones[start:], 0.0, alpha, True)
                rows, cols = rows + start, cols + start
                if apart is not None:
                    kept = ~(np.isin(rows, apart) & np.isin(cols, apart))
                    rows, cols, bounds = rows[kept], cols[kept], bounds[kept]
                yield rows, cols, bounds

        return collect(self.size, alpha, edges())
