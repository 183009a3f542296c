"""A problem whose S is formed when something needs all of it: an active set and its certificate mostly do not."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from fantope.operators import Covariance
from fantope.penalties import Entrywise
from fantope.problem.problem import Problem
from fantope.problem.soft_graph import SoftGraph
from fantope.typing import Array, IntArray


class DeferredProblem(Problem):
    """A reduced problem by blocks of S, each computed when it is asked for.

    Of few samples a block costs about as much to compute as to read. S over 7,213 genes of 72 samples, which nothing
    needed, took a fifth of the time in which their problem was solved.

    Parameters
    ----------
    covariance : Covariance
        Over all variables.
    kept : (m,) array
    labels : (m,) array
        Their components; S is cut between them.
    n_components : int
    penalty : Entrywise
        On the kept variables.
    factor : (m, n) array, optional
        F with S = FFᵀ over the kept variables.
    graph : SoftGraph, optional
        Over the kept variables, if it is known.
    """

    def __init__(
        self,
        covariance: Covariance,
        kept: IntArray,
        labels: IntArray,
        n_components: int,
        penalty: Entrywise,
        factor: Array | None,
        graph: SoftGraph | None = None,
    ) -> None:
        self.__dict__.update(  # Problem is frozen
            covariance=covariance, kept=kept, labels=labels, n_components=n_components, penalty=penalty, factor=factor
        )
        if graph is not None:
            self.__dict__["graph"] = graph

    covariance: Covariance
    kept: IntArray
    labels: IntArray
    factor: Array | None

    @cached_property
    def S(self) -> Array:
        """All of it."""
        S = self.covariance.block(self.kept, self.kept)
        self.cut(S)
        return S

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.kept)

    def diagonal(self) -> Array:
        """Return the (m,) diagonal of S."""
        return self._diagonal.copy()

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return S[rows][:, cols], zero between components."""
        if "S" in self.__dict__:
            return super().block(rows, cols)
        if self.factor is None:
            found = self.covariance.block(self.kept[rows], self.kept[cols])
        else:
            F = self.factor[rows]
            found = F @ (F if np.array_equal(rows, cols) else self.factor[cols]).T
            _, r, c = np.intersect1d(rows, cols, return_indices=True)
            found[r, c] = self._diagonal[rows[r]]
        own, other = self.labels[rows], self.labels[cols]
        for block, first, second in ((found, own, other), (found.T, other, own)):
            apart = np.flatnonzero(first != self._largest)  # few: most variables are in one component
            if len(apart):
                block[apart] = np.where(first[apart][:, None] == second, block[apart], 0.0)
        return found

    def strip(self, rows: IntArray, cols: IntArray) -> Array:
        """Return the block; to compute it is all there is."""
        return self.block(rows, cols)

    @cached_property
    def _diagonal(self) -> Array:
        return np.asarray(self.covariance.diagonal()[self.kept])

    @cached_property
    def _largest(self) -> int:
        """The component with most variables."""
        return int(np.bincount(self.labels).argmax())
