"""Sweeps over symmetric m × m arrays for the subproblem of Online-P: one triangle is computed, the other mirrored.

The prox of ``τ(λ‖·‖₁ + ‖·‖²_{r,r}/(2√t))`` splits, once the norm N of its result is known, into one equation per
entry: ``u + c·u^e = b`` with ``b = |v| − τλ``, ``c = (τ/√t)N^{2−r}`` and ``e = r − 1 = 1/m``. In units of
``κ = c^{1/(1−e)}`` that is ``y + y^e = β``, one curve for all entries, which is tabulated (:func:`entry_table`): no
logarithm, no exponential, no iteration. And ``y^e = β − y`` gives the sums without a power.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from fantope.typing import Array

SPAN = 24  # the table covers β from 2^-SPAN to 2^SPAN; what lies beyond is rare and solved by itself
BINS = 64  # to a factor of two: quintics on bins this narrow are exact to rounding of β
MANTISSA = 52 - 6  # bits below those that tell the bin: a double's binary form is its place in the table
FIRST = (1023 - SPAN) * BINS


def entry_table(m: float) -> Array:
    """Return the table of y(β) with ``y + y^{1/m} = β``: a row for each bin, its centre and six coefficients.

    The table is empty, and entries are solved one by one, for m < 2 (up to p = 20 variables), where the units κ could
    overflow, and for m > 20 (no p that occurs), where the curve is too sharp for the bins.
    """
    if not 2.0 <= m <= 20.0:
        return np.empty((0, 8))
    octave, part = np.divmod(np.arange(2 * SPAN * BINS), BINS)
    half = np.exp2(octave - SPAN) / (2 * BINS)
    centre = np.exp2(octave - SPAN) * (1.0 + (part + 0.5) / BINS)
    nodes = np.cos(np.pi * (np.arange(6) + 0.5) / 6)
    beta = centre[:, None] + half[:, None] * nodes
    w = np.minimum(beta, beta ** (1.0 / m))  # on the right of the root of w^m + w = β, from where Newton falls on it
    for _ in range(60):
        w -= (w**m + w - beta) / (m * w ** (m - 1.0) + 1.0)
    y = np.where(w > 0.5 * beta, w**m, beta - w)
    table = np.zeros((len(centre), 8))  # a row fills a cache line
    table[:, 0] = centre
    table[:, 1:7] = np.linalg.solve(np.vander(nodes, increasing=True), y.T).T / half[:, None] ** np.arange(6)
    return table


@njit(cache=True, nogil=True)
def solve_entry(b, c, m):  # type: ignore[no-untyped-def]
    """Return ``(u, c·u^{1/m})`` that add up to b > 0, by Newton's method for w in w^m + c·w = b, from the right."""
    w = b ** (1.0 / m)
    if c * w > b:
        w = b / c
    for _ in range(100):
        power = w ** (m - 1.0)
        step = (power * w + c * w - b) / (m * power + c)
        w -= step
        if not step > 1e-16 * w:
            break
    penalty = c * w
    return (b - penalty if penalty < 0.5 * b else w**m), penalty


@njit(cache=True, nogil=True)
def lr_sweep(V, Y, threshold, c, m, table):  # type: ignore[no-untyped-def]
    """Write Y, entrywise sign(v)·u with u + c·u^{1/m} = |v| − threshold, of a symmetric V.

    Returns ``[Σ u^r, Σ u^{r−1} ∂u/∂c]``, what a Newton step for the norm needs, r = 1 + 1/m.
    """
    p = V.shape[0]
    if c <= 0.0:
        return _soft_sweep(V, Y, threshold, 1.0 + 1.0 / m)
    kappa = c ** (m / (m - 1.0)) if len(table) else 0.0
    tabulated = 1e-150 < kappa < 1e150
    if not tabulated:
        kappa = 1.0
    coefficient = 1.0 if tabulated else c
    row = np.empty(p)
    bits = row.view(np.int64)
    total = slope = 0.0
    for i in range(p):
        for j in range(i + 1):
            row[j] = max(abs(V[i, j]) - threshold, 0.0) / kappa
        row_total = row_slope = 0.0
        for j in range(i + 1):
            beta = row[j]
            y = 0.0
            if beta > 0.0:
                k = (bits[j] >> MANTISSA) - FIRST
                if tabulated and 0 <= k < len(table):
                    x = beta - table[k, 0]
                    y = table[k, 5] + x * table[k, 6]
                    y = table[k, 1] + x * (table[k, 2] + x * (table[k, 3] + x * (table[k, 4] + x * y)))
                    penalty = beta - y
                else:
                    y, penalty = solve_entry(beta, coefficient, m)
                half = 0.5 if i == j else 1.0
                row_total += half * y * penalty
                # ∂u/∂c = −w/(1 + c·e·u^{e−1}) with w = u^e, and c·u^{e−1} = c·w/u.
                row_slope -= half * penalty * penalty * y / (y + penalty / m)
                y = math.copysign(kappa * y, V[i, j])
            Y[i, j] = y
            Y[j, i] = y
        total += 2.0 * row_total
        slope += 2.0 * row_slope
    # Each sum is of y·(c·w)ᵏ in units of κ: back to u and w.
    scale = kappa / c
    return total * kappa * scale, slope * scale * scale


@njit(cache=True, nogil=True)
def _soft_sweep(V, Y, threshold, r):  # type: ignore[no-untyped-def]
    """Write Y = soft(V, threshold); return Σ|y|^r, and 0 for the slope that nobody needs without a penalty."""
    total = 0.0
    for i in range(V.shape[0]):
        for j in range(V.shape[1]):
            y = max(abs(V[i, j]) - threshold, 0.0)
            total += y**r
            Y[i, j] = math.copysign(y, V[i, j])
    return total, 0.0


@njit(cache=True, nogil=True)
def lr_power_sum(X, r):  # type: ignore[no-untyped-def]
    """Return ``[Σ|x|^r, Σ|x|]`` over a symmetric X."""
    p = X.shape[0]
    power = norm = 0.0
    for i in range(p):
        row_power = row_norm = 0.0
        for j in range(i):
            x = abs(X[i, j])
            if x > 0.0:
                row_power += x**r
                row_norm += x
        x = abs(X[i, i])
        if x > 0.0:
            row_power += 0.5 * x**r
            row_norm += 0.5 * x
        power += 2.0 * row_power
        norm += 2.0 * row_norm
    return power, norm


@njit(cache=True, nogil=True)
def dual_split(S, D, alpha, q, M):  # type: ignore[no-untyped-def]
    """Write M = S − D; return Σ|w|^q of W = soft(D, alpha), what is left of D after U = clip(D, ±alpha)."""
    p = S.shape[0]
    total = 0.0
    for i in range(p):
        row = 0.0
        for j in range(i + 1):
            w = abs(D[i, j]) - alpha
            if w > 0.0:
                row += (0.5 if i == j else 1.0) * w**q
            M[i, j] = S[i, j] - D[i, j]
            M[j, i] = M[i, j]
        total += 2.0 * row
    return total
