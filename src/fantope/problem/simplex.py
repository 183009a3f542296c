"""What a Fantope projection does to the spectrum of a matrix."""

from __future__ import annotations

import numpy as np

from fantope.typing import Array

FEW = 64  # values, or shifts, up to which a table of all pairs is faster than sorting (measured)


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
    sums = _sums(values, kinks)  # descending, from len(values) to 0
    right = min(max(int(np.searchsorted(-sums, -total)), 1), len(kinks) - 1)
    # Differences of long sums find the segment; its ends are summed afresh, without what rounding adds to those.
    high, low = _sums(values, kinks[right - 1 : right + 1]) if len(values) > FEW else sums[right - 1 : right + 1]
    if high <= low:
        return float(kinks[right - 1])
    return float(kinks[right - 1] + (high - total) / (high - low) * (kinks[right] - kinks[right - 1]))


def _sums(values: Array, shifts: Array) -> Array:
    """Return Σ clip(values − τ, 0, 1) for each τ in ``shifts``."""
    if min(len(values), len(shifts)) <= FEW:
        return np.asarray(np.clip(values - shifts[:, None], 0.0, 1.0).sum(axis=1))
    ascending = np.sort(values)
    up_to = np.concatenate([[0.0], np.cumsum(ascending)])
    capped, left_out = (np.searchsorted(ascending, level, "right") for level in (shifts + 1.0, shifts))
    return np.asarray(len(values) - capped + up_to[capped] - up_to[left_out] - (capped - left_out) * shifts)


def capped_simplex(values: Array, total: float) -> Array:
    """Project ``values`` on {0 ≤ u ≤ 1, Σu = total}.

    Examples
    --------
    >>> capped_simplex(np.array([3.0, 0.5, 0.4]), 1.5).round(12)
    array([1. , 0.3, 0.2])
    """
    return np.clip(values - capped_simplex_shift(values, total), 0.0, 1.0)
