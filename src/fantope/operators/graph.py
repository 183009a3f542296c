"""The graph {|S_ij| > alpha}, found once for the smallest alpha and read at any larger one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fantope.kernels.scan import roots, unite
from fantope.typing import Array, IntArray

MAX_EDGES = 60_000_000  # 20 bytes each: 1.2 GB


@dataclass(frozen=True)
class ThresholdGraph:
    """All pairs with |S_ij| above ``alpha``, with safe upper bounds of |S_ij|.

    Attributes
    ----------
    size : int
        Number of variables.
    alpha : float
        The graph is complete for this threshold and every larger one.
    rows, cols : (e,) int32 arrays
    bounds : (e,) array
        |S_ij| ≤ bounds, tight up to rounding.
    """

    size: int
    alpha: float
    rows: IntArray
    cols: IntArray
    bounds: Array

    def component_labels(self, alpha: float) -> IntArray:
        """Return the connected component of each variable at ``alpha``, which must not be below the graph's own."""
        if alpha < self.alpha:
            raise ValueError(f"alpha must be at least {self.alpha}, for which the graph was made, got {alpha}.")
        used = self.bounds > alpha
        return labels_of(self.size, [(self.rows[used], self.cols[used])])


def labels_of(size: int, edges: Iterable[tuple[IntArray, IntArray]]) -> IntArray:
    """Return component labels 0, 1, … in the order of the components' smallest variables."""
    parents = np.arange(size)
    for rows, cols in edges:
        unite(parents, rows, cols)
    return np.unique(roots(parents), return_inverse=True)[1].astype(np.intp)


def collect(size: int, alpha: float, edges: Iterable[tuple[IntArray, IntArray, Array]]) -> ThresholdGraph:
    """Gather edges tile by tile; refuse to fill the memory."""
    rows, cols, bounds, total = [], [], [], 0
    for r, c, b in edges:
        total += len(r)
        if total > MAX_EDGES:
            raise MemoryError(
                f"alpha = {alpha:g} leaves more than {MAX_EDGES:,} pairs with |S_ij| above it: choose a larger alpha, "
                "or solve one alpha at a time."
            )
        rows.append(r.astype(np.int32))
        cols.append(c.astype(np.int32))
        bounds.append(b)
    empty = np.zeros(0, np.int32)
    return ThresholdGraph(
        size,
        alpha,
        np.concatenate([empty, *rows]),
        np.concatenate([empty, *cols]),
        np.concatenate([np.zeros(0), *bounds]),
    )
