"""Products in single precision for projections on the semidefinite matrices, in two halves, one for each core."""

from __future__ import annotations

import numpy as np
from numba import prange

from fantope.kernels.build import TWO_CORES, parallel_from

TILE = 16  # rows and columns at a time: a tile of the transpose stays in the cache


@parallel_from(TWO_CORES)
def project_near(X, at, G, vectors, few, slopes, whole, out):  # type: ignore[no-untyped-def]
    """Write out = X + D + Dᵀ, and + (G − at) if ``whole``, with D = F'(slopes∘(F(G − at)V))V' for V the ``vectors``.

    F are the few, in two stacks of rows, one for each core; the slopes likewise. The result does not depend on the
    number of cores, and is symmetric to the last bit: what is not would grow from step to step.
    """
    p = len(X)
    change = np.empty((p, p), np.float32)
    for i in prange(p):
        for j in range(p):
            change[i, j] = G[i, j] - at[i, j]
    halves = np.empty((2, p, p), np.float32)
    for half in prange(2):
        inside = np.dot(np.dot(few[half], change), vectors)
        inside *= slopes[half]
        np.dot(few[half].T, np.dot(inside, vectors.T), halves[half])
    tiles = (p + TILE - 1) // TILE
    for pair in prange((tiles + 1) // 2):  # a short row of tiles with a long one
        for side in range(2):
            row = abs(side * (tiles - 1) - np.int64(pair))
            for first in range(row + 1):
                for i in range(row * TILE, p if row == tiles - 1 else (row + 1) * TILE):
                    for j in range(first * TILE, min((first + 1) * TILE, i + 1)):
                        value = X[i, j] + (halves[0, i, j] + halves[0, j, i]) + (halves[1, i, j] + halves[1, j, i])
                        if whole:
                            value += G[i, j] - at[i, j]
                        out[i, j] = value
                        out[j, i] = value


@parallel_from(TWO_CORES)
def masked_congruence(out, null, weights, middle):  # type: ignore[no-untyped-def]
    """Return null'·E·null for E = weights∘(null·middle·null'), which is written to ``out``.

    Rows of ``null`` come in two stacks; the result does not depend on the number of cores.
    """
    k = null.shape[2]
    half = null.shape[1]
    whole = null.reshape(-1, k)
    halves = np.empty((2, k, k), np.float32)
    for part in prange(2):
        rows = out[part * half : (part + 1) * half]
        np.dot(np.dot(null[part], middle), whole.T, rows)
        for i in range(half):
            for j in range(out.shape[1]):
                rows[i, j] *= weights[part * half + i, j]
        np.dot(np.dot(rows, whole).T, null[part], halves[part])
    return halves[0] + halves[1]
