"""Anderson acceleration of a fixed-point iteration, safeguarded."""

from __future__ import annotations

import math

import numpy as np

from fantope.kernels.anderson import combine, step_sizes, store
from fantope.typing import Array

RIDGE = 1e-8  # on the Gram matrix of unit vectors: differences of late iterates are nearly dependent
GROWTH = 2.0  # a residual that grows by more than this since the best one empties the memory


class Anderson:
    """Combine the last few iterates so that the residual of the combination is smallest (type II).

    Parameters
    ----------
    memory : int
        Number of differences kept; 0 is the plain iteration.
    """

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.clear()

    def clear(self) -> None:
        """Forget the past: after a change of the map."""
        self.n_differences = 0  # seen so far; the last ``memory`` of them are held, in a ring
        self.last: tuple[Array, Array] | None = None
        self.best = np.inf

    def next(self, z: Array, residual: Array) -> Array:
        """Return the next point, given the current one and T(z) − z, as vectors, which are kept, not copied."""
        square, moved, across = step_sizes(residual, residual if self.last is None else self.last[1])
        size = math.sqrt(square)
        if self.memory == 0 or size == 0.0:
            return z + residual
        if size > GROWTH * self.best:
            self.clear()
        self.best = min(self.best, size)
        if self.last is not None and moved > 0.0:
            self._remember(z, residual, math.sqrt(moved), across)
        self.last = z, residual
        held = min(self.n_differences, self.memory)
        if held == 0:
            return z + residual
        weights = np.linalg.solve(self.gram[:held, :held] + RIDGE * np.eye(held), self.products[:held])
        out = np.empty_like(z)
        combine(z, residual, weights, self.of_images, out)
        return out

    def _remember(self, z: Array, residual: Array, size: float, across: float) -> None:
        """Put the newest differences in the place of the oldest; one row of the Gram matrix changes with them."""
        assert self.last is not None
        if self.n_differences == 0:
            # Single precision: a step is a correction of the image, no more exact than its seven digits. Early and late
            # differences are many orders apart: each is divided by the size of its residual's.
            shape = (self.memory, len(z))
            self.of_images, self.of_residuals = np.empty(shape, np.float32), np.empty(shape, np.float32)
            self.gram, self.products = np.empty((self.memory, self.memory)), np.zeros(self.memory)
        at = self.n_differences % self.memory
        self.n_differences += 1
        held = min(self.n_differences, self.memory)
        row = store(z, residual, *self.last, size, self.of_images, self.of_residuals, at, held)
        self.gram[at, :held] = self.gram[:held, at] = row
        # The products of the differences with the residual change by those with the newest difference: no second pass.
        self.products[:held] += size * row
        self.products[at] = across / size
