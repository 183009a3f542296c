"""Passes over the memory of Anderson acceleration: long vectors in fixed parts; sums do not depend on cores."""

from __future__ import annotations

import numpy as np
from numba import prange

from fantope.kernels.build import in_order, parallel_from

LONG = 20_000  # elements from which two threads are worth their start
PART = 4096  # elements: a part of all vectors of the memory stays in the cache


@parallel_from(LONG)
def store(z, residual, last_z, last_residual, unit, of_images, of_residuals, at, held):  # type: ignore[no-untyped-def]
    """Write the newest differences of images and residuals, over ``unit``.

    Returns their row of the Gram matrix, then Σ residual² and Σ residual·difference.
    """
    n = len(z)
    n_parts = (n + PART - 1) // PART
    sums = np.zeros((n_parts, held + 2))
    for part in prange(n_parts):
        begin, end = part * PART, min((part + 1) * PART, n)
        for i in range(begin, end):
            change = (residual[i] - last_residual[i]) / unit
            of_residuals[at, i] = change
            of_images[at, i] = (z[i] - last_z[i]) / unit + change
        # Sums have a loop of their own: next to writes, how they are taken could depend on where arrays lie in memory.
        square = across = 0.0
        for i in range(begin, end):
            square += residual[i] * residual[i]
            across += residual[i] * ((residual[i] - last_residual[i]) / unit)
        for k in range(held):
            total = np.float32(0.0)
            for i in range(begin, end):
                total += of_residuals[k, i] * of_residuals[at, i]
            sums[part, k] = total
        sums[part, held], sums[part, held + 1] = square, across
    return in_order(sums)


@parallel_from(LONG)
def combine(z, residual, gram, products, ridge, of_images, out):  # type: ignore[no-untyped-def]
    """Write out = z + residual − weights·of_images, with the weights that leave least of the residual."""
    n, held = len(z), len(products)
    # In units of the differences' lengths: early and late ones are many orders apart.
    lengths = np.sqrt(np.diag(gram))
    unit = gram / np.outer(lengths, lengths)
    for k in range(held):
        unit[k, k] += ridge
    weights = (np.linalg.solve(unit, products / lengths) / lengths).astype(np.float32)
    n_parts = (n + PART - 1) // PART
    for part in prange(n_parts):
        begin, end = part * PART, min((part + 1) * PART, n)
        correction = np.zeros(end - begin, np.float32)
        for k in range(held):
            for i in range(begin, end):
                correction[i - begin] += weights[k] * of_images[k, i]
        for i in range(begin, end):
            out[i] = z[i] + residual[i] - correction[i - begin]
