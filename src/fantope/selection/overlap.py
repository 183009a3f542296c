"""The penalty at which groups share most: the paper's rule for two or more sets of samples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fantope.errors import InputError, Use, data_frame, require
from fantope.typing import Array, IntArray

LIMITS = (Use("min_variables"), " and ", Use("max_variables"))

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Overlap:
    """What was compared and what was chosen.

    Attributes
    ----------
    alphas : (k,) array
        Falling.
    sizes : (k, groups) array
        Number of variables in use.
    overlap : (k,) array
        V(alpha); NaN for one group alone.
    eligible : (k,) bool array
        Whether all sizes are within the limits.
    chosen : int
        Index of the alpha that was chosen.
    groups : tuple of str
    """

    alphas: Array
    sizes: IntArray
    overlap: Array
    eligible: NDArray[np.bool_]
    chosen: int
    groups: tuple[str, ...]

    @property
    def alpha(self) -> float:
        """The alpha that was chosen."""
        return float(self.alphas[self.chosen])

    def to_frame(self) -> pd.DataFrame:
        """Return one row per alpha: alpha, n_<group> …, overlap, eligible, chosen (needs pandas)."""
        sizes = {f"n_{group}": self.sizes[:, g] for g, group in enumerate(self.groups)}
        chosen = np.arange(len(self.alphas)) == self.chosen
        return data_frame(
            {"alpha": self.alphas, **sizes, "overlap": self.overlap, "eligible": self.eligible, "chosen": chosen}
        )


def select_by_overlap(
    supports: Mapping[str, Sequence[Iterable[int]]],
    alphas: Iterable[float],
    *,
    min_variables: int = 50,
    max_variables: int = 300,
) -> Overlap:
    """Choose the alpha whose active sets overlap most, among those of a size that can be read.

    With A_g(alpha) the variables in use in group g, alpha is limited to min_variables ≤ |A_g| ≤ max_variables in every
    group, and

        V(alpha) = |∩ A_g| / |∪ A_g|

    is maximised; of equals the largest alpha, which is the sparsest, is taken. For one group alone V is 1 whatever
    alpha is and says nothing: the smallest eligible alpha is taken, that is the largest set within the limits.

    Parameters
    ----------
    supports : mapping of str to sequences of index sets
        For each group the variables in use, one set per alpha.
    alphas : sequence of float
        In the same order, descending.
    min_variables, max_variables : int, default 50 and 300

    Returns
    -------
    Overlap
        The whole table, not only its winner.

    Raises
    ------
    ValueError
        If no alpha is eligible; the message has the sizes and says where to look.

    Examples
    --------
    >>> sets = {"a": [[0, 1], [0, 1, 2], range(9)], "b": [[3, 1], [0, 1, 2, 5], range(9)]}
    >>> found = select_by_overlap(sets, [0.9, 0.8, 0.7], min_variables=2, max_variables=5)
    >>> found.alpha, found.overlap.round(2).tolist(), found.eligible.tolist()
    (0.8, [0.33, 0.75, 1.0], [True, True, False])
    """
    groups = tuple(supports)
    grid = np.array([float(alpha) for alpha in alphas])
    check_limits(min_variables, max_variables)
    require(groups and len(grid), "supports", "hold at least one group and one alpha", "none")
    for group in groups:
        if len(supports[group]) != len(grid):
            raise ValueError(
                f"supports must hold one set for each of the {len(grid)} alphas, got {len(supports[group])} for "
                f"group {group!r}."
            )
    if (np.diff(grid) >= 0).any():
        raise ValueError(f"alphas must be descending, got {grid.tolist()}; sort alphas and supports together.")
    sets = [[frozenset(int(i) for i in supports[group][k]) for group in groups] for k in range(len(grid))]
    sizes = np.array([[len(active) for active in row] for row in sets], dtype=np.intp)
    overlap = np.array([_share(row) for row in sets]) if len(groups) > 1 else np.full(len(grid), np.nan)
    eligible = np.asarray(((sizes >= min_variables) & (sizes <= max_variables)).all(axis=1))
    if not eligible.any():
        raise no_alpha(grid, sizes, groups, min_variables, max_variables)
    candidates = np.flatnonzero(eligible)
    chosen = candidates[int(np.argmax(overlap[candidates]))] if len(groups) > 1 else candidates[-1]
    return Overlap(grid, sizes, overlap, eligible, int(chosen), groups)


def check_limits(low: int, high: int) -> None:
    """Refuse limits that no set can meet."""
    if not 1 <= low <= high:
        raise InputError(
            f"the limits on the number of variables must satisfy 1 ≤ minimum ≤ maximum, got {low} and {high}",
            remedy=("see ", *LIMITS),
        )


def _share(sets: list[frozenset[int]]) -> float:
    union = frozenset.union(*sets)
    return len(frozenset.intersection(*sets)) / len(union) if union else float("nan")


def no_alpha(alphas: Array, sizes: IntArray, groups: Sequence[str], low: int, high: int) -> InputError:
    """Return the error for a table without an eligible alpha: what was seen, and where to look."""
    seen = "; ".join(
        f"alpha {alpha:g}: " + ", ".join(f"{size} in {group}" for size, group in zip(row, groups, strict=True))
        for alpha, row in zip(alphas, sizes, strict=True)
    )
    advice: list[str | Use]
    small, large = (sizes < low).any(axis=1), (sizes > high).any(axis=1)
    if small.all() and not large.any():
        advice = ["all sets are too small: try ", Use("alphas"), f" below {alphas.min():g}"]
    elif large.all() and not small.any():
        advice = ["all sets are too large: try ", Use("alphas"), f" above {alphas.max():g}"]
    elif (small & large).any():
        at = alphas[int(np.argmax(small & large))]
        advice = [
            f"at alpha {at:g} one group has too few and another too many, so that no single alpha may suit both: "
            "widen the limits with ", *LIMITS, ", or analyse the groups one at a time",
        ]  # fmt: skip
    else:
        upper, lower = alphas[small & ~large].min(), alphas[large].max()
        advice = [
            "the sizes step over the limits: try ", Use("alphas"), f" between {lower:g} and {upper:g}, or widen the "
            "limits with ", *LIMITS,
        ]  # fmt: skip
    return InputError(f"no alpha gives every group {low} to {high} variables ({seen})", remedy=advice)
