"""S − U by an active set: dense on its rows, sparse among the other variables, never all of it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse

from fantope.problem.dual import ExtendedDual
from fantope.problem.soft_graph import SoftGraph, SoftMatrix
from fantope.typing import AnyArray, Array, IntArray

STRIP = 256  # rows of S read at a time


class SplitSlack:
    """M = S − U for a U that is stored on the rows of an active set A, and S, clipped to the box, elsewhere.

    Parameters
    ----------
    block : callable
        Returns S[rows][:, cols], zero between components.
    diagonal : (m,) array
        Of S.
    graph : SoftGraph or SoftMatrix
        Of S; its pairs outside A are M there.
    dual : ExtendedDual
    single : bool
        Whether rows of A are kept in single precision, which is enough to look for eigenvectors.

    Attributes
    ----------
    near : (r,) array
        The other variables on which rows of A may be different from zero, ascending.
    M_AA, T : (a, a) and (a, r) arrays
        M on A, and between A and ``near``.
    """

    def __init__(
        self,
        block: Callable[[IntArray, IntArray], Array],
        diagonal: Array,
        graph: SoftGraph | SoftMatrix,
        dual: ExtendedDual,
        single: bool = False,
    ) -> None:
        self.block, self.graph, self.dual, self.active, self.single = block, graph, dual, dual.active, single
        self.diagonal = diagonal - dual.penalty.diagonal(np.arange(graph.size))
        self.near = np.setdiff1d(np.union1d(dual.stored, graph.near(self.active)), self.active, assume_unique=True)
        kind = np.float32 if single else np.float64
        self.M_AA: Array = self._rows(self.active).astype(kind, copy=False)
        if single and dual.rough is not None:
            self.T: Array = dual.rough.T
            return
        self.T = np.empty((len(self.active), len(self.near)), dtype=kind)
        for start in range(0, len(self.near), STRIP):
            self.T[:, start : start + STRIP] = self._rows(self.near[start : start + STRIP])

    def _rows(self, cols: IntArray) -> Array:
        S = self.block(self.active, cols)
        # To look at, U is good enough as it is; a proof has it clipped to the box once more.
        as_it_is = self.single and self.dual.columns is None
        U = self.dual.U[:, cols] if as_it_is else self.dual.over(S.copy(), self.active, cols)
        return np.asarray(np.subtract(S, U, out=S))

    def __len__(self) -> int:
        return self.graph.size

    @cached_property
    def outside(self) -> AnyArray:
        """Which variables are not in A."""
        found = np.ones(len(self), dtype=bool)
        found[self.active] = False
        return found

    def __matmul__(self, V: Array) -> Array:
        others = V.astype(np.float64)
        others[self.active] = 0.0
        out = self.graph.product(others)
        out += (self.diagonal * others.T).T
        V = V.astype(self.T.dtype, copy=False)
        out[self.active] = self.M_AA @ V[self.active] + self.T @ V[self.near]
        out[self.near] += self.T.T @ V[self.active]
        return out

    def row_sums(self) -> Array:
        """Return upper bounds of Σ_j |M_ij|, j ≠ i, up to rounding."""
        sums = np.where(self.outside, self.graph.product(self.outside.astype(np.float64), absolute=True), 0.0)
        sums[self.active] = np.abs(self.M_AA).sum(axis=1) - np.abs(self.M_AA.diagonal()) + np.abs(self.T).sum(axis=1)
        sums[self.near] += np.abs(self.T).sum(axis=0)
        return sums

    def soft_rows(self, rows: IntArray) -> scipy.sparse.csr_array:
        """Return the rows of M, without the diagonal and the columns of A, of variables outside A."""
        parts = [scipy.sparse.csr_array((0, len(self)))]
        for start in range(0, len(rows), STRIP):
            strip = rows[start : start + STRIP]
            cols = self.graph.near(strip)
            cols = cols[self.outside[cols]]
            S = self.block(strip, cols)
            size = np.maximum(np.abs(S) - self.dual.penalty.limits(strip, cols), 0.0)
            size[strip[:, None] == cols] = 0.0
            found = scipy.sparse.coo_array(np.copysign(size, S))
            shape = (len(strip), len(self))
            parts.append(scipy.sparse.csr_array((found.data, (found.coords[0], cols[found.coords[1]])), shape=shape))
        return scipy.sparse.csr_array(scipy.sparse.vstack(parts))
