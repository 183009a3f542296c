"""Dual points U, |U_ij| ≤ alpha: stored where they must be, given by a rule where they need not be.

The diagonal is always alpha: X ⪰ 0 makes ‖diag X‖₁ = tr X = d, so the diagonal's penalty is constant, and
among all admissible U the one with the largest diagonal gives the smallest bound φ_d(S − U).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from fantope.operators.base import Covariance
from fantope.typing import Array, IntArray


class ReducedDual(Protocol):
    """A dual point of a reduced problem."""

    def over(self, S: Array, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols] given ``S``, the entries S[rows][:, cols], which may be overwritten."""
        ...

    def slack(self, S: Array, out: Array | None = None) -> Array:
        """Return S − U over all variables, in ``out`` if it is given."""
        ...

    def kept(self, previous: ReducedDual | None) -> ReducedDual:
        """Return a dual point that outlives the solver's next step; ``previous`` may give up its memory for it."""
        ...


def _set_diagonal(block: Array, rows: IntArray, cols: IntArray, alpha: float) -> None:
    _, r, c = np.intersect1d(rows, cols, return_indices=True)
    block[r, c] = alpha


@dataclass(frozen=True)
class DenseDual:
    """U stored whole."""

    U: Array
    alpha: float

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols], clipped to the box."""
        block = self.U[rows[:, None], cols]
        np.clip(block, -self.alpha, self.alpha, out=block)
        _set_diagonal(block, rows, cols, self.alpha)
        return block

    def over(self, S: Array, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols], for which S is not needed."""
        return self.block(rows, cols)

    def kept(self, previous: ReducedDual | None) -> DenseDual:
        """Return itself: nobody writes to it."""
        return self

    def slack(self, S: Array, out: Array | None = None) -> Array:
        """Return S − U."""
        M = np.clip(self.U, -self.alpha, self.alpha, out=out)
        np.subtract(S, M, out=M)
        np.fill_diagonal(M, S.diagonal() - self.alpha)
        return M


@dataclass(frozen=True)
class WorkspaceDual:
    """U as a rule over a solver's state, written into its work space only while it is looked at.

    With it a certificate needs no array of its own. Good until the solver's next step.
    """

    fill: Callable[[Array], object]  # writes U
    workspace: Array
    alpha: float

    def over(self, S: Array, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols], for which S is not needed."""
        return self.kept(None).block(rows, cols)

    def kept(self, previous: ReducedDual | None) -> DenseDual:
        """Return U written out, in the memory of ``previous`` if that is of the same kind."""
        dual = previous if isinstance(previous, DenseDual) else DenseDual(np.empty_like(self.workspace), self.alpha)
        self.fill(dual.U)
        return dual

    def slack(self, S: Array, out: Array | None = None) -> Array:
        """Return S − U, in the work space unless told otherwise."""
        M = self.workspace if out is None else out
        self.fill(M)
        np.clip(M, -self.alpha, self.alpha, out=M)
        np.subtract(S, M, out=M)
        np.fill_diagonal(M, S.diagonal() - self.alpha)
        return M


@dataclass(frozen=True)
class ExtendedDual:
    """U stored on the rows of an active set; clip(S, ±alpha) between the other variables.

    Its size is that of the active set: S is not held, but asked for.
    """

    alpha: float
    active: IntArray  # (a,) rising
    U: Array  # (a, m): the rows of the active variables

    @classmethod
    def empty(cls, size: int, alpha: float) -> ExtendedDual:
        """Return U = clip(S, ±alpha), with which S − U = soft(S, alpha)."""
        return cls(alpha, np.zeros(0, dtype=np.intp), np.zeros((0, size)))

    def over(self, S: Array, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols] in place of ``S``, the entries S[rows][:, cols]."""
        block = np.clip(S, -self.alpha, self.alpha, out=S)
        position = np.full(self.U.shape[1], -1)
        position[self.active] = np.arange(len(self.active))
        for target, own, other in ((block, rows, cols), (block.T, cols, rows)):
            inside = np.flatnonzero(position[own] >= 0)
            target[inside] = self.U[position[own[inside]][:, None], other]
        _set_diagonal(block, rows, cols, self.alpha)
        return block

    def kept(self, previous: ReducedDual | None) -> ExtendedDual:
        """Return itself: nobody writes to it."""
        return self

    def slack(self, S: Array, out: Array | None = None) -> Array:
        """Return S − U; among the other variables that is soft(S, alpha)."""
        M = np.clip(S, -self.alpha, self.alpha, out=out)
        np.subtract(S, M, out=M)
        rows = S[self.active] - self.U
        M[self.active] = rows
        M[:, self.active] = rows.T
        np.fill_diagonal(M, S.diagonal() - self.alpha)
        return M


@dataclass(frozen=True)
class LiftedDual:
    """The dual of the full problem from that of the reduced one (exact decomposition).

    Inside a connected component U is the reduced problem's; between components, and for dropped variables,
    |S_ij| ≤ alpha, so U_ij = S_ij is admissible and leaves S − U zero there.
    """

    S: Covariance
    alpha: float
    labels: IntArray  # (p,) component of each variable
    position: IntArray  # (p,) index in the reduced problem, −1 for dropped variables
    reduced: ReducedDual

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols]."""
        rows, cols = np.asarray(rows, dtype=np.intp), np.asarray(cols, dtype=np.intp)
        r, c = np.flatnonzero(self.position[rows] >= 0), np.flatnonzero(self.position[cols] >= 0)
        where = self.position[rows[r]], self.position[cols[c]]
        same = self.labels[rows[r]][:, None] == self.labels[cols[c]]
        if same.shape == (len(rows), len(cols)) and same.all():
            if isinstance(self.reduced, DenseDual):
                return self.reduced.block(*where)
            return self.reduced.over(self.S.block(rows, cols), *where)
        block = self.S.block(rows, cols)
        inner = self.reduced.over(block[np.ix_(r, c)], *where)
        np.clip(block, -self.alpha, self.alpha, out=block)
        block[np.ix_(r, c)] = np.where(same, inner, block[np.ix_(r, c)])
        _set_diagonal(block, rows, cols, self.alpha)
        return block
