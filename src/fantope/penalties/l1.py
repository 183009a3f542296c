"""The ℓ₁ norm: what a plain number alpha means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from fantope.checks import LARGEST, check_nonnegative
from fantope.errors import InputError
from fantope.penalties.base import Entrywise, Penalty
from fantope.penalties.concave import Concave
from fantope.typing import Array, IntArray


@dataclass(frozen=True)
class L1(Entrywise):
    """Ω(X) = alpha·Σ|X_ij|.

    Parameters
    ----------
    alpha : float
        0 or larger; 0 is ordinary PCA.

    Examples
    --------
    >>> import numpy as np
    >>> L1(0.5).value(np.array([[1.0, -2.0], [-2.0, 0.0]]))
    2.5
    """

    alpha: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_nonnegative("alpha", self.alpha))

    @property
    def common(self) -> float:
        """Alpha."""
        return self.alpha

    @property
    def rows(self) -> IntArray:
        """None."""
        return np.zeros(0, dtype=np.intp)

    def restrict(self, rows: IntArray) -> Self:
        """Return the penalty itself: it is the same for any variables."""
        return self

    def check(self, size: int) -> None:
        """Accept any number of variables."""

    def limits(self, rows: IntArray | None = None, cols: IntArray | None = None) -> float:
        """Return alpha."""
        return self.alpha

    def diagonal(self, rows: IntArray) -> Array:
        """Return alpha for each of the variables."""
        return np.full(len(rows), self.alpha)


def as_shape(penalty: Any, size: int) -> Penalty | Concave:
    """Return the penalty on ``size`` variables whose alpha is yet to come; None is the ℓ₁ norm."""
    return penalty if isinstance(penalty, Concave) else as_penalty(0.0 if penalty is None else penalty, size)


def as_penalty(alpha: Any, size: int) -> Penalty:
    """Return the penalty on ``size`` variables that ``alpha``, a number or a penalty, stands for."""
    penalty = alpha if isinstance(alpha, Penalty) else L1(alpha)
    if penalty.alpha > LARGEST:
        raise InputError(
            argument="alpha", expected=f"at most {LARGEST:g}", got=f"{penalty.alpha:.3g}, whose square overflows",
            remedy="divide S and alpha by a large number, or see fantope.alpha_max",
        )  # fmt: skip
    penalty.check(size)
    return penalty
