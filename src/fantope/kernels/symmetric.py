"""Products with a sparse symmetric matrix of which the upper half is stored, in single precision: 8 bytes a pair."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def symmetric_product(indptr, indices, values, V, absolute):  # type: ignore[no-untyped-def]
    """Return N V, or |N| V, in double precision for N without a diagonal, its rows right of it given, and V (m, k)."""
    out = np.zeros_like(V)
    k = V.shape[1]
    for i in range(len(indptr) - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            value = np.float64(values[e])
            if absolute:
                value = abs(value)
            for c in range(k):
                out[i, c] += value * V[j, c]
                out[j, c] += value * V[i, c]
    return out
