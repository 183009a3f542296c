"""Dual points U in the box of a penalty: stored where they must be, given by a rule where they need not be.

The diagonal is always at its largest: X ⪰ 0 makes diag X ≥ 0, and among all admissible U the one with the largest
diagonal gives the smallest bound φ_d(S − U).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from fantope.operators.base import Covariance
from fantope.penalties import Entrywise, Structured
from fantope.penalties.structured import Parts
from fantope.typing import AnyArray, Array, IntArray


class ReducedDual(Protocol):
    """A dual point of a reduced problem."""

    def over(self, S: Array, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols] given ``S``, the entries S[rows][:, cols], which may be overwritten."""

    def slack(self, S: Array, out: Array | None = None) -> Array:
        """Return S − U over all variables, in ``out`` if it is given."""

    def kept(self, previous: ReducedDual | None) -> ReducedDual:
        """Return a dual point that outlives the solver's next step; ``previous`` may give up its memory for it."""


def _into_box(block: Array, penalty: Entrywise, rows: IntArray, cols: IntArray) -> Array:
    """Clip a block of U to the box and set its diagonal to the edge, in place."""
    penalty.clip(block, rows, cols)
    _, r, c = np.intersect1d(rows, cols, return_indices=True)
    block[r, c] = penalty.diagonal(rows[r])
    return block


def _slack(S: Array, U: Array, penalty: Entrywise) -> Array:
    """Write S − U in place of U, which is clipped to the box, its diagonal set to the edge."""
    penalty.clip(U)
    np.subtract(S, U, out=U)
    np.fill_diagonal(U, S.diagonal() - penalty.diagonal(np.arange(len(S))))
    return U


def _copied(A: Array, out: Array | None) -> Array:
    if out is None:
        return A.copy()
    np.copyto(out, A)
    return out


@dataclass(frozen=True)
class DenseDual:
    """U stored whole.

    The array belongs to the point, unless it is ``lent``: then a solver will write to it in its next step.
    """

    U: Array
    penalty: Entrywise
    lent: bool = False

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols], clipped to the box."""
        return _into_box(self.U[rows[:, None], cols], self.penalty, rows, cols)

    def over(self, S: Array, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols], for which S is not needed."""
        return self.block(rows, cols)

    def kept(self, previous: ReducedDual | None) -> DenseDual:
        """Return itself, or if its array is lent a copy, in the memory of ``previous`` if that is of the same kind."""
        if not self.lent:
            return self
        out = previous.U if isinstance(previous, DenseDual) else None
        return DenseDual(_copied(self.U, out), self.penalty)

    def slack(self, S: Array, out: Array | None = None) -> Array:
        """Return S − U."""
        return _slack(S, _copied(self.U, out), self.penalty)


@dataclass(frozen=True)
class ExtendedDual:
    """U stored on the rows of an active set; S, clipped to the box, between the other variables.

    Its size is that of the active set: S is not held, but asked for. Of the rows some columns may be enough: elsewhere
    U is S, clipped to the box, as well.
    """

    penalty: Entrywise
    active: IntArray  # (a,) ascending
    U: Array  # (a, m): the rows of the active variables, or (a, c) of them
    columns: IntArray | None = None  # (c,) ascending, with all active variables; None for all
    # (m − a, a), float32: S − U between the others and the active variables, to look at; no proof reads it.
    rough: AnyArray | None = None

    @classmethod
    def empty(cls, size: int, penalty: Entrywise) -> ExtendedDual:
        """Return U = clip(S), with which S − U is S, soft-thresholded."""
        return cls(penalty, np.zeros(0, dtype=np.intp), np.zeros((0, size)))

    @property
    def stored(self) -> IntArray:
        """The columns of U that are stored."""
        return np.arange(self.U.shape[1]) if self.columns is None else self.columns

    def over(self, S: Array, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols] in place of ``S``, the entries S[rows][:, cols]."""
        for target, own, other in ((S, rows, cols), (S.T, cols, rows)):
            (here, i), (there, j) = _common(own, self.active), _common(other, self.stored)
            target[here[:, None], there] = self.U[i[:, None], j]
        return _into_box(S, self.penalty, rows, cols)

    def kept(self, previous: ReducedDual | None) -> ExtendedDual:
        """Return the same point, which nobody writes to, without what is there to look at."""
        return replace(self, rough=None)

    def slack(self, S: Array, out: Array | None = None) -> Array:
        """Return S − U; among the other variables that is S, soft-thresholded."""
        U = _copied(S, out)
        if self.columns is None:
            U[self.active], U[:, self.active] = self.U, self.U.T
        else:
            U[self.active[:, None], self.columns] = self.U
            U[self.columns[:, None], self.active] = self.U.T
        return _slack(S, U, self.penalty)


def _common(variables: IntArray, known: IntArray) -> tuple[IntArray, IntArray]:
    """Return where ``variables`` are among the ``known`` ones, which ascend: places in the first, and in the second."""
    at = np.minimum(np.searchsorted(known, variables), max(len(known) - 1, 0))
    here = np.flatnonzero(known[at] == variables) if len(known) else at[:0]
    return here, at[here]


@dataclass(frozen=True)
class PenalisedDual:
    """Any D, by M = S − D, where Ω* is finite everywhere."""

    M: Array  # (m, m)
    value: float  # Ω*(D), or a little more
    # (θ, P) such that M ⪯ θI + PPᵀ is expected; it saves the eigenvalues, and a wrong one costs nothing but time
    claim: tuple[float, Array] | None = None

    def over(self, S: Array, rows: IntArray, cols: IntArray) -> Array:
        """Return D[rows][:, cols]."""
        return np.asarray(S - self.M[rows[:, None], cols])

    def kept(self, previous: ReducedDual | None) -> PenalisedDual:
        """Return itself: nobody writes to it."""
        return self

    def slack(self, S: Array, out: Array | None = None) -> Array:
        """Return M."""
        return _copied(self.M, out)


@dataclass(frozen=True)
class StructuredDual:
    """U = sym(Σ K_kᵀP_k) of a structured penalty, by its parts P_k, which nobody writes to."""

    parts: Parts
    penalty: Structured

    @cached_property
    def U(self) -> Array:
        """U, all of it, its parts moved into their dual sets."""
        return self.penalty.joined(self.penalty.bounded(self.parts))

    def over(self, S: Array, rows: IntArray, cols: IntArray) -> Array:
        """Return U[rows][:, cols], for which S is not needed."""
        return np.asarray(self.U[rows[:, None], cols])

    def kept(self, previous: ReducedDual | None) -> StructuredDual:
        """Return itself."""
        return self

    def slack(self, S: Array, out: Array | None = None) -> Array:
        """Return S − U."""
        return np.subtract(S, self.U, out=out)


@dataclass(frozen=True)
class LiftedDual:
    """The dual of the full problem from that of the reduced one (exact decomposition).

    Inside a connected component U is the reduced problem's; between components, and for dropped variables,
    S_ij is in the box, so U_ij = S_ij is admissible and leaves S − U zero there. The diagonal is infinite for variables
    that the penalty forbids.
    """

    S: Covariance
    penalty: Entrywise | Structured
    labels: IntArray  # (p,) component of each variable
    position: IntArray  # (p,) index in the reduced problem, −1 for dropped variables
    reduced: ReducedDual

    @property
    def alpha(self) -> float:
        """The penalty's alpha."""
        return self.penalty.alpha

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
        assert isinstance(self.penalty, Entrywise)  # the others are not decomposed
        block = self.S.block(rows, cols)
        inner = self.reduced.over(block[np.ix_(r, c)], *where)
        block[np.ix_(r, c)] = np.where(same, inner, block[np.ix_(r, c)])
        return _into_box(block, self.penalty, rows, cols)
