"""The Online-T step (Algorithm 2), compiled: for small p a whole block of samples runs without returning to Python.

The iterate is kept as ``X_t = c·(A + a₁g₁g₁ᵀ + a_p g_p g_pᵀ + α_t zzᵀ + κI)`` with A = X⁽¹⁾_t the soft-thresholded
matrix: nothing but A is p × p, and the correction is applied in the pass that thresholds next time. That pass also
moves the running mean, so a step reads and writes each array once and then multiplies A with a few vectors.

Sums over the matrix are taken row by row and added in the order of the rows, whatever the number of threads: the
state after a sample never depends on how the work was shared out.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange

from fantope.kernels.build import FAST, twin

WIDTH = 24  # vectors in the search space for the two extreme eigenpairs
START = 4  # of which it starts from: the last two eigenvectors, the sample, a fixed probe

# Positions in the vector of scalars that goes with the state.
SCALE, TOP, BOTTOM, SAMPLE, SHIFT = 0, 1, 2, 3, 4  # c, a₁, a_p, α_t, κ
THETA_TOP, THETA_BOTTOM, RESIDUAL, PRODUCTS = 5, 6, 7, 8  # what the last eigenproblem found
N_SCALARS = 9


class Triangle(NamedTuple):
    """A symmetric matrix by the rows of its strict upper triangle (CSR) and its diagonal."""

    indptr: Any
    indices: Any
    data: Any
    diagonal: Any


class Pending(NamedTuple):
    """The correction that the next pass applies, and the probe of the eigenproblem."""

    vectors: Any
    """(3, p): g₁, g_p, z."""
    scalars: Any
    """(N_SCALARS,), by the positions above."""
    probe: Any


class Schedule(NamedTuple):
    """Samples (n, p), and for each of them α_t, α_tλ, ν_t and the share that the pending X takes in the mean."""

    Z: Any
    steps: Any
    thresholds: Any
    nus: Any
    weights: Any


class Sample(NamedTuple):
    """One sample, its α_t and ν_t."""

    z: Any
    step: float
    nu: float


class Rule(NamedTuple):
    """What all steps have in common: d, whether corrections stop at the bound, the tolerance of eigenpairs."""

    d: float
    clip: bool
    tol: float


def _advance(A, mean, vectors, scalars, threshold, weight):  # type: ignore[no-untyped-def]
    """Do A ← soft(X, threshold) and mean ← mean + weight·(X − mean) for the pending X; return ‖A‖², tr A."""
    p = A.shape[0]
    c, a1, a2, a3, shift = scalars[SCALE], scalars[TOP], scalars[BOTTOM], scalars[SAMPLE], scalars[SHIFT]
    sums = np.zeros(p)
    for i in prange(p):
        b1 = a1 * vectors[0, i]
        b2 = a2 * vectors[1, i]
        b3 = a3 * vectors[2, i]
        A[i, i] += shift
        total = 0.0
        for j in range(p):
            x = c * (A[i, j] + b1 * vectors[0, j] + b2 * vectors[1, j] + b3 * vectors[2, j])
            mean[i, j] += weight * (x - mean[i, j])
            x = x - min(max(x, -threshold), threshold)
            A[i, j] = x
            total += x * x
        sums[i] = total
    square = trace = 0.0
    for i in range(p):
        square += sums[i]
        trace += A[i, i]
    return square, trace


@njit(cache=True, nogil=True, fastmath=FAST)
def product(A, V, first, last, out):  # type: ignore[no-untyped-def]
    """Write out[k] = A V[k] for first ≤ k < last; a row of A stays in cache while all vectors use it."""
    p = A.shape[0]
    for i in range(p):
        for k in range(first, last):
            total = 0.0
            for j in range(p):
                total += A[i, j] * V[k, j]
            out[k, i] = total


advance_serial = njit(cache=True, nogil=True, fastmath=FAST)(_advance)
# Called from Python alone. Compiled code that calls a parallel build must not be cached: compiled for other types by a
# process that takes the parallel build from the cache, it is stored in a form that crashes the process after it.
advance_parallel = njit(cache=True, nogil=True, fastmath=FAST, parallel=True)(twin(_advance))


@njit(cache=True, nogil=True, fastmath=FAST)
def sparse_product(indptr, indices, data, diagonal, V, first, last, out):  # type: ignore[no-untyped-def]
    """Write out[k] = A V[k] with A given by its strict upper triangle (rows of CSR) and its diagonal."""
    p = diagonal.shape[0]
    for k in range(first, last):
        for i in range(p):
            out[k, i] = diagonal[i] * V[k, i]
        for i in range(p):
            total = 0.0
            own = V[k, i]
            for at in range(indptr[i], indptr[i + 1]):
                j = indices[at]
                total += data[at] * V[k, j]
                out[k, j] += data[at] * own
            out[k, i] += total


@njit(cache=True, nogil=True)
def _dot(u, v):  # type: ignore[no-untyped-def]
    total = 0.0
    for j in range(u.shape[0]):
        total += u[j] * v[j]
    return total


@njit(cache=True, nogil=True)
def _orthonormalise(Q, m, new):  # type: ignore[no-untyped-def]
    """Make Q[m:m+new] orthonormal to Q[:m] and to each other, dropping what is dependent; return the new count."""
    p = Q.shape[1]
    end = m
    for k in range(m, m + new):
        before = math.sqrt(_dot(Q[k], Q[k]))
        if not before > 0.0:
            continue
        for j in range(p):
            Q[end, j] = Q[k, j] / before
        for _ in range(2):  # twice is enough
            for a in range(end):
                inner = _dot(Q[a], Q[end])
                for j in range(p):
                    Q[end, j] -= inner * Q[a, j]
        norm = math.sqrt(_dot(Q[end], Q[end]))
        if norm > 1e-8:
            for j in range(p):
                Q[end, j] /= norm
            end += 1
    return end


@njit(cache=True, nogil=True)
def _multiply(A, triangle, V, first, last, out):  # type: ignore[no-untyped-def]
    if A.shape[0] == 0:
        sparse_product(triangle.indptr, triangle.indices, triangle.data, triangle.diagonal, V, first, last, out)
    else:
        product(A, V, first, last, out)


@njit(cache=True, nogil=True)
def _extend(Q, AQ, H, done, m):  # type: ignore[no-untyped-def]
    """Complete H = Q A Qᵀ for the new rows done ≤ k < m."""
    for k in range(done, m):
        for a in range(k + 1):
            H[a, k] = H[k, a] = _dot(Q[a], AQ[k])


@njit(cache=True, nogil=True)
def _combine(Q, C, m, out):  # type: ignore[no-untyped-def]
    """Add to out[0] and out[1] the combinations of Q's rows with the last and the first column of C."""
    for a in range(m):
        top = C[a, m - 1]
        bottom = C[a, 0]
        for j in range(Q.shape[1]):
            out[0, j] += top * Q[a, j]
            out[1, j] += bottom * Q[a, j]


@njit(cache=True, nogil=True)
def _extreme_pairs(A, triangle, z, tol, pending, Q, AQ, H):  # type: ignore[no-untyped-def]
    """Write the Ritz vectors of both ends into ``pending`` and return how many rows of Q they come from.

    A Davidson iteration that starts from the last ones, the sample and a fixed probe (which reaches parts of A that the
    others do not) and adds both residuals in each round.
    """
    vectors, scalars = pending.vectors, pending.scalars
    Q[:2] = vectors[:2]
    Q[2] = z
    Q[3] = pending.probe
    m = _orthonormalise(Q, 0, START)
    done = 0
    scalars[PRODUCTS] = 0.0
    scalars[RESIDUAL] = 0.0
    while True:
        _multiply(A, triangle, Q, done, m, AQ)
        scalars[PRODUCTS] += m - done
        _extend(Q, AQ, H, done, m)
        done = m
        values, C = np.linalg.eigh(np.ascontiguousarray(H[:m, :m]))
        top = values[m - 1]
        bottom = values[0]
        scalars[THETA_TOP] = top
        scalars[THETA_BOTTOM] = bottom
        vectors[:2] = 0.0
        _combine(Q, C, m, vectors)
        if m + 2 > WIDTH:
            return done
        residuals = Q[m : m + 2]
        for j in range(z.shape[0]):
            residuals[0, j] = -top * vectors[0, j]
            residuals[1, j] = -bottom * vectors[1, j]
        _combine(AQ, C, m, residuals)
        at_top = math.sqrt(_dot(residuals[0], residuals[0]))
        at_bottom = math.sqrt(_dot(residuals[1], residuals[1]))
        scalars[RESIDUAL] = max(at_top, at_bottom)
        # An end that is well inside its bound needs no accuracy: no correction will be made there.
        good_top = at_top <= max(tol * max(1.0, abs(top)), 0.3 * (1.0 - top))
        good_bottom = at_bottom <= max(tol * max(1.0, abs(bottom)), 0.3 * bottom)
        if (good_top and good_bottom) or m >= z.shape[0]:
            return done
        m = _orthonormalise(Q, m, 2)
        if m == done:
            return done


@njit(cache=True, nogil=True)
def correct(A, triangle, sums, sample, rule, pending, work):  # type: ignore[no-untyped-def]
    """Do steps 2 to 5 of Algorithm 2 on A = X⁽¹⁾, and write the correction into ``pending``.

    A Ritz vector g is exact enough whatever its residual: with θ = gᵀAg, gᵀ(·)g is an ε-subgradient of the largest
    eigenvalue, ε = θ₁ − θ. A is empty if ``triangle`` has the matrix; ``sums`` are ‖A‖² and tr A, and ``work`` has room
    for 2 × WIDTH vectors.
    """
    z, step, nu = sample
    d = rule.d
    square, trace = sums
    vectors, scalars = pending.vectors, pending.scalars
    p = z.shape[0]
    Q = work[0]
    H = np.zeros((WIDTH, WIDTH))
    done = _extreme_pairs(A, triangle, z, rule.tol, pending, Q, work[1], H)
    theta_top, theta_bottom = scalars[THETA_TOP], scalars[THETA_BOTTOM]
    # Q spans z, so that zᵀAz needs no further product.
    zAz = 0.0
    inner_z = [_dot(Q[a], z) for a in range(done)]
    for a in range(done):
        for b in range(done):
            zAz += inner_z[a] * H[a, b] * inner_z[b]
    zz, top_z, bottom_z = _dot(z, z), _dot(vectors[0], z), _dot(vectors[1], z)
    top_bottom = _dot(vectors[0], vectors[1])
    vectors[2] = z
    a1 = 0.0
    if theta_top > 1.0:
        a1 = step * nu * math.sqrt(p * d)
        a1 = -(min(a1, theta_top - 1.0) if rule.clip else a1)
    a2 = 0.0
    if theta_bottom < 0.0:
        a2 = step * nu * p
        a2 = min(a2, -theta_bottom) if rule.clip else a2
    # The step is the prox of α_t f₃ with f₃ = ν|tr X − d|/√(d + 1): the printed β = α_tν/((d + 1)|s|) lacks the root.
    bound = step * nu / math.sqrt(d + 1.0)
    shift = min(max((d - trace - a1 - a2) / p, -bound), bound)
    norm = square + 2.0 * (a1 * theta_top + a2 * theta_bottom + step * zAz + shift * trace)
    norm += a1 * a1 + a2 * a2 + step * step * zz * zz + p * shift * shift
    norm += 2.0 * (a1 * a2 * top_bottom**2 + a1 * step * top_z**2 + a2 * step * bottom_z**2)
    norm += 2.0 * shift * (a1 + a2 + step * zz)
    scalars[SCALE] = min(1.0, math.sqrt(d / norm)) if norm > 0.0 else 1.0
    scalars[TOP], scalars[BOTTOM], scalars[SAMPLE], scalars[SHIFT] = a1, a2, step, shift


@njit(cache=True, nogil=True)
def dense_steps(A, mean, pending, schedule, rule, triangle, work):  # type: ignore[no-untyped-def]
    """Run Online-T over the samples of a schedule; ``triangle`` is empty."""
    for t in range(schedule.Z.shape[0]):
        threshold = schedule.thresholds[t]
        sums = advance_serial(A, mean, pending.vectors, pending.scalars, threshold, schedule.weights[t])
        sample = Sample(schedule.Z[t], schedule.steps[t], schedule.nus[t])
        correct(A, triangle, sums, sample, rule, pending, work)


@njit(cache=True, nogil=True)
def sparse_advance(indptr, indices, data, diagonal, vectors, scalars, threshold):  # type: ignore[no-untyped-def]
    """Return soft(X, threshold) of the pending X: new indptr, indices, data (strict upper triangle), diagonal.

    A new entry (i, j) comes from the three rank-one terms alone, and their sum is at most ``n_i n_j`` with
    ``n_i² = Σ_r |a_r| u_ri²`` (Cauchy-Schwarz): sorted by n, the pairs that can pass the threshold are a prefix of
    each row, and the p² others are never visited.
    """
    p = diagonal.shape[0]
    c = scalars[SCALE]
    reach = np.zeros(p)
    for i in range(p):
        total = 0.0
        for r in range(3):
            total += abs(scalars[1 + r]) * vectors[r, i] * vectors[r, i]
        reach[i] = math.sqrt(total)
    order = np.argsort(-reach, kind="mergesort")
    new_indptr = np.zeros(p + 1, dtype=np.int64)
    capacity = max(1024, indices.shape[0] + indices.shape[0] // 2)
    new_indices = np.empty(capacity, dtype=np.int32)
    new_data = np.empty(capacity)
    new_diagonal = np.empty(p)
    row = np.zeros(p)
    known = np.zeros(p, dtype=np.bool_)
    touched = np.empty(p, dtype=np.int32)
    filled = 0
    for i in range(p):
        b1 = scalars[TOP] * vectors[0, i]
        b2 = scalars[BOTTOM] * vectors[1, i]
        b3 = scalars[SAMPLE] * vectors[2, i]
        x = c * (diagonal[i] + scalars[SHIFT] + b1 * vectors[0, i] + b2 * vectors[1, i] + b3 * vectors[2, i])
        new_diagonal[i] = x - min(max(x, -threshold), threshold)
        count = 0
        for at in range(indptr[i], indptr[i + 1]):
            j = indices[at]
            row[j] = data[at]
            known[j] = True
            touched[count] = j
            count += 1
        if reach[i] > 0.0:
            least = threshold / (c * reach[i])
            for k in range(p):
                j = order[k]
                if not reach[j] > least:
                    break
                if j > i and not known[j]:
                    known[j] = True
                    touched[count] = j
                    count += 1
        kept = 0
        for k in range(count):
            j = touched[k]
            x = c * (row[j] + b1 * vectors[0, j] + b2 * vectors[1, j] + b3 * vectors[2, j])
            x = x - min(max(x, -threshold), threshold)
            known[j] = False
            row[j] = 0.0
            if x != 0.0:
                row[j] = x
                touched[kept] = j
                kept += 1
        if filled + kept > capacity:
            capacity = 2 * (filled + kept)
            more_indices = np.empty(capacity, dtype=np.int32)
            more_data = np.empty(capacity)
            more_indices[:filled] = new_indices[:filled]
            more_data[:filled] = new_data[:filled]
            new_indices = more_indices
            new_data = more_data
        new_indices[filled : filled + kept] = np.sort(touched[:kept])
        for k in range(filled, filled + kept):
            new_data[k] = row[new_indices[k]]
            row[new_indices[k]] = 0.0
        filled += kept
        new_indptr[i + 1] = filled
    return new_indptr, new_indices[:filled].copy(), new_data[:filled].copy(), new_diagonal


@njit(cache=True, nogil=True)
def square_and_trace(data, diagonal):  # type: ignore[no-untyped-def]
    """Return ‖A‖²_F and tr A of a matrix given by its strict upper triangle and diagonal."""
    square = trace = 0.0
    for k in range(data.shape[0]):
        square += 2.0 * data[k] * data[k]
    for i in range(diagonal.shape[0]):
        square += diagonal[i] * diagonal[i]
        trace += diagonal[i]
    return square, trace
