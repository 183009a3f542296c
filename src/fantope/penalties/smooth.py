"""Smooth and localised components: a roughness that is linear in X, and the ℓ₁ norm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from fantope.checks import LARGEST, check_finite, check_nonnegative, is_sparse
from fantope.errors import InputError
from fantope.penalties.base import Penalty
from fantope.penalties.l1 import L1
from fantope.penalties.structured import check_all, check_order, differences
from fantope.typing import Array, IntArray

SYMMETRY = 1e-8  # largest |L − Lᵀ|, and largest negative eigenvalue, relative to the largest entry: rounding


@dataclass(frozen=True)
class Localised(L1):
    """The ℓ₁ norm that is left of a Smooth when S − rho·L takes the place of S.

    Where X is smooth, rho·L is large on the diagonal and small in ⟨L, X⟩: sizes are those of S itself.
    """

    linear: Array = field(repr=False, compare=False)  # the diagonal of rho·L

    def restrict(self, rows: IntArray) -> Self:
        """Return the same for the variables given."""
        return self._with(linear=self.linear[rows])

    def sizes(self, diagonal: Array, rows: IntArray) -> Array:
        """Return max(|S_ii|, alpha) for the S before rho·L was subtracted."""
        return super().sizes(diagonal + self.linear[rows], rows)


class Smooth(Penalty):
    """Ω(X) = rho·⟨L, X⟩ + alpha·Σ|X_ij|, L the roughness: localised functional PCA.

    ⟨L, X⟩ = Σ vᵀLv over the components v. It is linear, so the problem is that of S − rho·L with the ℓ₁ norm: the same
    solvers, and the same certificate, ⟨S − ρL, X⟩ − α‖X‖₁ ≤ optimum ≤ φ_d(S − ρL − U) with |U_ij| ≤ α.

    Parameters
    ----------
    alpha : float
        0 or larger; the weight of the ℓ₁ norm, which localises. Paths vary it and keep ``rho``.
    rho : float
        0 or larger; the weight of the roughness.
    order : int, default 2
        L = DᵀD with D the differences of this order of neighbouring variables.
    laplacian : (p, p) array, optional
        L itself, in place of ``order``: the Laplacian of a graph of variables, or any positive semidefinite matrix.

    Examples
    --------
    >>> penalty = Smooth(0.1, 2.0, order=1)
    >>> penalty.roughness(3)
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    >>> round(penalty.value(np.ones((3, 3)) / 3), 12), round(penalty.value(np.diag([1.0, 0.0, 0.0])), 12)
    (0.3, 2.1)
    """

    def __init__(self, alpha: float, rho: float, order: int | None = None, laplacian: Any = None) -> None:
        self.alpha = check_nonnegative("alpha", alpha)
        self.rho = check_nonnegative("rho", rho)
        if order is not None and laplacian is not None:
            raise ValueError("order and laplacian both say what is smooth; give one of them.")
        self.order = 2 if order is None else order
        check_order(self.order)
        self.laplacian: Array | None = None if laplacian is None else _checked(laplacian)
        self._L = self.laplacian

    def __repr__(self) -> str:
        what = f"order={self.order}" if self.laplacian is None else f"laplacian: {len(self.laplacian)} variables"
        return f"Smooth(alpha={self.alpha:g}, rho={self.rho:g}, {what})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Smooth) or (self.alpha, self.rho) != (other.alpha, other.rho):
            return False
        if self.laplacian is None or other.laplacian is None:
            return self.laplacian is other.laplacian and self.order == other.order
        return np.array_equal(self.laplacian, other.laplacian)

    __hash__ = None  # type: ignore[assignment]

    def entrywise(self, size: int) -> Localised:
        """Return what is left beside the linear part."""
        return Localised(self.alpha, self.rho * self.roughness(size).diagonal())

    def roughness(self, size: int) -> Array:
        """Return L for ``size`` variables."""
        if self._L is not None:
            return self._L
        D = differences(size, self.order)
        return np.asarray(D.T @ D)

    def restrict(self, rows: IntArray) -> Self:
        """Return the penalty on X[rows][:, rows]; the first time the rows must be all variables."""
        if self._L is None:
            check_all(rows)
            return self._with(_L=self.roughness(len(rows)))
        return self._with(_L=np.ascontiguousarray(self._L[np.ix_(rows, rows)]))

    def check(self, size: int) -> None:
        """Raise ValueError unless the roughness is one of ``size`` variables."""
        if self._L is None:
            check_order(self.order, size)
        elif len(self._L) != size:
            raise ValueError(f"laplacian must have shape ({size}, {size}), as S has, got {self._L.shape}.")
        if self.rho * float(self.roughness(size).diagonal().max()) > LARGEST:
            got = f"{self.rho:.3g}, whose square overflows"
            raise InputError(argument="rho", expected=f"such that rho·L is at most {LARGEST:g}", got=got)

    def norm(self, size: int) -> float:
        """Return a Lipschitz constant of Ω."""
        return self.rho * float(np.linalg.norm(self.roughness(size))) + self.alpha * size

    def value(self, X: Array) -> float:
        """Return rho·⟨L, X⟩ + alpha‖X‖₁."""
        return self.rho * float(np.vdot(self.roughness(len(X)), X)) + self.alpha * float(np.abs(X).sum())

    def prox(self, A: Array, step: float) -> Array:
        """Return A − step·rho·L, soft-thresholded."""
        return L1(self.alpha).prox(A - step * self.rho * self.roughness(len(A)), step)

    def clip(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> Array:
        """Move all of ``U`` into the dual set, rho·L plus a box, in place."""
        linear = self.rho * self.roughness(len(U))
        U -= linear
        L1(self.alpha).clip(U)
        U += linear
        return U

    def excess(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> float:
        """Return the largest |U_ij − rho·L_ij| − alpha."""
        return L1(self.alpha).excess(U - self.rho * self.roughness(len(U)))


def _checked(laplacian: Any) -> Array:
    """Return L, exactly symmetric."""
    try:
        given = np.asarray(laplacian.toarray() if is_sparse(laplacian) else laplacian)
        if np.iscomplexobj(given):
            raise TypeError
        L = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"laplacian must be a numeric (p, p) array, got {type(laplacian).__name__}.") from None
    if L.ndim != 2 or L.shape[0] != L.shape[1] or not len(L):
        raise ValueError(f"laplacian must be a square (p, p) array, got shape {L.shape}.")
    check_finite(L, "laplacian", remedy="give numbers")
    rounding = SYMMETRY * float(np.abs(L).max())
    if np.abs(L - L.T).max() > rounding:
        raise ValueError(
            f"laplacian must be symmetric, got |L − Lᵀ| up to {float(np.abs(L - L.T).max()):.3g}; for a directed graph "
            "pass (L + L.T) / 2."
        )
    L = 0.5 * (L + L.T)
    smallest = float(np.linalg.eigvalsh(L)[0])
    if smallest < -rounding:
        raise ValueError(
            f"laplacian must be positive semidefinite, as D − A of a graph with weights A ≥ 0 is, got an eigenvalue of "
            f"{smallest:.3g}."
        )
    return L
