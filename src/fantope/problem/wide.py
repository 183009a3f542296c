"""A problem over more variables than an m × m array could hold: S by blocks, and its thresholded graph."""

from __future__ import annotations

import numpy as np

from fantope.operators import Covariance
from fantope.penalties import Entrywise
from fantope.problem.dual import ExtendedDual
from fantope.problem.problem import Problem
from fantope.problem.slack import SplitSlack
from fantope.problem.soft_graph import SoftGraph
from fantope.typing import Array, IntArray


class WideProblem(Problem):
    """A reduced problem that is never formed: what an active set and its certificate need of it.

    Parameters
    ----------
    covariance : Covariance
        Over all variables.
    kept : (m,) array
    labels : (m,) array
        Their components; S is cut between them.
    graph : SoftGraph
        Over the kept variables.
    n_components : int
    penalty : Entrywise
        On the kept variables.
    """

    def __init__(
        self,
        covariance: Covariance,
        kept: IntArray,
        labels: IntArray,
        graph: SoftGraph,
        n_components: int,
        penalty: Entrywise,
    ) -> None:
        self.__dict__.update(
            covariance=covariance, kept=kept, labels=labels, graph=graph, n_components=n_components, penalty=penalty
        )  # Problem is frozen

    covariance: Covariance
    kept: IntArray
    labels: IntArray
    graph: SoftGraph

    @property
    def S(self) -> Array:
        """Refuse: only the active set can do without it."""
        raise MemoryError(
            f"solver must be 'auto' at alpha = {self.alpha:g}, where {self.size:,} variables have a partner above it: "
            "the others need S over all of them in memory; use solver='auto', or raise alpha."
        )

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.kept)

    def diagonal(self) -> Array:
        """Return the (m,) diagonal of S."""
        return np.asarray(self.covariance.diagonal()[self.kept])

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return S[rows][:, cols], zero between components."""
        found = self.covariance.block(self.kept[rows], self.kept[cols])
        found[self.labels[rows][:, None] != self.labels[cols]] = 0.0
        return found

    def reach(self, rows: IntArray) -> IntArray:
        """Return ``rows`` and the variables that are in a pair with one of them, ascending."""
        return np.union1d(rows, self.graph.near(rows))

    def slack(self, dual: ExtendedDual) -> SplitSlack:
        """Return S − U by the rows of the active set and the graph."""
        return SplitSlack(self.block, self.diagonal(), self.graph, dual)
