"""The interface between S and everything that reads it."""

from __future__ import annotations

from typing import Protocol

from fantope.operators.graph import ThresholdGraph
from fantope.typing import Array, IntArray


class Covariance(Protocol):
    """A symmetric p × p matrix that may exist only as a rule."""

    @property
    def size(self) -> int:
        """Number of variables p."""

    def diagonal(self) -> Array:
        """Return the (p,) diagonal."""

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return S[rows][:, cols] as a dense array that the caller may overwrite."""

    def component_labels(self, alpha: float) -> IntArray:
        """Return the connected component of each variable in the graph |S_ij| > alpha, i ≠ j."""

    def matmul(self, V: Array) -> Array:
        """Return S V for a vector or a thin block V."""

    def largest_off_diagonal(self, apart: IntArray | None = None) -> float:
        """Return max |S_ij|, i ≠ j, without the pairs of two variables of ``apart``."""

    def graph(self, alpha: float, apart: IntArray | None = None) -> ThresholdGraph:
        """Return what the pairs with |S_ij| > alpha connect: one scan that serves every larger alpha.

        Pairs of two variables of ``apart`` are left out: the penalty has a threshold of its own for each of them.
        """
