"""Passes over the memory of Anderson acceleration: long vectors in fixed parts; sums do not depend on cores."""

from __future__ import annotations

import numpy as np
from numba import prange

from fantope.kernels.build import in_order, parallel_from

LONG = 20_000  # elements from which two threads are worth their start
PART = 4096  # elements: a part of all vectors of the memory stays in the cache


@parallel_from(LONG)
def step_sizes(residual, last_residual):  # type: ignore[no-untyped-def]
    """Return Σ residual², Σ change² and Σ residual·change for change = residual − last_residual."""
    n = len(residual)
    n_parts = (n + PART - 1) // PART
    sums = np.zeros((n_parts, 3))
    for part in prange(n_parts):
        own = moved = across = 0.0
        for i in range(part * PART, min((part + 1) * PART, n)):
            change = residual[i] - last_residual[i]
            own += residual[i] * residual[i]
            moved += change * change
            across += residual[i] * change
        sums[part, 0], sums[part, 1], sums[part, 2] = own, moved, across
    return in_order(sums)


@parallel_from(LONG)
def store(z, residual, last_z, last_residual, size, of_images, of_residuals, at, held):  # type: ignore[no-untyped-def]
    """Write the newest differences of images and residuals, over ``size``; return their row of the Gram matrix."""
    n = len(z)
    n_parts = (n + PART - 1) // PART
    sums = np.zeros((n_parts, held))
    for part in prange(n_parts):
        begin, end = part * PART, min((part + 1) * PART, n)
        for i in range(begin, end):
            change = (residual[i] - last_residual[i]) / size
            of_residuals[at, i] = change
            of_images[at, i] = (z[i] - last_z[i]) / size + change
        for k in range(held):
            total = np.float32(0.0)
            for i in range(begin, end):
                total += of_residuals[k, i] * of_residuals[at, i]
            sums[part, k] = total
    return in_order(sums)


@parallel_from(LONG)
def combine(z, residual, weights, of_images, out):  # type: ignore[no-untyped-def]
    """Write out = z + residual − weights·of_images."""
    n = len(z)
    n_parts = (n + PART - 1) // PART
    for part in prange(n_parts):
        begin, end = part * PART, min((part + 1) * PART, n)
        correction = np.zeros(end - begin, np.float32)
        for k in range(len(weights)):
            weight = np.float32(weights[k])
            for i in range(begin, end):
                correction[i - begin] += weight * of_images[k, i]
        for i in range(begin, end):
            out[i] = z[i] + residual[i] - correction[i - begin]
