"""The multiplier PPᵀ of X ⪯ I, which holds in all but a few directions anyway."""

from __future__ import annotations

import numpy as np

from fantope.kernels.scaled_splitting.cap import lift_step
from fantope.solvers.scaled_splitting.metric import Metric
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.typing import Array


class Cap:
    """P, a (p, d) array, and what its steps know of the leading eigenvectors of X."""

    def __init__(self, P: Array, metric: Metric, schedule: Schedule) -> None:
        self.P, self._metric, self._schedule = P, metric, schedule
        self._leading: Array | None = None  # nearly the leading eigenvectors of X, as rows
        self._rest = 0  # steps for which X ⪯ I need not be looked at
        self._small = 1.0 / float(metric.scale.max()) ** 4

    def stepped(self, Y: Array, X_less_Y: Array) -> Array:
        """Return P after a step towards where X ⪯ I holds; both arguments are packed, in the metric."""
        if not self.P.any() and 2.0 * float(np.linalg.norm(Y + X_less_Y)) ** 2 <= self._small:
            return self.P  # no eigenvalue of X is above 1
        if self._rest > 0:
            self._rest -= 1
            return self.P
        schedule, s = self._schedule, self._metric.scale
        rows, rounds, known = self._leading, schedule.cap_rounds, True
        if rows is None:
            rows = np.random.default_rng(0).standard_normal((self.P.shape[1] + 1, len(s)))
            rounds, known = schedule.first_cap_rounds, False
        top = rows[0] / np.linalg.norm(rows[0])
        step = schedule.cap_step * self._metric.rho / float((s * top) @ (s * top)) ** 2
        new, self._leading, largest = lift_step(s, Y, X_less_Y, self.P, step, rows, rounds)
        self._rest = schedule.cap_rest if largest < schedule.far_below else 0
        # From nothing known, only now is the direction known that the step depends on.
        return np.asarray(new) if known else self.P
