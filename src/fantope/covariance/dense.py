"""S as an array in memory."""

from __future__ import annotations

import numpy as np

from fantope.kernels.graph import component_labels
from fantope.typing import Array, IntArray


class DenseCovariance:
    """A symmetric matrix held as a C-contiguous float64 array.

    Parameters
    ----------
    S : (p, p) array
        Not copied.
    """

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
