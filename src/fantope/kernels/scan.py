"""Reading a tile of a correlation matrix for entries that may exceed a threshold, and joining what they connect."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from fantope.kernels.build import twin


def _entries_above(tile, scale_rows, scale_cols, margin, alpha, skip_lower):  # type: ignore[no-untyped-def]
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


_serial = njit(cache=True, nogil=True)(_entries_above)
_parallel = njit(cache=True, nogil=True, parallel=True)(twin(_entries_above))


def entries_above(
    tile: Any, scale_rows: Any, scale_cols: Any, margin: float, alpha: float, skip_lower: bool, threads: bool = True
) -> tuple[Any, Any, Any]:
    """Return rows, columns and upper bounds of the entries with (|tile_ij| + margin)·scale_i·scale_j > alpha.

    ``margin`` covers the rounding of the tile. With ``skip_lower`` only entries right of the diagonal are read.
    ``threads=False`` where the caller is one of several threads: not every threading layer may be entered by two.
    """
    found: tuple[Any, Any, Any] = (_parallel if threads else _serial)(
        tile, scale_rows, scale_cols, margin, alpha, skip_lower
    )
    return found


@njit(cache=True, nogil=True)
def unite(parents, rows, cols):  # type: ignore[no-untyped-def]
    """Merge the sets of each pair (union-find with path halving), in place; return which pairs joined two sets.

    A set is represented by its smallest member.
    """
    joined = np.zeros(rows.shape[0], np.bool_)
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
            joined[e] = True
        elif b < a:
            parents[a] = b
            joined[e] = True
    return joined


@njit(cache=True, nogil=True)
def roots(parents, members):  # type: ignore[no-untyped-def]
    """Return the representative of the set of each of ``members``."""
    result = np.empty(members.shape[0], np.int64)
    for i in range(members.shape[0]):
        a = members[i]
        while parents[a] != a:
            a = parents[a]
        result[i] = a
    return result
