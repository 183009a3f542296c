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
        self.images: list[Array] = []
        self.residuals: list[Array] = []
        self.best = np.inf

    def clear(self) -> None:
        """Forget the past: after a change of the map."""
        self.images, self.residuals, self.best = [], [], np.inf

    def next(self, z: Array, residual: Array) -> Array:
        """Return the next point, given the current one and T(z) − z."""
        image = z + residual
        if self.memory == 0:
            return image
        size = float(np.linalg.norm(residual))
        if size > GROWTH * self.best:
            self.clear()
        self.best = min(self.best, size)
        self.images = [*self.images[-self.memory :], image]
        self.residuals = [*self.residuals[-self.memory :], residual]
        if len(self.images) == 1:
            return image
        differences = [np.subtract(b, a).ravel() for a, b in zip(self.residuals[:-1], self.residuals[1:], strict=True)]
        gram = np.array([[float(a @ b) for b in differences] for a in differences])
        gram.flat[:: len(gram) + 1] += RIDGE * max(float(np.trace(gram)), 1e-300)
        weights = np.linalg.solve(gram, np.array([float(a @ residual.ravel()) for a in differences]))
        result = image.copy()
        for weight, a, b in zip(weights, self.images[:-1], self.images[1:], strict=True):
            result -= weight * (b - a)
        return result
