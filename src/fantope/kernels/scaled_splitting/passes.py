"""Single passes over symmetric matrices; Y and z are packed lower triangles."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from fantope.kernels.build import FAST, TWO_CORES, in_order, parallel_from


@parallel_from(TWO_CORES)
def reflect(out, Y, z, linear, lift):  # type: ignore[no-untyped-def]
    """Write 2Y − z + linear − liftᵀ·lift, all packed, to both triangles of ``out``."""
    p = len(out)
    for pair in prange((p + 1) // 2):  # a short row with a long one
        for side in range(2):
            i = abs(side * (p - 1) - np.int64(pair))
            at, own = i * (i + 1) // 2, out[i]
            y, here, constant = Y[at : at + i + 1], z[at : at + i + 1], linear[at : at + i + 1]
            for j in range(i + 1):
                own[j] = 2.0 * y[j] - here[j] + constant[j]
            for a in range(len(lift)):
                vector = lift[a]
                if vector[i] != 0.0:
                    for j in range(i + 1):
                        own[j] -= vector[i] * vector[j]
            for j in range(i):
                out[j, i] = own[j]


@parallel_from(TWO_CORES)
def dual_matrix(G, X, units, rho, level, lift, M):  # type: ignore[no-untyped-def]
    """Write M = level·I + ρ(G − X)/units + lift·liftᵀ; all are symmetric."""
    for i in prange(len(M)):
        for j in range(len(M)):
            M[i, j] = rho * (G[i, j] - X[i, j]) / units[i, j]
        for b in range(lift.shape[1]):
            for j in range(len(M)):
                M[i, j] += lift[i, b] * lift[j, b]
        M[i, i] += level


@parallel_from(TWO_CORES, fast=False)
def losses(X, scale, factor, Y, S, M, alpha, c, r):  # type: ignore[no-untyped-def]
    """Return ⟨D, X'⟩, Σ|x'|, Σ|x'|^r, and Σ alpha|x'| + c|x'|^r/r − D·x' over the entries where Y, packed, is zero.

    X' is ``factor``·X∘ssᵀ, s the ``scale``, and D = S − M: what an X' that is not zero there loses.
    """
    p = len(X)
    sums = np.zeros((p, 4))
    for pair in prange((p + 1) // 2):  # a short row with a long one
        for side in range(2):
            i = abs(side * (p - 1) - np.int64(pair))
            at, inner, norm, power, on_zeros = i * (i + 1) // 2, 0.0, 0.0, 0.0, 0.0
            for j in range(i + 1):
                x = factor * X[i, j] * scale[i] * scale[j]
                if x != 0.0:
                    weight, own, size = 1.0 if i == j else 2.0, (S[i, j] - M[i, j]) * x, abs(x)
                    raised = size**r
                    inner += weight * own
                    norm += weight * size
                    power += weight * raised
                    if Y[at + j] == 0.0:
                        on_zeros += weight * (alpha * size + c / r * raised - own)
            sums[i, 0], sums[i, 1], sums[i, 2], sums[i, 3] = inner, norm, power, on_zeros
    return in_order(sums)


@njit(cache=True, nogil=True, fastmath=FAST)
def prox_slopes(scale, V, Y, threshold, shift, m, out):  # type: ignore[no-untyped-def]
    """Write ∂y/∂v of the Y that :func:`lr_sweep` made of V: u/(u + c·u^e/m), zero where Y is."""
    for i in range(len(scale)):
        at = i * (i + 1) // 2
        for j in range(i + 1):
            s = scale[i] * scale[j]
            u = abs(Y[at + j])
            v = V[at + j] - (shift * s if i == j else 0.0)
            penalty = abs(v) - threshold * s - u
            out[i, j] = u / (u + max(penalty, 0.0) / m) if u > 0.0 else 0.0
            out[j, i] = out[i, j]
