"""Passes around the products of :mod:`fantope.problem.near_projection`."""

from __future__ import annotations

from numba import njit

from fantope.kernels.build import FAST

TILE = 16  # rows and columns at a time: a tile of the transpose stays in the cache


@njit(cache=True, nogil=True, fastmath=FAST)
def round_difference(G, at, change):  # type: ignore[no-untyped-def]
    """Write change = G − at in the precision of ``change``; return its trace."""
    trace = 0.0
    for i in range(len(G)):
        for j in range(len(G)):
            change[i, j] = G[i, j] - at[i, j]
        trace += G[i, i] - at[i, i]
    return trace


@njit(cache=True, nogil=True, fastmath=FAST)
def add_symmetric(X, G, at, half, shift, whole, out):  # type: ignore[no-untyped-def]
    """Write out = X + half + halfᵀ, and + (G − at) − shift·I if ``whole``; all but half are symmetric."""
    p = len(X)
    for first in range(0, p, TILE):
        for other in range(0, first + 1, TILE):
            for i in range(first, min(first + TILE, p)):
                for j in range(other, min(other + TILE, i + 1)):
                    value = X[i, j] + half[i, j] + half[j, i]
                    if whole:
                        value += G[i, j] - at[i, j]
                    out[i, j] = value
                    out[j, i] = value
    if whole:
        for i in range(p):
            out[i, i] -= shift
