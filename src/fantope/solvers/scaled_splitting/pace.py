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
    inner: int = 0  # steps to first order after the last decomposition, and how many are left of them
    inner_left: int = 0
    at_decomposition: float = math.inf  # residual at the last one
    enough: float = 0.0  # residual at which an answer is expected
    look_below: float = math.inf
    _before: float = math.inf  # residual before the last decomposition

    def decomposes(self, size: float, forced: bool) -> bool:
        """Decide whether the next iteration decomposes."""
        s = self.schedule
        due = forced or self.inner_left == 0 or size <= max(s.inner_fall * self.at_decomposition, self.enough)
        if due:
            self._before = size
            self.n_decompositions += 1
        self.inner_left -= not due
        return due

    def decomposed(self, size: float) -> None:
        """Take in the residual at a decomposition, and set how many steps to first order follow."""
        s = self.schedule
        if not size <= s.inner_jump * self._before:  # the steps before went where first order does not hold
            self.inner = max(self.inner // 2, s.first_inner)
        else:
            self.inner = min(self.inner + s.more_inner, s.most_inner) if self.inner else s.first_inner
        self.inner_left, self.at_decomposition = self.inner, size

    def looked(self, size: float, ready: float) -> None:
        """Set the next look after one that found a gap of ``ready`` times what it must be."""
        s = self.schedule
        self.enough = size * min(max(ready, 1e-300) ** -s.loss_power, s.next_trial)
        self.look_below = min(max(s.look_from * self.enough, s.look_part * size), s.next_trial * size)
