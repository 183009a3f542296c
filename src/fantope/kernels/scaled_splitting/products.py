"""Products in single precision for projections on the semidefinite matrices, in two halves, one for each core."""

from __future__ import annotations

import numpy as np
from numba import prange

from fantope.kernels.build import TWO_CORES, parallel_from

BLOCK = 16  # rows at a time: as many columns of the transpose share their cache lines


@parallel_from(TWO_CORES)
def project_near(change, X, Y, rows, k, slopes, whole, out):  # type: ignore[no-untyped-def]
    """Write out = X + D + Dᵀ − Y, and + change if ``whole``, with D = V(slopes∘(V'·change·F))F'.

    V are eigenvectors, given as ``rows``, and F the first k of them; X, Y and out are packed. Products are made in two
    halves, one for each core; the result does not depend on the number of cores. Returns the squared length of out.
    """
    p, half = len(change), (len(change) + 1) // 2
    few = rows[:k]
    image, D = np.empty((p, k), np.float32), np.empty((p, p), np.float32)
    outside = np.empty((2, p, k), np.float32)
    for part in prange(2):
        np.dot(change[part * half : (part + 1) * half], few.T, image[part * half : (part + 1) * half])
    for part in prange(2):
        own = rows[part * half : (part + 1) * half]
        inside = np.dot(own, image)
        inside *= slopes[part * half : (part + 1) * half]
        np.dot(own.T, inside, outside[part])
    for part in prange(2):
        both = outside[0, part * half : (part + 1) * half] + outside[1, part * half : (part + 1) * half]
        np.dot(both, few, D[part * half : (part + 1) * half])
    blocks = (p + BLOCK - 1) // BLOCK
    squares = np.zeros(blocks)
    for pair in prange((blocks + 1) // 2):  # a short block of rows with a long one
        turned = np.empty((BLOCK, p), np.float32)
        for side in range(2):
            block = abs(side * (blocks - 1) - np.int64(pair))
            begin, end = block * BLOCK, p if block == blocks - 1 else (block + 1) * BLOCK
            square = 0.0
            for j in range(end):
                for i in range(begin, end):
                    turned[i - begin, j] = D[j, i]
            for i in range(begin, end):
                at, own, straight, changed = i * (i + 1) // 2, turned[i - begin], D[i], change[i]
                x, y, new = X[at : at + i + 1], Y[at : at + i + 1], out[at : at + i + 1]
                if whole:
                    for j in range(i + 1):
                        new[j] = x[j] - y[j] + (own[j] + straight[j] + changed[j])
                else:
                    for j in range(i + 1):
                        new[j] = x[j] - y[j] + (own[j] + straight[j])
                for j in range(i + 1):
                    square += new[j] * new[j]
            squares[block] = square  # the block in the middle is met twice
    total = 0.0
    for part in range(blocks):
        total += squares[part]
    return total


@parallel_from(TWO_CORES)
def masked_congruence(weights, basis, k, middle, masked):  # type: ignore[no-untyped-def]
    """Return B'·E·N for E = weights∘(M + M'), which is written to ``masked``, M = B·middle·N'.

    B is the ``basis``, N its first k columns. Products are made in two blocks of rows, one for each core; the result
    does not depend on the number of cores.
    """
    p, half = len(weights), (len(weights) + 1) // 2
    few = np.ascontiguousarray(basis[:, :k])
    M, halves = np.empty((p, p), np.float32), np.empty((2, basis.shape[1], k), np.float32)
    for part in prange(2):
        own = np.dot(basis[part * half : (part + 1) * half], middle)
        np.dot(own, few.T, M[part * half : (part + 1) * half])
    for part in prange(2):
        turned = np.empty((BLOCK, p), np.float32)
        for begin in range(part * half, min((part + 1) * half, p), BLOCK):
            end = min(begin + BLOCK, (part + 1) * half, p)
            for j in range(p):
                for i in range(begin, end):
                    turned[i - begin, j] = M[j, i]
            for i in range(begin, end):
                for j in range(p):
                    masked[i, j] = weights[i, j] * (M[i, j] + turned[i - begin, j])
        own = np.dot(masked[part * half : (part + 1) * half], few)
        np.dot(basis[part * half : (part + 1) * half].T, own, halves[part])
    return halves[0] + halves[1]
