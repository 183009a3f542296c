"""Symmetric matrices by their lower triangles: row after row in one vector, the entry (i, j) at i(i + 1)/2 + j."""

from __future__ import annotations

import numpy as np
from numba import njit

from fantope.typing import Array


@njit(cache=True, nogil=True)
def _pack(X, packed):  # type: ignore[no-untyped-def]
    for i in range(len(X)):
        own, row = packed[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2], X[i]
        for j in range(i + 1):
            own[j] = row[j]


@njit(cache=True, nogil=True)
def _unpack(packed, X):  # type: ignore[no-untyped-def]
    for i in range(len(X)):
        own, row = packed[i * (i + 1) // 2 : (i + 1) * (i + 2) // 2], X[i]
        for j in range(i + 1):
            row[j] = own[j]
            X[j, i] = own[j]


def pack(X: Array) -> Array:
    """Return the lower triangle of ``X``.

    Examples
    --------
    >>> pack(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([1., 2., 3.])
    """
    packed = np.empty(len(X) * (len(X) + 1) // 2)
    _pack(X, packed)
    return packed


def unpack(packed: Array, p: int) -> Array:
    """Return the symmetric p × p matrix whose lower triangle is ``packed``."""
    X = np.empty((p, p))
    _unpack(packed, X)
    return X


def diagonal(packed: Array, p: int) -> Array:
    """Return a copy of the diagonal."""
    rows = np.arange(p)
    return np.asarray(packed[rows * (rows + 3) // 2])
