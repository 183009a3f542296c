"""Groups of variables that come and go together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np

from fantope.checks import check_nonnegative
from fantope.errors import require
from fantope.penalties.structured import Parts, Structured
from fantope.typing import AnyArray, Array, IntArray

ABSENT = {"None", "nan", "<NA>", "NaT"}  # what NumPy and pandas have in place of a label
BISECTIONS = 60  # of an interval for alpha: to the last bit or so


class Group(Structured):
    """Ω(X) = alpha·Σ_gh √(|g||h|)·‖X_gh‖_F over the blocks of X between groups of variables, or that and the ℓ₁ norm.

    Whole blocks of X are zero, so that whole groups are. With groups of one variable each it is the ℓ₁ norm.

    Parameters
    ----------
    alpha : float
        0 or larger.
    groups : sequence or mapping
        A label for each variable, as ``["energy", "health", "energy", …]``; or for each group its variables, as
        ``[[0, 2], [1, 3]]`` or ``{"energy": [0, 2], "health": [1, 3]}``, each variable in exactly one.
    l1_share : float, default 0
        Above 0 and up to 1 the sparse group: Ω(X) = alpha·(l1_share·‖X‖₁ + (1 − l1_share)·Σ_gh √(|g||h|)·‖X_gh‖_F).

    Examples
    --------
    >>> penalty = Group(0.5, ["a", "a", "b"])
    >>> round(penalty.value(np.diag([3.0, 0.0, 1.0])), 12)
    3.5
    >>> penalty == Group(0.5, [[0, 1], [2]])
    True
    """

    def __init__(self, alpha: float, groups: Any, l1_share: float = 0.0) -> None:
        self.alpha = check_nonnegative("alpha", alpha)
        self.l1_share = check_nonnegative("l1_share", l1_share)
        require(self.l1_share <= 1.0, "l1_share", "be from 0 to 1", f"{self.l1_share:g}")
        self.codes = _codes(groups)
        self.weights = np.sqrt(np.bincount(self.codes))  # by group; a restriction keeps those of the whole

    def __repr__(self) -> str:
        share = f", l1_share={self.l1_share:g}" if self.l1_share else ""
        return f"Group(alpha={self.alpha:g}, {len(self.weights)} groups of {len(self.codes)} variables{share})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Group)
            and (self.alpha, self.l1_share) == (other.alpha, other.l1_share)
            and np.array_equal(self.codes, other.codes)
        )

    __hash__ = None  # type: ignore[assignment]

    def restrict(self, rows: IntArray) -> Self:
        """Return the penalty on X[rows][:, rows]; a group of which some variables are left keeps its weight."""
        return self._with(codes=self.codes[rows])

    def check(self, size: int) -> None:
        """Raise ValueError unless there are as many variables in groups as in S."""
        if len(self.codes) != size:
            raise ValueError(
                f"groups must have each of the {size} variables of S in one group, got {len(self.codes)} variables; "
                "give those left over a group each."
            )

    def _norms(self, X: Array) -> Array:
        """Return ‖X_gh‖_F for all pairs of groups."""
        where = np.zeros((len(self.weights), len(self.codes)))
        where[self.codes, np.arange(len(self.codes))] = 1.0
        return np.asarray(np.sqrt(where @ np.square(X) @ where.T))

    @property
    def _limits(self) -> Array:
        """The weight of each pair of groups."""
        return self.alpha * (1.0 - self.l1_share) * np.outer(self.weights, self.weights)

    def _spread(self, factors: Array) -> Array:
        return factors[self.codes[:, None], self.codes]

    def _soft(self, A: Array, step: float = 1.0) -> Array:
        """Return A without its part in the box of the ℓ₁ norm."""
        edge = step * self.alpha * self.l1_share
        return A - np.clip(A, -edge, edge) if edge > 0.0 else A

    def value(self, X: Array) -> float:
        """Return Ω(X)."""
        own = self.alpha * self.l1_share * float(np.abs(X).sum())
        return own + float((self._limits * self._norms(X)).sum())

    def shrunk(self, parts: Sequence[Array], step: float) -> Parts:
        """Return the blocks of A, soft-thresholded entry by entry and then as blocks."""
        A = self._soft(parts[0], step)
        norms, limits = self._norms(A), step * self._limits
        kept = np.divide(norms - limits, norms, out=np.zeros_like(norms), where=norms > limits)
        return (A * self._spread(kept),)

    def bounded(self, parts: Sequence[Array]) -> Parts:
        """Return P: what is beyond the box of the ℓ₁ norm is scaled down, block by block."""
        beyond = self._soft(parts[0])
        norms, limits = self._norms(beyond), self._limits
        kept = np.divide(limits, norms, out=np.ones_like(norms), where=norms > limits)
        return (parts[0] - beyond + beyond * self._spread(kept),)

    def outside(self, parts: Sequence[Array]) -> float:
        """Return the largest excess of a block's norm over its limit, what is in the box of the ℓ₁ norm left out."""
        return float((self._norms(self._soft(parts[0])) - self._limits).max())

    def together(self, used: AnyArray) -> AnyArray:
        """Return all variables of the groups in use, unless single ones may be left out."""
        return used if self.l1_share else np.isin(self.codes, self.codes[used])

    def largest_alpha(self, S: Array) -> float:
        """Return the alpha from which on X is zero between groups; if there is one group only, from which U = S is."""
        same = self.codes[:, None] == self.codes
        between = S if same.all() else np.where(same, 0.0, S)
        low, high = 0.0, float(np.abs(between).max()) * len(S)
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.scaled(middle).outside((between,)) <= 0.0 else (middle, high)
        return high


def _codes(groups: Any) -> IntArray:
    """Return the number of the group of each variable, numbered by their first variables."""
    groups = groups.values() if isinstance(groups, Mapping) else groups
    given = list(groups) if isinstance(groups, Iterable) and not isinstance(groups, str) else []
    require(given, "groups", "be a label for each variable, or lists of variables", repr(groups))
    if all(isinstance(group, Iterable) and not isinstance(group, str) for group in given):
        given = _from_lists(given)
    missing = [k for k, label in enumerate(given) if not isinstance(label, str) and str(label) in ABSENT]
    if missing:
        raise ValueError(
            f"groups must have a label for each variable, got {given[missing[0]]} for variable {missing[0]}; give it a "
            "group of its own."
        )
    number: dict[Any, int] = {}
    try:
        return np.array([number.setdefault(label, len(number)) for label in given], dtype=np.intp)
    except TypeError:
        raise ValueError(
            "groups must be a label for each variable, or lists of variables, got a mixture; use one of both."
        ) from None


def _from_lists(groups: list[Any]) -> list[int]:
    owner: dict[int, int] = {}
    for k, group in enumerate(groups):
        for variable in group:
            if isinstance(variable, bool) or not isinstance(variable, int | np.integer) or variable < 0:
                raise ValueError(f"groups must hold variables by their numbers, 0 or larger, got {variable!r}.")
            if owner.setdefault(int(variable), k) != k:
                raise ValueError(
                    f"groups must not overlap, but variable {variable} is in groups {owner[int(variable)]} and {k}; "
                    "keep it in one."
                )
    missing = sorted(set(range(max(owner, default=-1) + 1)) - set(owner))
    if missing or not owner:
        raise ValueError(
            f"groups must hold every variable, but {missing[0] if missing else 0} is in none; give it a group of its "
            "own."
        )
    return [owner[variable] for variable in range(len(owner))]
