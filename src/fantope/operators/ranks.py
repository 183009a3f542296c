"""Ranks, normal scores, signs of differences, weighted rows in place of the data: their correlations are ordinary."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from scipy.special import ndtri

from fantope.errors import InputError
from fantope.typing import Array

Method = Literal["pearson", "spearman", "kendall", "normal-scores"]
METHODS = get_args(Method)
SIGNS = 5e8  # entries of the signs of all differences of two samples: 2 GB in single precision


def transformed(X: Array, method: Method) -> Array:
    """Return data whose Pearson correlation is the correlation asked for; NaN stays NaN.

    Spearman's: ranks, the mean of them where values are equal. Normal scores: Φ⁻¹(rank/(n + 1)). Kendall's tau-b: one
    row for each pair of samples, with the signs of the differences, which are not to be centred.
    """
    if method == "pearson":
        return X
    if method == "kendall":
        return _signs(X)
    from scipy.stats import rankdata  # takes longer to load than all of fantope

    ranks = np.asarray(rankdata(X, axis=0, nan_policy="omit"), dtype=np.float64)
    if method == "spearman":
        return ranks
    present = np.count_nonzero(~np.isnan(X), axis=0)
    return np.asarray(ndtri(ranks / (present + 1.0)))


def _signs(X: Array) -> Array:
    n, p = X.shape
    if n * (n - 1) / 2 * p > SIGNS:
        raise InputError(
            argument="method", expected=f"another one for {n:,} samples of {p:,} variables",
            got="'kendall', which compares all pairs of samples", remedy="use method='spearman'",
        )  # fmt: skip
    signs = np.empty((n * (n - 1) // 2, p), dtype=np.float32)
    start = 0
    for i in range(n - 1):  # a sample with those after it: no second array of this size
        signs[start : start + n - 1 - i] = np.sign(X[i + 1 :] - X[i])
        start += n - 1 - i
    return signs  # single precision holds −1, 0 and 1


def weighted(X: Array, sample_weight: Array, center: bool) -> Array:
    """Return rows √(w_k n/Σw)·(x_k − mean): their second moments are the weighted covariance."""
    share = sample_weight / sample_weight.sum()
    mean = share @ X if center else 0.0
    result: Array = np.sqrt(share * len(X))[:, None] * (X - mean)
    return result


def check_sample_weight(sample_weight: object, n: int) -> Array:
    """Return (n,) weights, 0 or larger, not all zero."""
    try:
        weights = np.array(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        weights = np.zeros(0)
    if weights.shape != (n,):
        raise InputError(
            argument="sample_weight", expected=f"{n} numbers, one for each sample", got=f"shape {weights.shape}"
        )
    if not np.isfinite(weights).all() or (weights < 0.0).any() or np.count_nonzero(weights) < 2:
        raise InputError(
            argument="sample_weight", expected="finite numbers, 0 or larger, at least two of them positive",
            got=f"numbers from {weights.min():g} to {weights.max():g}", remedy="drop samples that are not to count",
        )  # fmt: skip
    return weights
