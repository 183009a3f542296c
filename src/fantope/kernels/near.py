"""The passes of a splitting method between decompositions, over lower triangles: half the memory of whole arrays."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from fantope.kernels.build import build
from fantope.kernels.entry import at


@njit(cache=True, nogil=True)
def short_and_long(m):  # type: ignore[no-untyped-def]
    """Return the rows of a triangle in an order in which any two neighbours have as much work as any other two."""
    order = np.empty(m, np.int64)
    for k in range(m):
        order[k] = k // 2 if k % 2 == 0 else m - 1 - k // 2
    return order


@build
def near_pass(Z, base, X, limits, inverse_rho, relax, change):  # type: ignore[no-untyped-def]
    """Update the state Z = Y + W in place, given X; write ``change`` = Y − W + ``base`` for the new Y and W.

    Y = Z soft-thresholded at limits/ρ, W = Z − Y. Returns ``[‖X − Y⁺‖², ‖Y⁺ − Y‖², ‖W⁺‖²]``.
    """
    m = Z.shape[0]
    sums = np.zeros((m, 3))
    order = short_and_long(m)
    for h in prange(m):
        i = order[h]
        primal = dual = multiplier = 0.0
        for j in range(i + 1):
            z = Z[i, j]
            x = X[i, j]
            threshold = at(limits, i, j) * inverse_rho
            w = min(max(z, -threshold), threshold)
            y = z - w
            z = relax * x + (1.0 - relax) * y + w
            w = min(max(z, -threshold), threshold)
            new = z - w
            Z[i, j] = z
            change[i, j] = new - w + base[i, j]
            count = 2.0 if j < i else 1.0
            primal += count * (x - new) * (x - new)
            dual += count * (new - y) * (new - y)
            multiplier += count * w * w
        sums[i, 0] = primal
        sums[i, 1] = dual
        sums[i, 2] = multiplier
    return sums.sum(axis=0)


@build
def target(Z, S, G, limits, inverse_rho):  # type: ignore[no-untyped-def]
    """Write G = Y − W + S/ρ, what is projected next; return ‖S/ρ − W‖²."""
    m = Z.shape[0]
    sums = np.zeros(m)
    order = short_and_long(m)
    for h in prange(m):
        i = order[h]
        slack = 0.0
        for j in range(i + 1):
            z = Z[i, j]
            threshold = at(limits, i, j) * inverse_rho
            w = min(max(z, -threshold), threshold)
            free = inverse_rho * S[i, j] - w
            G[i, j] = z - w + free
            slack += (2.0 if j < i else 1.0) * free * free
        sums[i] = slack
    return sums.sum()


@build
def value_below(S, X, limits):  # type: ignore[no-untyped-def]
    """Return ⟨S, X⟩ − Σ limits_ij|X_ij| from the lower triangles, over the entries with finite limits."""
    m = S.shape[0]
    sums = np.zeros(m)
    for i in prange(m):
        total = 0.0
        for j in range(i + 1):
            limit = at(limits, i, j)
            if limit < np.inf:
                x = X[i, j]
                total += (2.0 if j < i else 1.0) * (S[i, j] * x - limit * abs(x))
        sums[i] = total
    return sums.sum()


@build
def mirror(A):  # type: ignore[no-untyped-def]
    """Copy the lower triangle of A to the upper one, in place, tile by tile."""
    m = A.shape[0]
    tile = 64
    for b in prange((m + tile - 1) // tile):
        first, last = b * tile, min((b + 1) * tile, m)
        for start in range(0, last, tile):
            for i in range(first, last):
                for j in range(start, min(start + tile, i)):
                    A[j, i] = A[i, j]


@build
def rescale(Z, limits, inverse_rho, factor):  # type: ignore[no-untyped-def]
    """Change the penalty ρ by ``factor``: Y stays, the scaled multiplier W shrinks."""
    m = Z.shape[0]
    for i in prange(m):
        for j in range(i + 1):
            z = Z[i, j]
            threshold = at(limits, i, j) * inverse_rho
            w = min(max(z, -threshold), threshold)
            Z[i, j] = z - w + w / factor
