"""Passes over the memory of Anderson acceleration, in two halves, one for each core; sums do not depend on that."""

from __future__ import annotations

import numpy as np
from numba import prange

from fantope.kernels.build import parallel_from

LONG = 20_000  # elements from which two threads are worth their start
PART = 4096  # elements: a part of the newest differences stays in the cache while the others go by


@parallel_from(LONG)
def remember(z, residual, last_z, last_residual, unit, of_images, of_residuals, at, held):  # type: ignore[no-untyped-def]
    """Write the changes of the residual and of the image, z + residual, over ``unit``, to rows ``at``.

    Returns products of the first ``held`` differences of residuals with the newest, and of the residual with the last.
    """
    parts, inverse = (len(z) + PART - 1) // PART, 1.0 / unit
    sums = np.zeros((2, held + 1))
    for half in prange(2):
        for part in range(half * (parts // 2), parts // 2 if half == 0 else parts):
            begin, end = part * PART, min((part + 1) * PART, len(z))
            image, change = of_images[at, begin:end], of_residuals[at, begin:end]
            now, before = residual[begin:end], last_residual[begin:end]
            here, there = z[begin:end], last_z[begin:end]
            across = 0.0
            for i in range(end - begin):
                across += now[i] * before[i]
                change[i] = (now[i] - before[i]) * inverse
                image[i] = (here[i] - there[i] + (now[i] - before[i])) * inverse
            sums[half, held] += across
            for k in range(held):
                other, total = of_residuals[k, begin:end], np.float32(0.0)
                for i in range(end - begin):
                    total += other[i] * change[i]
                sums[half, k] += total
    return sums[0] + sums[1]


@parallel_from(LONG)
def combine(z, residual, weights, of_images, out):  # type: ignore[no-untyped-def]
    """Write out = z + residual − weights·of_images, with as many differences as there are weights."""
    parts, held = (len(z) + PART - 1) // PART, len(weights)
    for half in prange(2):
        correction = np.empty(PART, np.float32)
        for part in range(half * (parts // 2), parts // 2 if half == 0 else parts):
            begin, end = part * PART, min((part + 1) * PART, len(z))
            own = correction[: end - begin]
            own[:] = 0.0
            for k in range(0, held - held % 2, 2):  # two at a time: half as many passes over the correction
                first, second = of_images[k, begin:end], of_images[k + 1, begin:end]
                for i in range(end - begin):
                    own[i] += weights[k] * first[i] + weights[k + 1] * second[i]
            if held % 2 == 1:
                last = of_images[held - 1, begin:end]
                for i in range(end - begin):
                    own[i] += weights[held - 1] * last[i]
            here, now, new = z[begin:end], residual[begin:end], out[begin:end]
            for i in range(end - begin):
                new[i] = here[i] + now[i] - own[i]
