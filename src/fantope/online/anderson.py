"""Anderson acceleration of a fixed-point iteration, safeguarded."""

from __future__ import annotations

import numpy as np

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
        """Return the next point, given the current one and T(z) − z, as vectors."""
        image = z + residual
        size = float(np.linalg.norm(residual))
        if self.memory == 0 or size == 0.0:
            return image
        if size > GROWTH * self.best:
            self.clear()
        self.best = min(self.best, size)
        if self.last is not None:
            self._remember(image, residual)
        self.last = image, residual
        held = min(self.n_differences, self.memory)
        if held == 0:
            return image
        weights = np.linalg.solve(self.gram[:held, :held] + RIDGE * np.eye(held), self.products[:held])
        return image - weights.astype(np.float32) @ self.of_images[:held]

    def _remember(self, image: Array, residual: Array) -> None:
        """Put the newest differences in the place of the oldest; one row of the Gram matrix changes with them."""
        assert self.last is not None
        change = residual - self.last[1]
        size = float(np.linalg.norm(change))
        if size == 0.0:
            return
        if self.n_differences == 0:
            # Single precision: a step is a correction of the image, no more exact than its seven digits. Early and late
            # differences are many orders apart: each is divided by the size of its residual's.
            shape = (self.memory, len(image))
            self.of_images, self.of_residuals = np.empty(shape, np.float32), np.empty(shape, np.float32)
            self.gram, self.products = np.empty((self.memory, self.memory)), np.zeros(self.memory)
        at = self.n_differences % self.memory
        np.divide(image - self.last[0], size, out=self.of_images[at], casting="same_kind")
        np.divide(change, size, out=self.of_residuals[at], casting="same_kind")
        self.n_differences += 1
        held = min(self.n_differences, self.memory)
        self.gram[at, :held] = self.gram[:held, at] = self.of_residuals[:held] @ self.of_residuals[at]
        # The products of the differences with the residual change by those with the newest difference: no second pass.
        self.products[:held] += size * self.gram[at, :held]
        self.products[at] = float(residual @ change) / size
