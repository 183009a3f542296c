"""Calls of LAPACK on two cores, and the merge of two tridiagonal eigenproblems, one half of the vectors on each.

LAPACK's routines are called by their addresses, which a kernel gets as arguments: threads of Python's own would wait
for numba's, which keep their cores busy for some milliseconds after each kernel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, prange, types
from numba.core import cgutils
from numba.extending import intrinsic


def _calling(count: int) -> Any:
    """Return what calls the C function at an address, which returns nothing, with ``count`` pointers from an array."""

    @intrinsic
    def call(typingctx, address, pointers):  # type: ignore[no-untyped-def]
        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            pointer = cgutils.voidptr_t
            kind = ir.FunctionType(ir.VoidType(), [pointer] * count)
            function = builder.inttoptr(arguments[0], kind.as_pointer())
            data = context.make_array(signature.args[1])(context, builder, arguments[1]).data
            each = [builder.load(builder.gep(data, [ir.Constant(ir.IntType(64), i)])) for i in range(count)]
            builder.call(function, [builder.inttoptr(value, pointer) for value in each])
            return context.get_dummy_value()

        return types.none(address, pointers), generate

    return call


_call_8, _call_11, _call_13 = _calling(8), _calling(11), _calling(13)


@njit(cache=True, nogil=True, parallel=True)
def twice(address, pointers, eleven):  # type: ignore[no-untyped-def]
    """Call a function of 11 or 13 arguments with either row of ``pointers``, each on a core."""
    for part in prange(2):
        if eleven:
            _call_11(address, pointers[part])
        else:
            _call_13(address, pointers[part])


@njit(cache=True, nogil=True, parallel=True)
def merge_roots(laed4, poles, z, rho, roots, apart, products):  # type: ignore[no-untyped-def]
    """Write the roots x of 1 + rho·Σ z_i²/(poles_i − x), and poles_i − roots_j to ``apart[j, i]``.

    ``products[h]_i`` is what the roots of one half contribute to −ẑ_i², for which these are the roots to the last
    digit. Returns how many were not found.
    """
    k, failed = len(poles), np.zeros(2, np.int64)
    for half in prange(2):
        where, number, info = np.zeros(8, np.uint64), np.empty(2, np.int32), np.zeros(1, np.int32)
        number[0] = k
        where[0], where[1], where[2], where[3] = (
            number.ctypes.data,
            number[1:].ctypes.data,
            poles.ctypes.data,
            z.ctypes.data,
        )
        where[5], where[7] = rho.ctypes.data, info.ctypes.data
        own = products[half]
        for i in range(k):
            own[i] = 1.0
        for j in range(half * (k // 2), k // 2 if half == 0 else k):
            number[1] = j + 1
            where[4], where[6] = apart[j].ctypes.data, roots[j:].ctypes.data
            _call_8(laed4, where)
            failed[half] += info[0] != 0
            for i in range(j):
                own[i] *= apart[j, i] / (poles[i] - poles[j])
            own[j] *= apart[j, j]
            for i in range(j + 1, k):
                own[i] *= apart[j, i] / (poles[i] - poles[j])
    return failed[0] + failed[1]


@njit(cache=True, nogil=True, parallel=True)
def merge_vectors(products, z, apart, order, first, last, places, out):  # type: ignore[no-untyped-def]
    """Write the eigenvectors that belong to ``merge_roots`` to the rows ``places`` of ``out``.

    ``first`` and ``last`` are the vectors of the two halves, as rows, those in both being the last of ``first`` and the
    first of ``last``; ``order`` are their poles.
    """
    k, split, only_first = len(z), first.shape[1], len(order) - len(last)
    weights = np.empty(k, z.dtype)
    for i in range(k):
        weights[i] = np.copysign(np.sqrt(max(-products[0, i] * products[1, i], z.dtype.type(0.0))), z[i])
    for half in prange(2):
        begin, end = half * (k // 2), k // 2 if half == 0 else k
        S, S_last = np.empty((end - begin, len(first)), z.dtype), np.empty((end - begin, len(last)), z.dtype)
        own = np.empty(k, z.dtype)
        for j in range(begin, end):
            total = 0.0
            for i in range(k):
                own[i] = weights[i] / apart[j, i]
                total += np.float64(own[i]) * own[i]
            scale = z.dtype.type(1.0 / np.sqrt(total))
            for i in range(len(first)):
                S[j - begin, i] = own[order[i]] * scale
            for i in range(len(last)):
                S_last[j - begin, i] = own[order[only_first + i]] * scale
        images, images_last = np.dot(S, first), np.dot(S_last, last)
        for j in range(begin, end):
            out[places[j], :split] = images[j - begin]
            out[places[j], split:] = images_last[j - begin]
