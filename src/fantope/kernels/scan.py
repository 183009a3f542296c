"""Reading a tile of a correlation matrix for entries that may exceed a threshold."""

from __future__ import annotations

import numpy as np
from numba import njit, prange


@njit(cache=True, nogil=True, parallel=True)
def entries_above(tile, scale_rows, scale_cols, margin, alpha, skip_lower):  # type: ignore[no-untyped-def]
    """Return rows, columns and upper bounds of the entries with (|tile_ij| + margin)·scale_i·scale_j > alpha.

    ``margin`` covers the rounding of the tile. With ``skip_lower`` only entries right of the diagonal are read.
    """
    n, m = tile.shape
    counts = np.zeros(n + 1, np.int64)
    for i in prange(n):
        found = 0
        for j in range(i + 1 if skip_lower else 0, m):
            if (abs(tile[i, j]) + margin) * scale_rows[i] * scale_cols[j] > alpha:
                found += 1
        counts[i + 1] = found
    ends = np.cumsum(counts)
    rows = np.empty(ends[-1], np.int64)
    cols = np.empty(ends[-1], np.int64)
    values = np.empty(ends[-1])
    for i in prange(n):
        position = ends[i]
        if counts[i + 1] == 0:
            continue
        for j in range(i + 1 if skip_lower else 0, m):
            value = (abs(tile[i, j]) + margin) * scale_rows[i] * scale_cols[j]
            if value > alpha:
                rows[position] = i
                cols[position] = j
                values[position] = value
                position += 1
    return rows, cols, values


@njit(cache=True, nogil=True)
def unite(parents, rows, cols):  # type: ignore[no-untyped-def]
    """Merge the sets of each pair (union-find with path halving), in place."""
    for e in range(rows.shape[0]):
        a, b = rows[e], cols[e]
        while parents[a] != a:
            parents[a] = parents[parents[a]]
            a = parents[a]
        while parents[b] != b:
            parents[b] = parents[parents[b]]
            b = parents[b]
        if a < b:
            parents[b] = a
        elif b < a:
            parents[a] = b


@njit(cache=True, nogil=True)
def roots(parents):  # type: ignore[no-untyped-def]
    """Return the representative of each set; representatives are the smallest members."""
    result = np.empty_like(parents)
    for i in range(parents.shape[0]):
        a = parents[i]
        while parents[a] != a:
            a = parents[a]
        result[i] = a
    return result
