"""Sweeps for the squared ℓ_{r,r} norm of symmetric matrices, most of them over packed lower triangles.

The prox of ``τ(λ‖·‖₁ + ‖·‖²_{r,r}/(2√t))`` splits, once the norm N of its result is known, into one equation per
entry: ``u + c·u^e = b`` with ``b = |v| − τλ``, ``c = (τ/√t)N^{2−r}`` and ``e = r − 1 = 1/m``. In units of
``κ = c^{1/(1−e)}`` that is ``y + y^e = β``, one curve for all entries, which is tabulated (:func:`entry_table`): no
logarithm, no exponential, no iteration. And ``y^e = β − y`` gives the sums without a power.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from fantope.kernels.build import FAST, TWO_CORES, in_order, parallel_from
from fantope.typing import Array

SPAN = 24  # the table covers β from 2^-SPAN to 2^SPAN; what lies beyond is rare and solved by itself
BINS = 64  # to a factor of two: quintics on bins this narrow are exact to rounding of β
MANTISSA = 52 - 6  # bits below those that tell the bin: a double's binary form is its place in the table
FIRST = (1023 - SPAN) * BINS

HALF = 0.7  # this share of the rows holds half of the triangle


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
    """Return u with ``u + c·u^{1/m} = b`` > 0, by Newton's method for w in w^m + c·w = b, from the right."""
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
    return b - penalty if penalty < 0.5 * b else w**m


@njit(cache=True, nogil=True)
def _curve(beta, bits, coefficient, m, table):  # type: ignore[no-untyped-def]
    """Return y with ``y + coefficient·y^{1/m} = beta`` > 0, whose binary form is ``bits``."""
    k = (bits >> MANTISSA) - FIRST
    if 0 <= k < len(table):
        x = beta - table[k, 0]
        y = table[k, 5] + x * table[k, 6]
        return table[k, 1] + x * (table[k, 2] + x * (table[k, 3] + x * (table[k, 4] + x * y)))
    return solve_entry(beta, coefficient, m)


@njit(cache=True, nogil=True)
def _units(scale, c, m, table):  # type: ignore[no-untyped-def]
    """Return κ, the factors k_i of κ_ij = κ·k_i·k_j, and the table, empty where κ leaves what a double can hold."""
    kappa = c ** (m / (m - 1.0)) if len(table) else 0.0
    if 1e-150 < kappa < 1e150:
        return kappa, scale ** ((m + 1.0) / (m - 1.0)), table
    return 1.0, np.ones_like(scale), table[:0]


@njit(cache=True, nogil=True, fastmath=FAST)
def lr_sweep(scale, V, Y, threshold, shift, c, m, table, begin, end):  # type: ignore[no-untyped-def]
    """Write Y, entrywise sign(v)·u with u + c_ij·u^{1/m} = |v| − threshold·s_ij, of V; both are packed.

    s_ij = scale_i·scale_j and c_ij = c·s_ij^{1+1/m}: the prox for X in the metric ρ‖X_ij/s_ij‖², of V = X/s. From the
    diagonal of V, ``shift``·s_ii is taken first. Rows ``begin`` to ``end`` are written. Returns their part of
    ``[Σ x^r, Σ x^{r−1} ∂x/∂c]`` for x = u·s_ij, what a Newton step for the norm needs, r = 1 + 1/m.
    """
    if c <= 0.0:
        return _soft_sweep(scale, V, Y, threshold, shift, 1.0 + 1.0 / m, begin, end)
    kappa, units, table = _units(scale, c, m, table)
    inverse, where = 1.0 / units, np.empty(end, np.int64)
    whole, beta, found, here = np.empty(end), np.empty(end), np.empty(end), np.empty(end)
    bits = beta.view(np.int64)
    total = slope = 0.0
    for i in range(begin, end):  # short loops for each row: most use vector units; sums apart from writes
        own, unit = threshold * scale[i], kappa * units[i]
        at, per = i * (i + 1) // 2, 1.0 / unit
        v, u = V[at : at + i + 1], Y[at : at + i + 1]
        diagonal = v[i] - shift * scale[i] * scale[i]
        for j in range(i):
            whole[j] = (abs(v[j]) - own * scale[j]) * (per * inverse[j])
        whole[i] = (abs(diagonal) - own * scale[i]) * (per * inverse[i])
        # What is not zero, one after the other: with a branch for each entry, a sweep takes two to three times as long.
        n = 0
        for j in range(i + 1):
            where[n] = j
            n += whole[j] > 0.0
        for a in range(n):
            beta[a], here[a] = whole[where[a]], unit * units[where[a]]
        for a in range(n):
            k = (bits[a] >> MANTISSA) - FIRST
            if 0 <= k < len(table):  # written out: a sweep that calls _curve takes twice as long
                x = beta[a] - table[k, 0]
                y = table[k, 5] + x * table[k, 6]
                found[a] = table[k, 1] + x * (table[k, 2] + x * (table[k, 3] + x * (table[k, 4] + x * y)))
            else:
                s = scale[i] * scale[where[a]]
                found[a] = solve_entry(beta[a], 1.0 if len(table) else c * s ** (1.0 + 1.0 / m), m)
        row_total = row_slope = 0.0
        for a in range(n):
            y = found[a]
            penalty = beta[a] - y
            both = 2.0 * here[a] * here[a] * y * penalty
            row_total += both
            # ∂u/∂c = −w/(1 + c·e·u^{e−1}) with w = u^e, and c·u^{e−1} = c·w/u.
            row_slope -= both * penalty / (y + penalty / m + 1e-300)
        if n > 0 and where[n - 1] == i:  # of the diagonal there is one
            y = found[n - 1]
            penalty = beta[n - 1] - y
            both = here[n - 1] * here[n - 1] * y * penalty
            row_total -= both
            row_slope += both * penalty / (y + penalty / m + 1e-300)
        u[:] = 0.0
        for a in range(n):
            u[where[a]] = math.copysign(here[a] * found[a], v[where[a]])
        u[i] = math.copysign(u[i], diagonal)
        total += row_total
        slope += row_slope
    # The sums are of u·(c·w) and u·(c·w)²/(…): what is left of c goes here.
    return total / c, slope / c / c


@parallel_from(TWO_CORES)
def lr_sweep_in_two(scale, V, Y, threshold, shift, c, m, table):  # type: ignore[no-untyped-def]
    """Run :func:`lr_sweep` on all rows, on two cores if there are; the sums do not depend on that."""
    p = len(scale)
    middle = int(HALF * p)
    sums = np.empty((2, 2))
    for half in prange(2):
        begin, end = (0, middle) if half == 0 else (middle, p)
        sums[half, 0], sums[half, 1] = lr_sweep(scale, V, Y, threshold, shift, c, m, table, begin, end)
    return sums[0, 0] + sums[1, 0], sums[0, 1] + sums[1, 1]


@njit(cache=True, nogil=True, fastmath=FAST)
def lr_move(scale, V, Y, threshold, shift, before, c, m, table):  # type: ignore[no-untyped-def]
    """Take the Y that :func:`lr_sweep` made with the coefficient ``before`` to ``c``: to first order off the diagonal.

    There ∂u/∂log c = −c·w·u/(u + c·w/m), and c·w is what |v| has above the threshold and u. On the diagonal, where
    ``shift`` is that of c, it is exact.
    """
    kappa, units, table = _units(scale, c, m, table)
    change = c / before - 1.0
    cell = np.empty(1)
    bits = cell.view(np.int64)
    for i in range(len(scale)):
        own, at = threshold * scale[i], i * (i + 1) // 2
        v, y = V[at : at + i + 1], Y[at : at + i + 1]
        for j in range(i):
            u = abs(y[j])
            penalty = max(abs(v[j]) - own * scale[j] - u, 0.0)
            y[j] -= change * y[j] * penalty / (u + penalty / m + 1e-300)
        square = scale[i] * scale[i]
        diagonal, here = v[i] - shift * square, kappa * units[i] * units[i]
        cell[0] = max(abs(diagonal) - own * scale[i], 0.0) / here
        y[i] = 0.0
        if cell[0] > 0.0:
            coefficient = 1.0 if len(table) else c * square ** (1.0 + 1.0 / m)
            y[i] = math.copysign(here * _curve(cell[0], bits[0], coefficient, m, table), diagonal)


@njit(cache=True, nogil=True)
def trace_shift(diagonal, scale, threshold, trace, start, c, m, table):  # type: ignore[no-untyped-def]
    """Return the ``shift`` of :func:`lr_sweep` for which Σ u_ii·s_ii is ``trace``.

    The trace falls with the shift. Newton's method inside a bracket, which is found by doubling.
    """
    kappa, units, table = _units(scale, c, m, table)
    low, high, shift = -np.inf, np.inf, start
    reach = max(abs(start), 1e-3 * np.abs(diagonal / (scale * scale)).max(), 1e-300)
    cell = np.empty(1)
    bits = cell.view(np.int64)
    for _ in range(200):
        found = slope = 0.0
        for i in range(len(diagonal)):
            square = scale[i] * scale[i]
            v = diagonal[i] - shift * square
            here = kappa * units[i] * units[i]
            cell[0] = max(abs(v) - threshold * square, 0.0) / here
            if cell[0] > 0.0:
                coefficient = 1.0 if len(table) else c * square ** (1.0 + 1.0 / m)
                y = _curve(cell[0], bits[0], coefficient, m, table)
                penalty = cell[0] - y
                found += square * math.copysign(here * y, v)
                slope += square * square * y / (y + penalty / m)
        if abs(found - trace) <= 1e-13 * trace:
            break
        if found > trace:
            low = shift
        else:
            high = shift
        new = shift + (found - trace) / slope if slope > 0.0 else np.inf
        if not low < new < high:
            if low == -np.inf or high == np.inf:
                new = shift + (reach if found > trace else -reach)
                reach *= 2.0
            else:
                new = 0.5 * (low + high)
        if new == shift:
            break
        shift = new
    return shift


@njit(cache=True, nogil=True)
def _soft_sweep(scale, V, Y, threshold, shift, r, begin, end):  # type: ignore[no-untyped-def]
    """Write what :func:`lr_sweep` writes when there is no penalty; nobody needs a slope then."""
    total = 0.0
    for i in range(begin, end):
        at = i * (i + 1) // 2
        for j in range(i + 1):
            s = scale[i] * scale[j]
            v = V[at + j] - (shift * s if i == j else 0.0)
            y = max(abs(v) - threshold * s, 0.0)
            total += (1.0 if i == j else 2.0) * (y * s) ** r
            Y[at + j] = math.copysign(y, v)
    return total, 0.0


@parallel_from(TWO_CORES, fast=False)
def lr_power_sum(X, r):  # type: ignore[no-untyped-def]
    """Return ``[Σ|x|^r, Σ|x|]`` over a symmetric X."""
    p = len(X)
    sums = np.zeros((p, 2))  # a sum for each row: the total does not depend on the number of cores
    for pair in prange((p + 1) // 2):  # a short row with a long one
        for side in range(2):
            i = abs(side * (p - 1) - np.int64(pair))
            power = norm = 0.0
            for j in range(i + 1):
                x = abs(X[i, j])
                if x > 0.0:
                    weight = 1.0 if i == j else 2.0
                    power += weight * x**r
                    norm += weight * x
            sums[i, 0], sums[i, 1] = power, norm
    total = in_order(sums)
    return total[0], total[1]


@parallel_from(TWO_CORES, fast=False)
def dual_power_sum(S, M, alpha, q):  # type: ignore[no-untyped-def]
    """Return Σ|w|^q of W = soft(D, alpha), what is left of D = S − M after U = clip(D, ±alpha).

    M, symmetric, is replaced by S − D, from which it differs by rounding.
    """
    p = len(S)
    sums = np.zeros((p, 1))
    for pair in prange((p + 1) // 2):  # a short row with a long one
        for side in range(2):
            i = abs(side * (p - 1) - np.int64(pair))
            total = 0.0
            for j in range(i + 1):
                D = S[i, j] - M[i, j]
                w = abs(D) - alpha
                if w > 0.0:
                    total += (1.0 if i == j else 2.0) * w**q
                M[i, j] = S[i, j] - D
                M[j, i] = M[i, j]
            sums[i, 0] = total
    return in_order(sums)[0]


@njit(cache=True, nogil=True)
def dual_row_sums(D, alpha, q):  # type: ignore[no-untyped-def]
    """Return for each row Σ|w|^q of W = soft(D, alpha); D is symmetric."""
    sums = np.zeros(len(D))
    for i in range(len(D)):
        for j in range(i + 1):
            w = abs(D[i, j]) - alpha
            if w > 0.0:
                power = w**q
                sums[i] += power
                if i != j:
                    sums[j] += power
    return sums


@njit(cache=True, nogil=True)
def dual_powers(D, alpha, power, factor, out):  # type: ignore[no-untyped-def]
    """Write sign(w)·factor·|w|^power of W = soft(D, alpha); D is symmetric."""
    for i in range(len(D)):
        for j in range(i + 1):
            w = abs(D[i, j]) - alpha
            out[i, j] = math.copysign(factor * w**power, D[i, j]) if w > 0.0 else 0.0
            out[j, i] = out[i, j]
