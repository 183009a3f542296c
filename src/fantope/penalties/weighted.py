"""The ℓ₁ norm with a weight for every entry, or for those of a block."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np

from fantope.checks import check_nonnegative
from fantope.errors import require
from fantope.penalties.base import Entrywise
from fantope.typing import Array, IntArray

SYMMETRY = 1e-8  # largest |w_ij − w_ji| relative to w_ij that counts as rounding


class WeightedL1(Entrywise):
    """Ω(X) = alpha·Σ weights_ij|X_ij|.

    Parameters
    ----------
    alpha : float
        0 or larger.
    weights : (p, p) array
        Symmetric, 0 or larger: factors of alpha. 0 leaves an entry of X free, infinity forbids it (whatever alpha is);
        infinity on the diagonal forbids the variable.

    Examples
    --------
    Two variables of a pair may not be used together:

    >>> import numpy as np, fantope
    >>> S = np.array([[1.0, 0.9, 0.5], [0.9, 1.1, 0.6], [0.5, 0.6, 1.0]])
    >>> weights = np.ones((3, 3))
    >>> weights[0, 1] = weights[1, 0] = np.inf
    >>> sol = fantope.solve(S, 1, fantope.penalties.WeightedL1(0.1, weights))
    >>> float(sol.projection[0, 1]), sol.verify().gap < 1e-4
    (0.0, True)
    """

    def __init__(self, alpha: float, weights: Any) -> None:
        self.alpha = check_nonnegative("alpha", alpha)
        self.weights = _checked(weights, "(p, p)")
        self._size: int | None = len(self.weights)
        self._rows: IntArray = np.arange(len(self.weights))

    @classmethod
    def on_block(cls, alpha: float, rows: Any, weights: Any) -> Self:
        """Return the penalty whose weights are 1 except between the variables ``rows``.

        Stored as one number and a block: nothing p × p is formed.

        Parameters
        ----------
        alpha : float
        rows : (k,) array of int
            Distinct variables.
        weights : (k, k) array

        Examples
        --------
        >>> import numpy as np
        >>> penalty = WeightedL1.on_block(0.5, [7, 3], [[1.0, np.inf], [np.inf, 1.0]])
        >>> penalty.limits(np.array([3, 4]), np.array([3, 7]))
        array([[0.5, inf],
               [0.5, 0.5]])
        """
        chosen = np.asarray(rows)
        if chosen.ndim != 1 or not (np.issubdtype(chosen.dtype, np.integer) and (chosen >= 0).all()):
            raise ValueError(f"rows must be variables by their numbers, 0 or larger, got {rows!r}.")
        if len(np.unique(chosen)) != len(chosen):
            raise ValueError("rows must be distinct variables, but one is named twice; name each once.")
        block = _checked(weights, f"({len(chosen)}, {len(chosen)})")
        m = len(chosen)
        require(len(block) == m, "weights", f"be as many as rows, {m} × {m}", f"shape {block.shape}")
        order = np.argsort(chosen)
        ordered = cls(alpha, block[np.ix_(order, order)])
        return ordered._with(_rows=chosen[order].astype(np.intp), _size=None)

    def __repr__(self) -> str:
        k = len(self.weights)
        where = f"{k} × {k}" if self._size == k else f"1, but for {k} × {k}"
        return f"WeightedL1(alpha={self.alpha:g}, weights: {where})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, WeightedL1)
            and self.alpha == other.alpha
            and np.array_equal(self._rows, other._rows)
            and np.array_equal(self.weights, other.weights)
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def common(self) -> float:
        """Alpha: the weight elsewhere is 1."""
        return self.alpha

    @property
    def rows(self) -> IntArray:
        """The variables that the weights are about."""
        return self._rows

    @cached_property
    def _block(self) -> Array:
        """Alpha times the weights; an infinite weight forbids an entry even where alpha is zero."""
        return np.multiply(self.alpha, self.weights, out=self.weights.copy(), where=np.isfinite(self.weights))

    @cached_property
    def _whole(self) -> Array:
        """All of w, where a few variables differ."""
        assert self._size is not None
        whole = np.full((self._size, self._size), self.alpha)
        whole[np.ix_(self._rows, self._rows)] = self._block
        return whole

    def restrict(self, rows: IntArray) -> Self:
        """Return the penalty on X[rows][:, rows]."""
        _, where, own = np.intersect1d(rows, self._rows, return_indices=True)
        order = np.argsort(where)
        where, own = where[order], own[order]
        return self._with(_rows=where.astype(np.intp), weights=self.weights[np.ix_(own, own)], _size=len(rows))

    def check(self, size: int) -> None:
        """Raise ValueError if the weights are not about ``size`` variables."""
        shape = f"have shape ({size}, {size}), one weight for each entry of S"
        require(self._size in (None, size), "weights", shape, str(self.weights.shape))
        if self._size is None and len(self._rows) and self._rows[-1] >= size:
            raise ValueError(f"rows must be variables from 0 to {size - 1}, got {self._rows[-1]}.")

    def limits(self, rows: IntArray | None = None, cols: IntArray | None = None) -> float | Array:
        """Return alpha·weights over the rows and columns given, by default over all variables."""
        if not len(self._rows):
            return self.alpha
        if rows is None or cols is None:
            return self._block if len(self._rows) == self._size else self._whole
        r, c = self._places(rows), self._places(cols)
        if r.min(initial=0) >= 0 and c.min(initial=0) >= 0:
            return self._block[r[:, None], c]
        inside = np.flatnonzero(r >= 0), np.flatnonzero(c >= 0)
        found = np.full((len(rows), len(cols)), self.alpha)
        found[np.ix_(*inside)] = self._block[np.ix_(r[inside[0]], c[inside[1]])]
        return found

    def _places(self, variables: IntArray) -> IntArray:
        """Return where variables are in the block, −1 if they are not."""
        at = np.minimum(np.searchsorted(self._rows, variables), len(self._rows) - 1)
        return np.where(self._rows[at] == variables, at, -1)

    def diagonal(self, rows: IntArray) -> Array:
        """Return alpha·weights_ii for the variables given."""
        if not len(self._rows):
            return np.full(len(rows), self.alpha)
        at = self._places(rows)
        return np.where(at >= 0, self._block.diagonal()[at], self.alpha)


def _checked(weights: Any, shape: str) -> Array:
    """Return weights, exactly symmetric, as a float64 array; infinite rows where a variable is forbidden."""
    try:
        found = np.array(weights, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise ValueError(f"weights must be a numeric array of shape {shape}, got {type(weights).__name__}.") from None
    if found.ndim != 2 or found.shape[0] != found.shape[1]:
        raise ValueError(f"weights must be a square array of shape {shape}, got shape {found.shape}.")
    for wrong, what in ((np.isnan(found), "numbers, 0 or larger"), (found < 0, "0 or larger")):
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise ValueError(f"weights must be {what}, got {found[i, j]} at row {i}, column {j}.")
    if not np.array_equal(found, found.T):
        if not np.allclose(found, found.T, rtol=SYMMETRY, atol=0.0):
            i, j = np.argwhere(~np.isclose(found, found.T, rtol=SYMMETRY, atol=0.0))[0]
            raise ValueError(
                f"weights must be symmetric, got {found[i, j]:g} at row {i}, column {j} but {found[j, i]:g} the other "
                "way round; pass (weights + weights.T) / 2 if that is what you mean."
            )
        found = 0.5 * (found + found.T)
    forbidden = np.isinf(found.diagonal())
    found[forbidden] = np.inf
    found[:, forbidden] = np.inf
    return found
