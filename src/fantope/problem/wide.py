"""A problem over more variables than an m × m array could hold: S by blocks, and its thresholded graph."""

from __future__ import annotations

import numpy as np

from fantope.problem.deferred import DeferredProblem
from fantope.problem.dual import ExtendedDual
from fantope.problem.slack import SplitSlack
from fantope.problem.soft_graph import SoftGraph
from fantope.typing import Array, IntArray


class WideProblem(DeferredProblem):
    """A reduced problem that is never formed: what an active set and its certificate need of it; its graph is known."""

    graph: SoftGraph

    @property
    def S(self) -> Array:
        """Refuse: only the active set can do without it."""
        raise MemoryError(
            f"solver must be 'auto' at alpha = {self.alpha:g}, where {self.size:,} variables have a partner above it: "
            "the others need S over all of them in memory; use solver='auto', or raise alpha."
        )

    def reach(self, rows: IntArray) -> IntArray:
        """Return ``rows`` and the variables that are in a pair with one of them, ascending."""
        return np.union1d(rows, self.graph.near(rows))

    def slack(self, dual: ExtendedDual) -> SplitSlack:
        """Return S − U by the rows of the active set and the graph."""
        return SplitSlack(self.block, self.diagonal(), self.graph, dual)
