"""Anderson acceleration of a fixed-point iteration, safeguarded."""

from __future__ import annotations

import numpy as np

from fantope.typing import Array

RIDGE = 1e-10  # relative, on the small normal equations: differences of late iterates are nearly dependent
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
        """Return the next point, given the current one and T(z) − z."""
        image = z + residual
        if self.memory == 0:
            return image
        size = float(np.linalg.norm(residual))
        if size > GROWTH * self.best:
            self.clear()
        self.best = min(self.best, size)
        if self.last is None:
            self.last = image, residual
            return image
        self._remember(image, residual)
        held = min(self.n_differences, self.memory)
        gram = self.gram[:held, :held].copy()
        gram.flat[:: held + 1] += RIDGE * max(float(np.trace(gram)), 1e-300)
        weights = np.linalg.solve(gram, self.of_residuals[:held] @ residual.ravel().astype(np.float32))
        return image - (weights.astype(np.float32) @ self.of_images[:held]).reshape(image.shape)

    def _remember(self, image: Array, residual: Array) -> None:
        """Put the newest differences in the place of the oldest; one row of the Gram matrix changes with them."""
        assert self.last is not None
        if self.n_differences == 0:
            shape = (self.memory, image.size)
            # Single precision: a step is a correction of the image, no more exact than its seven digits.
            self.of_images, self.of_residuals = np.empty(shape, np.float32), np.empty(shape, np.float32)
            self.gram = np.empty((self.memory, self.memory))
        at = self.n_differences % self.memory
        np.subtract(image.ravel(), self.last[0].ravel(), out=self.of_images[at])
        np.subtract(residual.ravel(), self.last[1].ravel(), out=self.of_residuals[at])
        self.n_differences += 1
        held = min(self.n_differences, self.memory)
        self.gram[at, :held] = self.gram[:held, at] = self.of_residuals[:held] @ self.of_residuals[at]
        self.last = image, residual
