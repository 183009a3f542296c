"""Trend filtering of the components: piecewise constant, piecewise linear, and so on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Self

import numpy as np

from fantope.checks import check_nonnegative
from fantope.penalties.structured import Parts, Structured, check_all, check_order, differences, symmetric
from fantope.typing import Array, IntArray

PROX_ITER, PROX_ACCURACY = 20_000, 1e-13  # of the prox, by itself an iteration


class Trend(Structured):
    """Ω(X) = alpha·(‖DX‖₁ + l1·‖X‖₁), D the differences of some order of neighbouring variables.

    Where DX has zeros, X and its components have a trend: constant for order 1, linear for order 2, up to the
    accuracy of the solution.

    Parameters
    ----------
    alpha : float
        0 or larger.
    order : int, default 1
        1 or larger.
    l1 : float, default 0
        Weight of the ℓ₁ norm beside that of the differences; above 0 it makes X zero where nothing happens.

    Examples
    --------
    >>> Trend(0.5).value(np.diag([0.0, 1.0, 1.0, 0.0]))
    2.0
    """

    def __init__(self, alpha: float, order: int = 1, l1: float = 0.0) -> None:
        self.alpha = check_nonnegative("alpha", alpha)
        self.l1 = check_nonnegative("l1", l1)
        check_order(order)
        self.order = int(order)
        self.D: Array | None = None

    def __repr__(self) -> str:
        return f"Trend(alpha={self.alpha:g}, order={self.order}" + (f", l1={self.l1:g})" if self.l1 else ")")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Trend) and (self.alpha, self.order, self.l1) == (other.alpha, other.order, other.l1)

    __hash__ = None  # type: ignore[assignment]

    def restrict(self, rows: IntArray) -> Self:
        """Return the penalty on X[rows][:, rows]; the first time the rows must be all variables."""
        if self.D is None:
            check_all(rows)
            return self._with(D=differences(len(rows), self.order))
        return self._with(D=np.ascontiguousarray(self.D[:, rows]))

    def check(self, size: int) -> None:
        """Raise ValueError unless ``size`` variables have such differences."""
        check_order(self.order, size)
        if self.D is not None and self.D.shape[1] != size:
            raise ValueError(f"alpha is a Trend of {self.D.shape[1]} variables, but S has {size}; make a new one.")

    def _over(self, size: int) -> Array:
        return differences(size, self.order) if self.D is None else self.D

    @cached_property
    def _spectrum(self) -> tuple[Array, Array]:
        """The eigenvalues and the eigenvectors of DᵀD."""
        assert self.D is not None
        values, vectors = np.linalg.eigh(self.D.T @ self.D)
        return np.asarray(values), np.asarray(vectors)

    def parts(self, X: Array) -> Parts:
        """Return DX, and X if the ℓ₁ norm has a weight."""
        DX = self._over(len(X)) @ X
        return (DX, X) if self.l1 else (DX,)

    def joined(self, parts: Sequence[Array]) -> Array:
        """Return sym(DᵀP₀ + P₁)."""
        U = self._over(parts[0].shape[1]).T @ parts[0]
        return symmetric(U + parts[1] if self.l1 else U)

    def consensus(self, A: Array, parts: Sequence[Array]) -> Array:
        """Return the W nearest to A with DW near to P₀ and W near to P₁: W + ½(DᵀDW + WDᵀD) = A + sym(DᵀP₀)."""
        return self._least(A, parts, 1.0)

    def sparse(self, parts: Sequence[Array]) -> Array | None:
        """Return the part of the ℓ₁ norm, if it has a weight."""
        return symmetric(parts[1]) if self.l1 else None

    def _limits(self) -> tuple[float, float]:
        return self.alpha, self.alpha * self.l1

    def value(self, X: Array) -> float:
        """Return alpha(‖DX‖₁ + l1‖X‖₁)."""
        return sum(limit * float(np.abs(P).sum()) for limit, P in zip(self._limits(), self.parts(X), strict=False))

    def shrunk(self, parts: Sequence[Array], step: float) -> Parts:
        """Return the parts, soft-thresholded."""
        found = zip(self._limits(), parts, strict=False)
        return tuple(P - np.clip(P, -step * limit, step * limit) for limit, P in found)

    def bounded(self, parts: Sequence[Array]) -> Parts:
        """Return the parts, clipped to their boxes."""
        return tuple(np.clip(P, -limit, limit) for limit, P in zip(self._limits(), parts, strict=False))

    def outside(self, parts: Sequence[Array]) -> float:
        """Return the largest |P_ij| beyond its box."""
        return max(float(np.abs(P).max()) - limit for limit, P in zip(self._limits(), parts, strict=False))

    def prox(self, A: Array, step: float) -> Array:
        """Return the X that minimises ``step``·Ω(X) + ½‖X − A‖²; an iteration, for small matrices and for tests."""
        return A - step * self._nearest(A / step)

    def _nearest(self, A: Array) -> Array:
        """Return the point of the dual set nearest to A: ADMM on its parts, W − A being the projection's residual."""
        own = self if self.D is not None else self.restrict(np.arange(len(A)))
        W, rho = np.zeros_like(A), 1.0
        Y = own.parts(W)
        u = tuple(np.zeros_like(P) for P in Y)
        for _ in range(PROX_ITER):
            # min ½‖W − A‖² + Ω(W), W being what is left of A; its parts are Y, their multipliers −rho·u.
            W = own._least(A, tuple(P + v for P, v in zip(Y, u, strict=True)), rho)
            K, before = own.parts(W), Y
            Y = own.shrunk(tuple(P - v for P, v in zip(K, u, strict=True)), 1.0 / rho)
            u = tuple(v + P - Q for v, P, Q in zip(u, Y, K, strict=True))
            moved = max(float(np.abs(P - Q).max()) for P, Q in zip(Y, before, strict=True))
            apart = max(float(np.abs(P - Q).max()) for P, Q in zip(Y, K, strict=True))
            if max(moved, apart) <= PROX_ACCURACY * (1.0 + float(np.abs(A).max())):
                break
        return own.joined(own.bounded(tuple(-rho * v for v in u)))

    def _least(self, A: Array, parts: Sequence[Array], rho: float) -> Array:
        """Return the W that minimises ½‖W − A‖² + ½rho·Σ‖K_kW − parts_k‖²."""
        values, Q = self._spectrum
        scale = 1.0 + rho * (bool(self.l1) + 0.5 * (values[:, None] + values))
        return symmetric(Q @ ((Q.T @ (A + rho * self.joined(parts)) @ Q) / scale) @ Q.T)

    def clip(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> Array:
        """Move all of ``U`` to the nearest point of the dual set, in place."""
        U[...] = self._nearest(U)
        return U

    def excess(self, U: Array, rows: IntArray | None = None, cols: IntArray | None = None) -> float:
        """Return how far an entry of ``U`` is from that of the nearest point of the dual set."""
        return float(np.abs(U - self._nearest(U)).max())

    def norm(self, size: int) -> float:
        """Return a Lipschitz constant of Ω: ‖DX‖₁ ≤ √(size·rows)·‖D‖₂·‖X‖_F."""
        D = self._over(size)
        return self.alpha * (float(np.sqrt(len(D) * size) * np.linalg.norm(D, 2)) + self.l1 * size)

    def largest_alpha(self, S: Array) -> float:
        """Return the alpha from which on every component of d ≤ order has a single trend.

        With N the projection on what D does not see, S − NSN = sym(DᵀP) for some P, and then U = S − NSN is in the dual
        set as soon as alpha is at least the largest |P_ij|.
        """
        D = self._over(len(S))
        inverse = np.linalg.pinv(D)  # D⁺D = I − N
        T = inverse @ D
        return float(np.abs(inverse.T @ (2.0 * S - S @ T)).max())
