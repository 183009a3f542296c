"""S of data with missing values: each entry from the samples that have both variables."""

from __future__ import annotations

import numpy as np

from fantope.errors import InputError
from fantope.operators.dense import DenseCovariance
from fantope.typing import Array, IntArray

PAIRWISE_UP_TO = 10_000  # variables: S is formed


class PairwiseCovariance(DenseCovariance):
    """Covariances or correlations over the samples that both variables have; S may be indefinite.

    The problem stays convex and its certificate valid: they need no more of S than that it is symmetric. ``n_pairs``
    has the samples behind each entry.
    """

    def __init__(self, S: Array, n_pairs: IntArray, kind: str, names: list[str] | None) -> None:
        super().__init__(S)
        self.n_pairs, self.kind, self.names = n_pairs, kind, names

    @property
    def n_observations(self) -> int:
        """Samples that every entry rests on: what a penalty that follows the noise is to assume."""
        return self.fewest_pairs

    @property
    def fewest_pairs(self) -> int:
        """The fewest samples behind any entry."""
        return int(self.n_pairs.min())


def pairwise(
    X: Array, present: Array, kind: str, center: bool, names: list[str] | None, weights: Array | None = None
) -> PairwiseCovariance:
    """Return S over pairwise complete samples; X is NaN where a value is missing.

    ``present``, an (m, p) array, says which samples have which variables: for signs of differences the samples are not
    the rows of X. ``weights`` are those of the rows.
    """
    p = X.shape[1]
    if p > PAIRWISE_UP_TO:
        raise InputError(
            argument="missing", expected=f"'error' for more than {PAIRWISE_UP_TO:,} variables", got="'pairwise'",
            remedy=f"impute, or drop variables: S has {p:,} × {p:,} entries and would be formed",
        )  # fmt: skip
    count = present.astype(np.float64)
    n_pairs = np.rint(count.T @ count).astype(np.intp)
    _check_pairs(n_pairs, names)
    there = (~np.isnan(X)).astype(np.float64)
    w = np.ones(len(X)) if weights is None else weights
    middle = np.nanmean(np.asarray(X, dtype=np.float64), axis=0) if center else np.zeros(p)
    Z = np.where(there > 0.0, X - middle, 0.0)  # nearly centred: fewer digits cancel below
    total = there.T @ (w[:, None] * there)
    if (total <= 0.0).any():
        i, j = np.argwhere(total <= 0.0)[0]
        raise InputError(
            argument="sample_weight", expected="positive for some sample of each pair of variables",
            got=f"zeros for all samples that have both {_called(names, i)} and {_called(names, j)}",
        )  # fmt: skip
    S = Z.T @ (w[:, None] * Z) / total
    first = Z.T @ (w[:, None] * there) / total if center else np.zeros((p, p))  # mean of i where j is there
    S -= first * first.T
    if kind == "correlation":
        spread = (Z**2).T @ (w[:, None] * there) / total - first**2
        _check_spread(spread, np.square(middle) + spread.diagonal(), names)
        S /= np.sqrt(spread * spread.T)
        np.clip(S, -1.0, 1.0, out=S)
        np.fill_diagonal(S, 1.0)
    return PairwiseCovariance(0.5 * (S + S.T), n_pairs, kind, names)


def _check_pairs(n_pairs: IntArray, names: list[str] | None) -> None:
    empty = np.flatnonzero(n_pairs.diagonal() == 0)
    if len(empty):
        more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
        raise InputError(
            f"X must have a value in every column, but {_called(names, empty[0])}{more} is all missing",
            remedy="drop it",
        )
    if (n_pairs < 2).any():
        i, j = np.argwhere(n_pairs < 2)[0]
        said = "no sample" if n_pairs[i, j] == 0 else "only one sample"
        raise InputError(
            f"every two columns of X must share at least two samples, but {_called(names, i)} and {_called(names, j)} "
            f"share {said}",
            remedy="drop one of them",
        )


def _check_spread(spread: Array, scale: Array, names: list[str] | None) -> None:
    constant = spread <= 1e-26 * scale[:, None] + np.finfo(float).tiny
    if constant.any():
        i, j = np.argwhere(constant)[0]
        where = "" if i == j else f" over the samples that it shares with {_called(names, j)}"
        raise InputError(
            f"X must have no constant columns for kind='correlation', but {_called(names, i)} is constant{where}",
            remedy="drop it, or use kind='covariance'",
        )


def _called(names: list[str] | None, column: int) -> str:
    return repr(names[column]) if names else f"column {column}"
