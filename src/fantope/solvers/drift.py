"""Jumps along the line on which a run drifts.

A splitting method can be left with one direction in which it converges slowly. Such is a share of X that has to move
from one fractional eigenvector to another, where the objective hardly says so: in a concave step on noise (200 × 300)
each iteration moved by 1/650 less than the one before it, at a cosine of 0.99999, and hundreds were needed to move 0.07
of the trace. Aitken's formula says where such a line ends; whether it does is judged by the residuals there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fantope.typing import Array

STRAIGHT = 0.98  # cosine between the moves of two blocks of iterations (0.95 and 0.9: three times the jumps, in vain)
SLOW = 0.5  # of the last move: a smaller one ends by itself
LEAST, MOST = 10, 2.0  # iterations that a jump must save, and times those made that it may, as the line may bend


@dataclass
class Drift:
    """The mean move of an iteration in the last block of them, and how far it leads."""

    move: Array | None = None
    iterations: int = 0  # in that block
    ahead: float = 0.0  # iterations to jump over
    wait: int = 0  # blocks before the next jump, …
    patience: int = 1  # … and after the next one that leads nowhere

    def forget(self) -> None:
        """Begin anew: the next block is not like the last one."""
        self.move, self.ahead = None, 0.0

    def refuse(self) -> None:
        """Make the next jump wait: the last one led nowhere."""
        self.forget()
        self.patience *= 2
        self.wait = self.patience

    def see(self, before: Array, after: Array, iterations: int, made: int) -> None:
        """Take in a block of iterations by the lower triangles of where it began and ended; ``made`` are all so far."""
        last, self.move = self.move, np.tril(after - before) / iterations
        between, self.iterations = 0.5 * (iterations + self.iterations), iterations
        self.wait, self.ahead = self.wait - 1, 0.0
        if last is None or self.wait > 0:
            return
        along, square = float(np.vdot(self.move, last)), float(np.vdot(last, last))
        if along > STRAIGHT * np.sqrt(square * np.vdot(self.move, self.move)) and along > SLOW * square:
            # Moves that fall by the factor q within so many iterations sum up to one of them times 1/(1 − q) as many.
            whole = between / max(1.0 - along / square, 1e-9)
            self.ahead = min(whole, MOST * made) if whole > LEAST else 0.0
