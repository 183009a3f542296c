"""Penalties that couple entries: Ω(X) = Σ_k h_k(K_k X) with linear K_k and simple h_k.

U is in the dual set if U = sym(Σ_k K_kᵀP_k) with each P_k in the dual set of h_k: the P_k, its parts, are what a
solver finds, a certificate checks and a file stores.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from fantope.checks import check_whole
from fantope.errors import require
from fantope.penalties.base import Penalty
from fantope.typing import AnyArray, Array, IntArray

Parts = tuple[Array, ...]


class Structured(Penalty):
    """A penalty on dense problems of moderate size; by default there is one part, and K is the identity."""

    def parts(self, X: Array) -> Parts:
        """Return K_k X for each k."""
        return (X,)

    def joined(self, parts: Sequence[Array]) -> Array:
        """Return sym(Σ K_kᵀP_k)."""
        return 0.5 * (parts[0] + parts[0].T)

    def consensus(self, A: Array, parts: Sequence[Array]) -> Array:
        """Return the symmetric W nearest to A and, by its K_k W, to the parts: the least sum of squares."""
        return 0.5 * (A + self.joined(parts))

    def sparse(self, parts: Sequence[Array]) -> Array | None:
        """Return the part that stands for X itself, with the zeros of a prox, if there is one."""
        return parts[0]

    @abstractmethod
    def shrunk(self, parts: Sequence[Array], step: float) -> Parts:
        """Return the prox of step·h_k at each part."""

    @abstractmethod
    def bounded(self, parts: Sequence[Array]) -> Parts:
        """Return the parts, moved into the dual sets of the h_k."""

    @abstractmethod
    def outside(self, parts: Sequence[Array]) -> float:
        """Return by how much parts leave those dual sets: 0 or less inside."""

    def norm(self, size: int) -> float:
        """Return a Lipschitz constant of Ω where it is finite: by default that of alpha times the ℓ₁ norm."""
        return self.alpha * size

    @abstractmethod
    def largest_alpha(self, S: Array) -> float:
        """Return where an automatic grid of alphas begins."""

    def prox(self, A: Array, step: float) -> Array:
        """Return the X that minimises ``step``·Ω(X) + ½‖X − A‖²."""
        return self.shrunk(self.parts(A), step)[0]

    def clip(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> Array:
        """Move ``U``, all of it, into the dual set, in place."""
        U[...] = self.joined(self.bounded(self.parts(U)))
        return U

    def excess(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> float:
        """Return by how much ``U``, all of it, leaves the dual set."""
        return self.outside(self.parts(U))


def symmetric(A: Array) -> Array:
    """Return (A + Aᵀ)/2."""
    return 0.5 * (A + A.T)


def differences(size: int, order: int) -> Array:
    """Return the (size − order, size) matrix of differences of that order.

    Examples
    --------
    >>> differences(4, 2)
    array([[ 1., -2.,  1.,  0.],
           [ 0.,  1., -2.,  1.]])
    """
    D: AnyArray = np.diff(np.eye(size), n=order, axis=0)
    return np.asarray(D, dtype=np.float64)


def check_order(order: object, size: int | None = None) -> None:
    """Raise ValueError unless ``order`` is that of differences that ``size`` variables have."""
    number = check_whole("order", order, 1, expected="a whole number, 1 or larger: that of the differences")
    require(size is None or number < size, "order", f"be less than the number of variables, {size}", str(order))


def check_all(rows: IntArray) -> None:
    """Raise ValueError unless the rows are all variables: without their number, differences are not known."""
    if not np.array_equal(rows, np.arange(len(rows))):
        raise ValueError("rows must be all variables the first time, since differences depend on their number.")
