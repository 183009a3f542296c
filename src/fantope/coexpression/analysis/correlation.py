"""Three correlations as one: each gene is rewritten so that an inner product of columns is the correlation wanted.

Pearson, Spearman and the biweight midcorrelation all have the form ⟨z_i, z_j⟩ / (‖z_i‖ ‖z_j‖) with columns z that
depend on one gene alone. So :func:`fantope.covariance` over the rewritten data is the matrix of any of them, over all
genes, without a p × p array.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy.stats import rankdata

from fantope.operators import DataCovariance, covariance
from fantope.typing import Array

Correlation = Literal["pearson", "spearman", "bicor"]
REACH = 9.0  # median absolute deviations beyond which the biweight gives an observation no weight


def rewrite(X: Array, method: Correlation) -> Array:
    """Return (n, p) unit columns whose inner products are the correlations of the columns of X.

    pearson: centred columns. spearman: centred ranks, ties averaged. bicor: with u = (x − med x) / (9 mad x) and
    weights w = (1 − u²)² where |u| < 1, else 0, the column (x − med x)·w. Its inner products are the biweight
    midcorrelation of Langfelder and Horvath (Journal of Statistical Software 46(11), 2012). A gene whose median
    absolute deviation is zero gets the column that Pearson's correlation uses, as they propose.

    Columns that are constant after that become zero.

    Examples
    --------
    >>> X = np.array([[1.0, 1.0], [2.0, 8.0], [3.0, 27.0], [4.0, 64.0]])
    >>> Z = rewrite(X, "spearman")
    >>> round(float(Z[:, 0] @ Z[:, 1]), 12)
    1.0
    """
    X = np.asarray(X, dtype=np.float64)
    if method == "bicor":
        Z = _biweight(X)
    else:
        Z = rankdata(X, axis=0) if method == "spearman" else X
        Z = Z - Z.mean(axis=0)
    norms = np.linalg.norm(Z, axis=0)
    # What rounding leaves of a constant column is no variation.
    norms[norms <= 1e-13 * np.linalg.norm(X, axis=0)] = np.inf
    return np.asarray(Z / norms)


def _biweight(X: Array) -> Array:
    centred = X - np.median(X, axis=0)
    mad = np.median(np.abs(centred), axis=0)
    u = centred / (REACH * np.where(mad > 0.0, mad, np.inf))
    weighted = centred * np.where(np.abs(u) < 1.0, (1.0 - u**2) ** 2, 0.0)
    return np.where(mad > 0.0, weighted, X - X.mean(axis=0))


def operator(Z: Array) -> DataCovariance:
    """Return the correlation matrix of rewritten columns as an operator; nothing p × p is formed."""
    # The columns are centred already where they should be; those of the biweight are centred at a robust mean.
    return covariance(Z, kind="correlation", center=False)


def matrix(Z: Array) -> Array:
    """Return the correlation matrix of rewritten columns, exactly symmetric with ones on its diagonal."""
    R = np.clip(Z.T @ Z, -1.0, 1.0)
    np.fill_diagonal(R, 1.0)
    return R


def mean_correlations(Z: Array, width: int = 1024) -> tuple[float, float]:
    """Return the mean and the mean absolute correlation over pairs of distinct rewritten columns (NaN for one)."""
    m = Z.shape[1]
    if m < 2:
        return float("nan"), float("nan")
    total = float((Z.sum(axis=1) ** 2).sum()) - float((Z**2).sum())
    absolute = sum(float(np.abs(Z[:, start : start + width].T @ Z).sum()) for start in range(0, m, width))
    return total / (m * (m - 1)), (absolute - float((Z**2).sum())) / (m * (m - 1))
