"""Entries of S, or of a tile of it, that may exceed a threshold, and what they connect."""

from __future__ import annotations

import numpy as np
from numba import njit

from fantope.typing import AnyArray, Array, IntArray

STRIP = 64  # rows read at a time, so that what is computed of them stays in cache


def entries_above(
    tile: AnyArray, scale_rows: Array, scale_cols: Array, margin: float, alpha: float, skip_lower: bool
) -> tuple[IntArray, IntArray, Array]:
    """Return rows, columns and upper bounds of the entries with (|tile_ij| + margin)·scale_i·scale_j > alpha.

    ``margin`` covers the rounding of the tile. With ``skip_lower`` only entries right of the diagonal are read.
    """
    found = [(np.zeros(0, np.intp), np.zeros(0, np.intp), np.zeros(0))]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # a scale near 0: no entry is above
        lowest = alpha / (scale_rows * scale_cols.max(initial=0.0)) - margin
        # Rounded downwards: single precision sorts out what cannot be above, the product below decides.
        lowest = np.nextafter((lowest - 1e-15 * np.abs(lowest)).astype(tile.dtype), tile.dtype.type(-np.inf))
    for start in range(0, len(tile), STRIP):
        first = start + 1 if skip_lower else 0
        strip = np.abs(tile[start : start + STRIP, first:])
        r, c = np.divmod(np.flatnonzero(strip >= lowest[start : start + STRIP, None]), max(strip.shape[1], 1))
        bounds = (strip[r, c].astype(np.float64) + margin) * scale_rows[start + r] * scale_cols[first + c]
        above = bounds > alpha
        if skip_lower:
            above &= c >= r
        found.append((start + r[above], first + c[above], bounds[above]))
    rows, cols, bounds = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, cols, bounds


@njit(cache=True, nogil=True)
def unite(parents, rows, cols):  # type: ignore[no-untyped-def]
    """Merge the sets of each pair (union-find with path halving), in place; return which pairs joined two sets.

    A set is represented by its smallest member.
    """
    joined = np.empty(rows.shape[0], np.bool_)
    for e in range(rows.shape[0]):
        a, b, joined[e] = rows[e], cols[e], False
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


def component_labels(S: Array, alpha: float) -> IntArray:
    """Label the connected components of the graph {|S_ij| > alpha, i ≠ j} by their smallest variables' order.

    Straight from the dense matrix; breadth first, each row is read at most once. In a dense graph the first few rows
    reach every variable and the search stops there, which building a sparse graph first could not do.
    """
    labels = np.full(len(S), -1, dtype=np.intp)
    unseen = np.arange(len(S))
    label = -1
    while len(unseen):
        label += 1
        labels[unseen[0]] = label
        queue, unseen = [unseen[:1]], unseen[1:]
        while queue:
            for row in queue.pop():
                if not len(unseen):
                    return labels
                near = np.abs(S[row].take(unseen)) > alpha
                if near.any():
                    labels[unseen[near]] = label
                    queue.append(unseen[near])
                    unseen = unseen[~near]
    return labels
