"""Anderson acceleration of a fixed-point iteration, safeguarded."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dgesv as solve_linear

from fantope.kernels.scaled_splitting.acceleration import combine, remember
from fantope.typing import AnyArray, Array

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

    def next(self, z: Array, residual: Array, size: float, anew: bool = False) -> Array:
        """Return the next point, given the current one and T(z) − z, as vectors, which are kept, not copied.

        ``size`` is the length of the residual. ``anew`` says that T is another model of the map than that of the last
        residual: how the two differ says nothing of either. (Of the iterations that saves 2 to 5 %, with heavy tails a
        fifth: p = 400 and 160, λ = √(log p/T).)
        """
        if self.last is not None and self.memory > 0:
            self._remember(z, residual, size, anew)
        if self.memory == 0 or size == 0.0:
            return z + residual
        if size > GROWTH * self.best:
            self.clear()
        self.best = min(self.best, size)
        self.last, self.last_size = (z, residual), size
        held = min(self.n_differences, self.memory)
        if held == 0:
            return z + residual
        out = np.empty_like(z)
        combine(z, residual, self._weights(held), self.of_images, out)
        return out

    def _weights(self, held: int) -> AnyArray:
        """Return the weights with which the differences leave least of the residual."""
        gram = self.gram[:held, :held]
        # In units of their lengths: early and late ones are many orders apart.
        lengths = np.sqrt(gram.diagonal())
        unit = gram / lengths / lengths[:, None]
        unit.flat[:: held + 1] += RIDGE
        return np.asarray((solve_linear(unit, self.products[:held] / lengths)[2] / lengths).astype(np.float32))

    def _remember(self, z: Array, residual: Array, size: float, anew: bool) -> None:
        """Put the newest differences in the place of the oldest, and their row into the Gram matrix."""
        assert self.last is not None
        if self.n_differences == 0:
            # Single precision, in units of the last residual's size: a step is a correction of the image, no more exact
            # than its seven digits.
            shape = (self.memory, len(z))
            self.of_images, self.of_residuals = np.empty(shape, np.float32), np.empty(shape, np.float32)
            self.gram, self.products = np.empty((self.memory, self.memory)), np.zeros(self.memory)
        at, unit = self.n_differences % self.memory, self.last_size
        held = min(self.n_differences + 1, self.memory)
        found = remember(z, residual, *self.last, unit, self.of_images, self.of_residuals, at, held)
        row, inner = found[:-1], found[-1]
        # The products of differences with the residual change by those with the newest one: no second pass.
        self.products[:held] += unit * row
        if row[at] == 0.0:  # the residual is the last one: the difference says nothing, and took an older one's place
            self.clear()
        elif anew:  # its place is empty until the next one comes: a unit vector that the residual knows nothing of
            self.gram[at, :held] = self.gram[:held, at] = 0.0
            self.gram[at, at], self.products[at] = 1.0, 0.0
        else:
            self.n_differences += 1
            self.gram[at, :held] = self.gram[:held, at] = row
            self.products[at] = (size**2 - inner) / unit
