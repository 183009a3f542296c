"""What a Fantope projection does to the spectrum of a matrix."""

from __future__ import annotations

import numpy as np

from fantope.typing import Array

ROUNDING = 1e-14  # relative, of the sum on the way: a little beyond the total it may be there all the same


def capped_simplex_shift(values: Array, total: float) -> float:
    """Return the smallest τ with Σ clip(values − τ, 0, 1) = total.

    The sum grows as τ falls, and is linear between the kinks at ``values`` and ``values − 1``: walk down from kink to
    kink until it is beyond ``total``, which may be anything from 0 to the number of values. Where few values are used
    that takes a few steps (at 126 values 15 in place of 90 µs for sums at all kinks).

    Examples
    --------
    >>> round(capped_simplex_shift(np.array([3.0, 0.5, 0.4]), 1.5), 12)
    0.2
    """
    v = sorted(values.tolist(), reverse=True)
    used = capped = 0  # values above τ, and those by 1 and more
    height, tau = 0.0, v[0]
    while capped < len(v):
        enters = v[used] if used < len(v) else -np.inf
        fills = v[capped] - 1.0 if capped < used else -np.inf
        kink = max(enters, fills)
        grown = height + (used - capped) * (tau - kink)
        if grown > total * (1.0 + ROUNDING):
            # Summed afresh, and from the nearest value, without what rounding has added to the sum on the way.
            nearest, count = v[used - 1], used - capped
            exact = nearest + (sum(each - nearest for each in v[capped:used]) - (total - capped)) / count
            return float(min(max(exact, kink), tau))
        height, tau = grown, kink
        if enters >= fills:
            used += 1
        else:
            capped += 1
    return float(tau)


def capped_simplex(values: Array, total: float) -> Array:
    """Project ``values`` on {0 ≤ u ≤ 1, Σu = total}.

    Examples
    --------
    >>> capped_simplex(np.array([3.0, 0.5, 0.4]), 1.5).round(12)
    array([1. , 0.3, 0.2])
    """
    return np.clip(values - capped_simplex_shift(values, total), 0.0, 1.0)
