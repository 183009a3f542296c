"""All eigenpairs of a symmetric matrix of a few hundred rows, on two cores.

LAPACK's divide and conquer has threads for its products alone, which brings nothing at this size. Here each core
decomposes half of the tridiagonal matrix, finds half of the roots that merge the two, and transforms half of the
vectors back; only the reduction to the tridiagonal matrix is left to one.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np
import scipy.linalg
from numba.extending import get_cython_function_address

from fantope.kernels.build import TWO_CORES
from fantope.kernels.merge import merge_roots, merge_vectors, twice
from fantope.typing import AnyArray

BLOCK = 64  # columns of the work arrays: as many as LAPACK has use for
FEW = 2  # LAPACK solves merges of up to two vectors by other formulas
SAFE = 1e15  # sizes of the tridiagonal matrix, and their inverses, whose squares single precision can hold


def eigh_in_halves(G: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the eigenvalues of ``G`` in ascending order and its eigenvectors, as columns, in its precision.

    ``G`` is finite and symmetric, both triangles. For use with one BLAS thread. The result does not depend on the
    number of cores.

    Examples
    --------
    >>> values, vectors = eigh_in_halves(np.diag([1.0, 3.0, 2.0]))
    >>> values.tolist(), np.abs(vectors.T).tolist()
    ([1.0, 2.0, 3.0], [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    """
    found = _merged(G) if len(G) >= TWO_CORES else None
    if found is not None:
        return found
    values, vectors = scipy.linalg.eigh(G, driver="evd", lower=False, check_finite=False)
    return values, vectors


def _merged(G: AnyArray) -> tuple[AnyArray, AnyArray] | None:
    """Return the eigenpairs, by halves; None where there is nothing to merge, or numbers are out of range."""
    n, kind = len(G), G.dtype
    m, lapack = n // 2, _Lapack(kind.char)
    H, (d, e, scales) = G.copy(), np.empty((3, n), kind)
    sizes, failed = np.array([n, m, n - m, n * BLOCK, n * n, 5 * n + 3], np.int32), np.zeros(2, np.int32)
    N, FIRST, LAST, LONG, LARGE, INTEGERS = (sizes.ctypes.data + 4 * i for i in range(len(sizes)))
    info, values, off, tau = (a.ctypes.data for a in (failed, d, e, scales))
    work = np.empty((2, max(n * BLOCK, n * n)), kind)
    one, two = work[0].ctypes.data, work[1].ctypes.data
    lapack.sytrd(b"L", N, H.ctypes.data, N, values, off, tau, one, LONG, info)
    size = max(float(np.abs(d).max()), float(np.abs(e[:-1]).max()))
    if failed.any() or not 1.0 / SAFE <= size <= SAFE:
        return None
    d /= kind.type(size)
    e /= kind.type(size)
    rho = e[m - 1 : m].copy()
    d[m - 1 : m + 1] -= abs(rho[0])

    byte = kind.itemsize
    Q, whole = np.zeros((n, n), kind), np.empty((2, 5 * n + 3), np.int32)  # the vectors are rows
    vectors, letters = Q.ctypes.data, np.frombuffer(b"ILN", np.uint8)
    identity, left, plain = (letters.ctypes.data + i for i in range(3))
    corner, own_integers = vectors + byte * (m * n + m), whole[1].ctypes.data
    halves = [
        [identity, FIRST, values, off, vectors, N, one, LARGE, whole[0].ctypes.data, INTEGERS, info],
        [identity, LAST, values + byte * m, off + byte * m, corner, N, two, LARGE, own_integers, INTEGERS, info + 4],
    ]
    twice(lapack.stedc, np.array(halves, np.uint64), True)
    merged = None if failed.any() else _merge(d, Q, m, rho, lapack)
    if merged is None:
        return None
    roots, Z = merged
    again, rest = H.copy(), byte * m * n  # which LAPACK may change for a while
    sides = [
        [left, left, plain, N, FIRST, H.ctypes.data, N, tau, Z.ctypes.data, N, one, LONG, info],
        [left, left, plain, N, LAST, again.ctypes.data, N, tau, Z.ctypes.data + rest, N, two, LONG, info + 4],
    ]
    twice(lapack.ormtr, np.array(sides, np.uint64), False)
    return None if failed.any() else (roots * kind.type(size), Z.T)


def _merge(d: AnyArray, Q: AnyArray, m: int, rho: AnyArray, lapack: _Lapack) -> tuple[AnyArray, AnyArray] | None:
    """Return the eigenpairs of diag(d) + rho·vvᵀ, in the basis of which the rows of Q are two halves of the vectors.

    v is 1 at the last coordinate of the first half and at the first one of the second half.
    """
    n, kind = len(d), d.dtype
    z = np.concatenate([Q[:m, m - 1], Q[m:, m]])
    order = np.concatenate([np.arange(1, m + 1), np.arange(1, n - m + 1)]).astype(np.int32)
    poles, weights, pairs = np.empty(n, kind), np.empty(n, kind), np.empty(n * n, kind)
    sizes, places = np.array([0, n, m, 0], np.int32), np.empty((4, n), np.int32)
    K, N, FIRST, info = (sizes.ctypes.data + 4 * i for i in range(4))
    by_pole, grouped, moved, types = (row.ctypes.data for row in places)
    arrays = (a.ctypes.data for a in (order, rho, z, poles, weights, pairs))
    lapack.laed2(K, N, FIRST, d.ctypes.data, Q.ctypes.data, N, *arrays, by_pole, grouped, moved, types, info)
    k = int(sizes[0])
    if sizes[3] != 0 or k <= FEW:
        return None
    only_first, both, only_last = (int(count) for count in places[3, :3])
    upper, lower = only_first + both, both + only_last
    first = pairs[: upper * m].reshape(upper, m)
    last = pairs[upper * m : upper * m + lower * (n - m)].reshape(lower, n - m)
    apart, products = np.empty((k, k), kind), np.empty((2, k), kind)
    if merge_roots(lapack.laed4, poles[:k], weights[:k], rho, d, apart, products):
        return None
    ascending = np.argsort(d, kind="stable")
    Z, place = np.empty_like(Q), np.empty(n, np.int64)
    place[ascending] = np.arange(n)
    Z[place[k:]] = Q[k:]
    merge_vectors(products, weights[:k], apart, places[1, :k] - 1, first, last, place, Z)
    return d[ascending], Z


class _Lapack:
    """Routines of SciPy's LAPACK: those called on one core as functions of pointers, the others by their addresses."""

    def __init__(self, kind: str) -> None:
        prefix = {"f": "s", "d": "d"}[kind]
        self.sytrd, self.laed2 = _function(prefix + "sytrd", 10), _function(prefix + "laed2", 17)
        self.stedc, self.ormtr, self.laed4 = (_address(prefix + name) for name in ("stedc", "ormtr", "laed4"))


@cache
def _address(name: str) -> int:
    return int(get_cython_function_address("scipy.linalg.cython_lapack", name))


@cache
def _function(name: str, count: int) -> Callable[..., None]:
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count)(_address(name))
