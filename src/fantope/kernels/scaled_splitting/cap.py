"""A step of the multiplier of X ⪯ I, a matrix of low rank."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from fantope.kernels.build import TWO_CORES, parallel_from

HALF = 0.7  # this share of the rows holds half of the triangle


@njit(cache=True, nogil=True)
def _orthonormalise(rows, out):  # type: ignore[no-untyped-def]
    """Write an orthonormal basis of the rows, by Gram-Schmidt, each twice: they are few."""
    p = rows.shape[1]
    for a in range(len(rows)):  # by loops: array expressions take a second longer to compile
        own = out[a]
        for j in range(p):
            own[j] = rows[a, j]
        for part in range(2 * a + 1):
            other = out[part % a] if part < 2 * a else own
            product = 0.0
            for j in range(p):
                product += own[j] * other[j]
            if part < 2 * a:
                for j in range(p):
                    own[j] -= product * other[j]
            else:
                length = max(np.sqrt(product), 1e-300)
                for j in range(p):
                    own[j] /= length


@parallel_from(TWO_CORES)
def lift_step(scale, Y, residual, lift, step, rows, rounds):  # type: ignore[no-untyped-def]
    """Return P after a step of PPᵀ, P the ``lift``, towards where A ⪯ I for A = (Y + residual)∘ssᵀ, s the ``scale``.

    PPᵀ ← step·(A + PPᵀ/step − I)₊, by subspace iteration from ``rows``; Y and residual are packed. Also returns the
    rows for the next time, the leading one first, and the largest eigenvalue.
    """
    p, k, d = len(scale), len(rows), lift.shape[1]
    scaled, images = np.empty((k, p)), np.empty((2, k, p))
    start, end, image = rows.copy(), np.empty((k, p)), np.empty((k, p))
    for _ in range(rounds):
        for a in range(k):
            for j in range(p):
                scaled[a, j] = start[a, j] * scale[j]
        for half in prange(2):
            first, last = (0, int(HALF * p)) if half == 0 else (int(HALF * p), p)
            own, x = images[half], np.empty(last)
            for a in range(k):
                for j in range(p):
                    own[a, j] = 0.0
            for i in range(first, last):
                at = i * (i + 1) // 2
                y, rest = Y[at : at + i + 1], residual[at : at + i + 1]
                for j in range(i + 1):
                    x[j] = y[j] + rest[j]
                for a in range(k):
                    vector, product = scaled[a], own[a]
                    total, here = 0.0, vector[i]
                    for j in range(i):
                        total += x[j] * vector[j]
                        product[j] += x[j] * here
                    product[i] += total + x[i] * here
        for a in range(k):
            for j in range(p):
                image[a, j] = scale[j] * (images[0, a, j] + images[1, a, j])
            for b in range(d):
                across = 0.0
                for j in range(p):
                    across += start[a, j] * lift[j, b]
                for j in range(p):
                    image[a, j] += across / step * lift[j, b]
        _orthonormalise(image, end)
        rows, start = start, end.copy()
    values, C = np.linalg.eigh(np.dot(rows, image.T))
    turned = np.ascontiguousarray(C.T)
    new, leading = np.dot(turned, rows), np.dot(turned, end)[::-1].copy()
    for a in range(1, k):
        grown = np.sqrt(step * max(values[a] - 1.0, 0.0))
        for j in range(p):
            new[a, j] *= grown
    new = np.ascontiguousarray(new[:0:-1].T)
    # P is known up to a rotation: the one nearest to the last P, so that P changes as smoothly as PPᵀ does.
    left, _, right = np.linalg.svd(np.dot(new.T, lift))
    return np.dot(new, np.dot(left, right)), leading, values[k - 1]
