"""Eigenvalue maps: what a Fantope projection, hard or soft, does to the spectrum of a matrix."""

from __future__ import annotations

import numpy as np

from fantope.typing import Array


def capped_simplex_shift(values: Array, total: float) -> float:
    """Return τ with Σ clip(values − τ, 0, 1) = total.

    The sum falls in τ and is linear between the kinks at ``values`` and ``values − 1``: sort the kinks, find the
    two that bracket ``total``, interpolate. ``total`` may be anything from 0 to the number of values.

    Examples
    --------
    >>> round(capped_simplex_shift(np.array([3.0, 0.5, 0.4]), 1.5), 12)
    0.2
    """
    kinks = np.sort(np.concatenate([values, values - 1.0]))
    sums = np.clip(values - kinks[:, None], 0.0, 1.0).sum(axis=1)  # descending, from len(values) to 0
    right = min(max(int(np.searchsorted(-sums, -total)), 1), len(kinks) - 1)
    high, low = sums[right - 1], sums[right]
    if high <= low:
        return float(kinks[right - 1])
    return float(kinks[right - 1] + (high - total) / (high - low) * (kinks[right] - kinks[right - 1]))


def capped_simplex(values: Array, total: float) -> Array:
    """Project ``values`` on {0 ≤ u ≤ 1, Σu = total}.

    Examples
    --------
    >>> capped_simplex(np.array([3.0, 0.5, 0.4]), 1.5).round(12)
    array([1. , 0.3, 0.2])
    """
    return np.clip(values - capped_simplex_shift(values, total), 0.0, 1.0)


def soft_capped_simplex(values: Array, total: float, above: float, trace: float, below: float) -> Array:
    """Minimise ``above·[max u − 1]₊ + trace·|Σu − total| + below·[−min u]₊ + ½‖u − values‖²``.

    The optimality conditions say u = clip(values − t, a, c): the trace penalty shifts (|t| ≤ trace), the other
    two push the largest values down to a level c ≥ 1 and the smallest up to a level a ≤ 0, each moving by at
    most its weight in all. For a given t the levels are explicit and Σu falls in t, so t is found by bisection.
    """

    def clipped(t: float) -> Array:
        shifted = values - t
        return np.clip(shifted, -_level(-shifted, below, 0.0), _level(shifted, above, 1.0))

    low, high = -trace, trace
    if clipped(low).sum() <= total:
        return clipped(low)
    if clipped(high).sum() >= total:
        return clipped(high)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if clipped(middle).sum() > total else (low, middle)
    return clipped(0.5 * (low + high))


def _level(values: Array, weight: float, floor: float) -> float:
    """Smallest c ≥ floor with Σ (values − c)₊ ≤ weight."""
    top = np.sort(values)[::-1]
    if np.maximum(top - floor, 0.0).sum() <= weight:
        return floor
    levels = (np.cumsum(top) - weight) / np.arange(1, len(top) + 1)
    return float(levels.max())
