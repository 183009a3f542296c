"""A stream: centring, a learner, the regret, and one exact state for all of them."""

from __future__ import annotations

import math
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from fantope.online.base import Learner, SampleCount, State
from fantope.online.regret import RegretTracker
from fantope.online.saved import saved_array, saved_number
from fantope.online.whole import held_interrupts
from fantope.problem.projection import Factors
from fantope.typing import Array


@dataclass
class Stream:
    """Feed raw samples to a learner that expects mean zero.

    With ``center`` the mean is estimated as the samples come: z_t = √(ω n_{t−1}/n_t)·(x_t − m_{t−1}) with
    n_t = ω n_{t−1} + 1, ω the forgetting factor. The root makes Σ ω^{t−s} z_s z_sᵀ the scatter around m_t exactly
    (Welford's identity), so the covariance that the learner sees is the usual one. The first sample becomes z₁ = 0.

    Parameters
    ----------
    learner : Learner
    center : bool
    forgetting : float
        The learner's own factor.
    tracker : RegretTracker, optional
    """

    learner: Learner
    center: bool = True
    forgetting: float = 1.0
    tracker: RegretTracker | None = None
    mean: Array = field(init=False)
    count: SampleCount = field(init=False)

    def __post_init__(self) -> None:
        self.mean = np.zeros(self.learner.n_features)
        self.count = SampleCount(self.forgetting)

    @property
    def n_samples(self) -> int:
        """Number of samples seen."""
        return self.learner.n_samples

    def update_many(self, X: Array) -> None:
        """Take in the rows of ``X``; the result is, bit for bit, that of taking them in one at a time.

        Ctrl-C leaves the state between two samples; :attr:`n_samples` says which.
        """
        block = self.learner.block
        for first in range(0, len(X), block):
            seen, mean, effective = self.n_samples, self.mean, self.count.effective
            tracked = vars(copy(self.tracker)) if self.tracker is not None else {}
            try:
                with held_interrupts() if block > 1 else nullcontext():
                    self._take(X[first : first + block])
            except BaseException:
                if self.n_samples == seen:  # the learner has undone its part
                    self.mean, self.count.effective = mean, effective
                    if self.tracker is not None:
                        vars(self.tracker).update(tracked)
                raise

    def _take(self, X: Array) -> None:
        Z = np.empty(X.shape)
        start = 0
        for k, x in enumerate(X):
            Z[k] = self._centred(x)
            if self.tracker is not None and self.tracker.due(self.learner.n_samples + k - start):
                # The iterate to judge is the one before this sample: bring the learner up to it first.
                self.learner.update_many(Z[start:k])
                start = k
                self.tracker.observe(self.learner, Z[k])
        self.learner.update_many(Z[start:])

    def _centred(self, x: Array) -> Array:
        before = self.forgetting * self.count.effective
        weight = self.count.advance()
        z = x
        if self.center:
            z = math.sqrt(before * weight) * (x - self.mean)
            self.mean = self.mean + weight * (x - self.mean)
        return z

    def average_regret(self, estimate: Factors | None = None) -> float:
        """Return the average regret so far; NaN where it is not tracked."""
        if self.tracker is None or self.tracker.count == 0:
            return float("nan")
        return self.tracker.average_regret(self.learner.estimate() if estimate is None else estimate)

    def state(self) -> State:
        """Return everything that later results depend on."""
        state: State = {
            "learner": self.learner.state(),
            "mean": self.mean,
            "effective": self.count.effective,
        }
        if self.tracker is not None:
            state["tracker"] = self.tracker.state()
        return state

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        self.learner.restore(state["learner"])
        self.mean = saved_array(state, "mean", self.mean.shape)
        self.count.effective = saved_number(state, "effective")
        if self.tracker is not None:
            self.tracker.restore(state["tracker"], self.learner.n_features)
