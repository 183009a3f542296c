"""Sweeps over symmetric m × m arrays for the subproblem of Online-P: one triangle is computed, the other mirrored.

The prox of ``τ(λ‖·‖₁ + ‖·‖²_{r,r}/(2√t))`` splits, once the norm N of its result is known, into one equation per
entry: ``u + c·u^{r−1} = b`` with ``b = |v| − τλ`` and ``c = (τ/√t)N^{2−r}``. In ``w = u^{r−1}`` that is
``w^m + c·w = b``, ``m = 1/(r − 1) ≥ 1``: convex and increasing, so that Newton's method started on the right of the
root falls on it monotonically. In u itself the curve is infinitely steep at 0. Scaled by b it is one curve for all
entries, which is tabulated (:func:`entry_table`): a logarithm and four exponentials per entry, no iteration.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from fantope.typing import Array

SPAN = 40.0  # beyond |log s| = 40 one of the two terms is below a unit of rounding of the other
PER_UNIT = 32  # table nodes per unit of log s; with one Newton step after it the interpolation is exact to rounding


def entry_table(m: float) -> Array:
    """Return the (2, n) table of η(x) and η′(x), where ``exp(mη) + exp(x + η) = 1``, for x = log s in ±SPAN.

    With ``s = c·b^{1/m − 1}`` the solution of w^m + c·w = b is ``w = b^{1/m} exp(η(log s))``: one function of one
    variable serves all entries.
    """
    x = np.linspace(-SPAN, SPAN, int(2 * SPAN * PER_UNIT) + 1)
    eta = np.minimum(0.0, -x)
    for _ in range(30):  # Newton on a convex increasing log-sum-exp, from the right: monotone
        first, second = np.exp(m * eta), np.exp(x + eta)
        eta = eta - np.log(first + second) * (first + second) / (m * first + second)
    first, second = np.exp(m * eta), np.exp(x + eta)
    return np.stack([eta, -second / (m * first + second)])


@njit(cache=True, nogil=True)
def solve_entry(log_b, log_c, m, table):  # type: ignore[no-untyped-def]
    """Return ``η`` with w = exp(log_b/m + η) the solution of w^m + c·w = b."""
    x = log_c + (1.0 / m - 1.0) * log_b
    if x <= -SPAN:
        return 0.0
    if x >= SPAN:
        return -x
    place = (x + SPAN) * PER_UNIT
    k = min(int(place), table.shape[1] - 2)
    f = place - k
    g = 1.0 - f
    eta = g * g * (1.0 + 2.0 * f) * table[0, k] + f * f * (1.0 + 2.0 * g) * table[0, k + 1]
    eta += f * g * (g * table[1, k] - f * table[1, k + 1]) / PER_UNIT
    first = math.exp(m * eta)
    second = math.exp(x + eta)
    return eta - (first + second - 1.0) / (m * first + second)


@njit(cache=True, nogil=True)
def lr_sweep(V, Y, threshold, c, m, table):  # type: ignore[no-untyped-def]
    """Write Y, entrywise sign(v)·u with u + c·u^{1/m} = |v| − threshold, of a symmetric V.

    Returns ``[Σ u^r, Σ u^{r−1} ∂u/∂c]``, what a Newton step for the norm needs, r = 1 + 1/m.
    """
    p = V.shape[0]
    log_c = math.log(c) if c > 0.0 else -math.inf
    total = slope = 0.0
    for i in range(p):
        row_total = row_slope = 0.0
        for j in range(i + 1):
            v = V[i, j]
            b = abs(v) - threshold
            y = 0.0
            if b > 0.0:
                log_b = math.log(b)
                eta = solve_entry(log_b, log_c, m, table)
                w = math.exp(log_b / m + eta)
                penalty = c * w
                u = b - penalty if penalty < 0.5 * b else math.exp(log_b + m * eta)
                y = u if v > 0.0 else -u
                half = 0.5 if i == j else 1.0
                row_total += half * u * w
                # ∂u/∂c = −w/(1 + c·e·u^{e−1}) with e = 1/m, and c·u^{e−1} = c·w/u.
                row_slope -= half * w * w * u / (u + penalty / m)
            Y[i, j] = y
            Y[j, i] = y
        total += 2.0 * row_total
        slope += 2.0 * row_slope
    return total, slope


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
