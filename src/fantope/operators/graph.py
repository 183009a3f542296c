"""The graph {|S_ij| > alpha}, found once for the smallest alpha and read at any larger one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fantope.errors import require
from fantope.kernels.scan import roots, unite
from fantope.typing import Array, IntArray

Edges = tuple[IntArray, IntArray, Array]

GATHERED = 2**21  # pairs that are gathered before they are reduced to a forest: 50 MB, and a second to sort


@dataclass(frozen=True)
class ThresholdGraph:
    """What connects variables at ``alpha`` and at every larger threshold: a heaviest spanning forest of the graph.

    Two variables are connected by pairs above a threshold if and only if they are in the forest that takes the pairs
    by descending |S_ij| and leaves out those that close a cycle. So p − 1 pairs say all that billions of them would.
    """

    size: int  # number of variables
    alpha: float  # the graph is complete for this threshold and every larger one
    rows: IntArray  # with cols the edges, fewer than size
    cols: IntArray
    bounds: Array  # (e,): |S_ij| ≤ bounds, tight up to rounding

    def component_labels(self, alpha: float) -> IntArray:
        """Return the connected component of each variable at ``alpha``, which must not be below the graph's own."""
        require(not alpha < self.alpha, "alpha", f"be at least {self.alpha}, for which the graph was made", str(alpha))
        used = self.bounds > alpha
        parents = np.arange(self.size)
        unite(parents, self.rows[used], self.cols[used])
        return labels_of(parents)


def labels_of(parents: IntArray) -> IntArray:
    """Return component labels 0, 1, … in the order of the components' smallest variables."""
    return np.unique(roots(parents, np.arange(len(parents))), return_inverse=True)[1].astype(np.intp)


def heaviest_forest(size: int, rows: IntArray, cols: IntArray, bounds: Array) -> Edges:
    """Return the pairs that are left when, by descending bounds, those are taken that close no cycle (Kruskal)."""
    order = np.argsort(-bounds, kind="stable")
    kept = order[unite(np.arange(size), rows[order], cols[order])]
    return rows[kept], cols[kept], bounds[kept]


def collect(size: int, alpha: float, edges: Iterable[Edges]) -> ThresholdGraph:
    """Gather edges and reduce them to a forest whenever many have come together."""
    gathered: list[Edges] = [(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))]
    total = 0
    for found in edges:
        gathered.append(found)
        total += len(found[0])
        if total > GATHERED + 2 * size:
            gathered = [_reduce(size, gathered)]
            total = len(gathered[0][0])
    return ThresholdGraph(size, alpha, *_reduce(size, gathered))


def _reduce(size: int, gathered: list[Edges]) -> Edges:
    rows, cols, bounds = (np.concatenate(parts) for parts in zip(*gathered, strict=True))
    return heaviest_forest(size, rows, cols, bounds)
