"""What a penalty is.

A penalty Ω is convex. It is three things: a value, a prox, and a dual value Ω*(D) = sup ⟨D, X⟩ − Ω(X). For any X in the
Fantope and any symmetric D

    ⟨S, X⟩ − Ω(X)  ≤  optimum  ≤  φ_d(S − D) + Ω*(D),

whoever found them. That is all a certificate needs to know of a penalty. Where Ω(cX) = cΩ(X) for c ≥ 0, Ω* is zero in
the dual set ``{U : ⟨U, X⟩ ≤ Ω(X) for all X}`` and infinite elsewhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from functools import cached_property
from typing import Any, Self

import numpy as np

from fantope.checks import check_nonnegative
from fantope.typing import AnyArray, Array, IntArray


class Penalty(ABC):
    """A norm of X, or something like one, times ``alpha``; or more than that.

    Attributes
    ----------
    alpha : float
        0 or larger.
    """

    alpha: float

    def scaled(self, alpha: float) -> Self:
        """Return the same penalty with another alpha."""
        return self._with(alpha=check_nonnegative("alpha", alpha))

    def _with(self, **changes: Any) -> Self:
        """Return a copy with other attributes, and without what was computed from the old ones."""
        new = copy(self)
        for name in vars(self):
            if isinstance(getattr(type(self), name, None), cached_property):
                del vars(new)[name]
        vars(new).update(changes)
        return new

    @abstractmethod
    def restrict(self, rows: IntArray) -> Self:
        """Return the penalty on X[rows][:, rows], X being zero elsewhere."""

    @abstractmethod
    def check(self, size: int) -> None:
        """Raise ValueError, in one sentence, if the penalty is not one for ``size`` variables."""

    @abstractmethod
    def value(self, X: Array) -> float:
        """Return Ω(X)."""

    @abstractmethod
    def prox(self, A: Array, step: float) -> Array:
        """Return the X that minimises ``step``·Ω(X) + ½‖X − A‖²."""

    def dual_value(self, D: Array) -> float:
        """Return Ω*(D)."""
        return 0.0 if self.excess(D) <= 0.0 else float("inf")

    def forbidden(self, X: Array, rows: IntArray | None = None) -> AnyArray | bool:
        """Return the entries of X, over the rows given, at which the value is infinite, by default none."""
        return False

    def sizes(self, diagonal: Array, rows: IntArray) -> Array:
        """Return how large the terms of ⟨S, X⟩ − Ω(X) are per unit of X_ii, for rows in which S has ``diagonal``."""
        return np.abs(diagonal)

    def together(self, used: AnyArray) -> AnyArray:
        """Return which variables X uses if it uses at least these, by default the same: some come only together."""
        return used

    @abstractmethod
    def clip(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> Array:
        """Move ``U``, the rows and columns given of a matrix, into the dual set, in place; return it."""

    @abstractmethod
    def excess(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> float:
        """Return by how much ``U`` leaves the dual set: 0 or less inside, not a number if U is none."""


class Entrywise(Penalty):
    """Ω(X) = Σ w_ij|X_ij|, whose dual set is the box |U_ij| ≤ w_ij.

    w_ij = ``common`` unless both i and j are among ``rows``: then w_ij is a number of its own. It may be infinite: X_ij
    must then be zero and U_ij is free.
    """

    @property
    @abstractmethod
    def common(self) -> float:
        """w_ij wherever it is not a number of its own."""

    @property
    @abstractmethod
    def rows(self) -> IntArray:
        """The variables whose pairs have w_ij of their own, ascending."""

    @abstractmethod
    def limits(self, rows: IntArray | None = None, cols: IntArray | None = None) -> float | Array:
        """Return w[rows][:, cols], by default all of it: one number if all are equal. Not to be written to."""

    @abstractmethod
    def diagonal(self, rows: IntArray) -> Array:
        """Return w_ii for the variables given."""

    def sizes(self, diagonal: Array, rows: IntArray) -> Array:
        """Return max(|S_ii|, w_ii)."""
        return np.maximum(np.abs(diagonal), self.diagonal(rows))

    def value(self, X: Array) -> float:
        """Return Σ w_ij|X_ij|; 0·∞ is 0."""
        limits = self.restrict(np.arange(len(X))).limits()
        size = np.abs(X)
        return float(np.multiply(limits, size, out=np.zeros_like(size), where=size > 0.0).sum())

    def prox(self, A: Array, step: float) -> Array:
        """Return A, soft-thresholded entry by entry at step·w_ij."""
        threshold = step * self.restrict(np.arange(len(A))).limits()
        return A - np.clip(A, -threshold, threshold)

    def clip(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> Array:
        """Clip ``U`` to the box, in place."""
        limits = self.limits(rows, cols)
        return np.clip(U, np.negative(limits), limits, out=U)

    def excess(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> float:
        """Return the largest |U_ij| − w_ij."""
        limits = self.limits(rows, cols)
        if isinstance(limits, float):
            return max(float(U.max()), -float(U.min())) - limits
        return float((np.abs(U) - limits).max())

    def forbidden(self, X: Array, rows: IntArray | None = None) -> AnyArray | bool:
        """Return where w_ij is infinite, whatever X is."""
        return np.isinf(self.limits(rows, rows))

    def norm(self, size: int) -> float:
        """Return ‖w‖_F over the finite entries, a Lipschitz constant of Ω where it is finite."""
        limits = self.limits()
        if isinstance(limits, float):
            return limits * size
        return float(np.linalg.norm(limits[np.isfinite(limits)]))
