"""Products with a sparse symmetric matrix of which the upper half is stored, in single precision: 8 bytes a pair."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def symmetric_product(indptr, indices, values, V, absolute, out):  # type: ignore[no-untyped-def]
    """Add N V, or |N| V, to ``out`` in double precision for N without a diagonal, its rows right of it given, V (m, k).

    An array that the kernel made itself would take twice as long to compile.
    """
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
