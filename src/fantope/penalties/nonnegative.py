"""Non-negative X: parts that add up, never cancel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from fantope.checks import check_nonnegative
from fantope.penalties.structured import Parts, Structured
from fantope.typing import AnyArray, Array, IntArray


@dataclass(frozen=True)
class NonNegative(Structured):
    """Ω(X) = alpha·Σ X_ij where X ≥ 0 entry by entry, and infinite elsewhere.

    The dual set is U_ij ≤ alpha, without a lower bound.

    Parameters
    ----------
    alpha : float
        0 or larger.

    Examples
    --------
    >>> import numpy as np, fantope
    >>> S = np.array([[1.0, 0.6, -0.7], [0.6, 1.0, -0.5], [-0.7, -0.5, 1.0]])
    >>> sol = fantope.solve(S, 1, fantope.penalties.NonNegative(0.1))
    >>> bool((sol.projection.toarray() >= 0.0).all()), sol.support.tolist()
    (True, [0, 1])
    """

    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_nonnegative("alpha", self.alpha))

    def restrict(self, rows: IntArray) -> Self:
        """Return the penalty itself: it is the same for any variables."""
        return self

    def check(self, size: int) -> None:
        """Accept any number of variables."""

    def forbidden(self, X: Array, rows: IntArray | None = None) -> AnyArray:
        """Return where X is negative."""
        return X < 0.0

    def value(self, X: Array) -> float:
        """Return alpha·ΣX_ij, or infinity."""
        return float("inf") if (X < 0.0).any() else self.alpha * float(X.sum())

    def shrunk(self, parts: Sequence[Array], step: float) -> Parts:
        """Return max(A − step·alpha, 0)."""
        return (np.maximum(parts[0] - step * self.alpha, 0.0),)

    def bounded(self, parts: Sequence[Array]) -> Parts:
        """Return min(P, alpha)."""
        return (np.minimum(parts[0], self.alpha),)

    def outside(self, parts: Sequence[Array]) -> float:
        """Return the largest P_ij − alpha."""
        return float(parts[0].max()) - self.alpha

    def largest_alpha(self, S: Array) -> float:
        """Return the largest S_ij off the diagonal; from it on X is diagonal."""
        off = S.copy()
        np.fill_diagonal(off, 0.0)
        return float(off.max())
