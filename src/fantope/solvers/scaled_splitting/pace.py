"""When to decompose and when to look for an answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

from fantope.solvers.scaled_splitting.schedule import Schedule


@dataclass
class Pace:
    """When the next decomposition and the next look for an answer are due, by the size of the residual."""

    schedule: Schedule
    n_decompositions: int = 0
    inner_left: int = 0  # steps to first order before the next decomposition
    at_decomposition: float = math.inf  # residual at the last one
    enough: float = 0.0  # residual at which an answer is expected
    look_below: float = math.inf

    def decomposes(self, size: float, forced: bool) -> bool:
        """Decide whether the next iteration decomposes."""
        s = self.schedule
        due = forced or self.inner_left == 0 or size <= max(s.inner_fall * self.at_decomposition, self.enough)
        more = s.first_inner + s.more_inner * self.n_decompositions
        self.inner_left = min(more, s.most_inner) if due else self.inner_left - 1
        self.n_decompositions += due
        return due

    def looked(self, size: float, ready: float) -> None:
        """Set the next look after one that found a gap of ``ready`` times what it must be."""
        s = self.schedule
        self.enough = size * min(max(ready, 1e-300) ** -s.loss_power, s.next_trial)
        self.look_below = min(max(s.look_from * self.enough, s.look_part * size), s.next_trial * size)
