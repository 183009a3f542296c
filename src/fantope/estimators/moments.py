"""What a fit needs to know of the data: its covariance or correlation, mean and scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.sparsefuncs import mean_variance_axis, min_max_axis

from fantope.checks import LARGEST, VANISHED, is_sparse
from fantope.errors import require
from fantope.estimators.inputs import name_columns
from fantope.operators import Covariance, DenseCovariance, covariance
from fantope.typing import AnyArray, Array

DENSE_UP_TO = 2000  # variables; for more S stays a rule over the data, and p × p is never formed


@dataclass(frozen=True)
class Moments:
    """First and second moments."""

    covariance: Covariance  # S, of the variables after centring and scaling
    mean: Array  # (p,): what is subtracted from each variable
    scale: Array  # (p,): what it is divided by
    n_samples: int | None  # None if S came without data


def data_moments(X: Any, *, correlation: bool, names: AnyArray | None = None) -> Moments:
    """Return the moments of a finite (n, p) array or sparse matrix; sums are divided by n.

    S is symmetric to the last bit. A sparse X (csr or csc, in canonical format) is not made dense: S = XᵀX/n − μμᵀ. For
    many variables S is an operator. ``names`` are what columns are called in an error.
    """
    low, high = min_max_axis(X, axis=0) if is_sparse(X) else (X.min(axis=0), X.max(axis=0))
    constant = np.flatnonzero(low == high)
    require(len(constant) != X.shape[1], "X", "vary, but each of its columns is constant: there is nothing to explain")
    if correlation and len(constant):
        raise ValueError(
            f"kind='correlation' needs columns that vary, but X is constant in {name_columns(constant, names)}; drop "
            "constant columns, for example with sklearn.feature_selection.VarianceThreshold, or use kind='covariance'."
        )
    if X.shape[1] > DENSE_UP_TO:
        operator = covariance(X, kind="correlation" if correlation else "covariance")
        return Moments(operator, operator.mean, operator.scale, X.shape[0])
    unit = _units(np.maximum(np.abs(low), np.abs(high)).astype(np.float64)) if correlation else np.ones(1)
    if np.any(unit != 1.0):
        X = X @ scipy.sparse.diags_array(1.0 / unit) if is_sparse(X) else X / unit
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        S, mean, scale = (_sparse if is_sparse(X) else _dense)(X, correlation)
        mean, scale = mean * unit, scale * unit
    # Constant columns have no variance at all, not even that of a rounded mean.
    S[constant] = 0.0
    S[:, constant] = 0.0
    if not VANISHED <= np.abs(S).max() <= LARGEST:
        raise ValueError(
            f"X ranges from {low.min():.3g} to {high.max():.3g}, and the squares of its entries overflow or vanish; "
            "bring its columns to a common scale first."
        )
    return Moments(DenseCovariance(S), mean, scale, X.shape[0])


def _units(extents: Array) -> Array:
    """Return a power of two for each column in which its squares neither overflow nor vanish; 1 where they do not."""
    sound = (extents == 0.0) | ((extents > 1e-100) & (extents < 1e100))
    return np.where(sound, 1.0, np.ldexp(1.0, np.clip(np.frexp(extents)[1], -1000, 1000)))


def precomputed_moments(S: Covariance) -> Moments:
    """Return S with the mean, scale and number of samples that it carries, as an operator over data does."""
    p = S.size
    mean, scale = getattr(S, "mean", np.zeros(p)), getattr(S, "scale", np.ones(p))
    return Moments(S, mean, scale, getattr(S, "n_observations", getattr(S, "n_samples", None)))


def column_moments(X: Any) -> tuple[Array, Array]:
    """Return the mean and the variance of each column of an array or a csr or csc matrix."""
    if is_sparse(X):
        mean, variance = mean_variance_axis(X.astype(np.float64, copy=False), axis=0)
        return mean, variance
    return X.mean(axis=0, dtype=np.float64), X.var(axis=0, dtype=np.float64)


# Not operators' block of all variables: that is slower where p is small and the data are in memory (64 against 37 ms
# for 1,000 × 800) and rounds differently, so that the last digits of existing results would change.
def _dense(X: AnyArray, correlation: bool) -> tuple[Array, Array, Array]:
    mean = X.mean(axis=0, dtype=np.float64)
    Z = np.subtract(X, mean, dtype=np.float64, order="C")
    # In a column with a large offset the rounding error of the first mean would show as variance.
    rest = Z.mean(axis=0)
    Z -= rest
    mean += rest
    scale = np.ones(X.shape[1])
    if correlation:
        scale = np.sqrt(np.einsum("ij,ij->j", Z, Z) / len(Z))
        Z /= scale
    # A product of a matrix with its own transpose is symmetric to the last bit.
    S = Z.T @ Z
    S /= len(Z)
    if correlation:
        np.fill_diagonal(S, 1.0)
    return S, mean, scale


def _sparse(X: Any, correlation: bool) -> tuple[Array, Array, Array]:
    X = scipy.sparse.csr_array(X, dtype=np.float64)
    mean, variance = column_moments(X)
    S = (X.T @ X).toarray()  # exactly symmetric: with sorted indices both halves are summed in the same order
    S /= X.shape[0]
    S -= mean[:, None] * mean
    np.fill_diagonal(S, variance)  # in two passes, so without the cancellation of the line above
    scale = np.ones(X.shape[1])
    if correlation:
        scale = np.sqrt(variance)
        S /= scale[:, None] * scale
        np.fill_diagonal(S, 1.0)
    return S, mean, scale
