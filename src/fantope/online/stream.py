"""A stream: centring, a learner, the regret, and one exact state for all of them."""

from __future__ import annotations

import math
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fantope.interrupts import held_interrupts
from fantope.online.base import Learner, SampleCount, State, Window
from fantope.online.leader import Leader
from fantope.online.merging import merge_learners
from fantope.online.regret import RegretTracker
from fantope.online.saved import saved_array, saved_number
from fantope.online.watch import Watch
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
    window : int, optional
        Mean and covariance of exactly this many of the latest samples: for learners that can unlearn one.
    watch : Watch, optional
        Compares what was learnt with the certified optimum of the latest samples.
    """

    learner: Learner
    center: bool = True
    forgetting: float = 1.0
    tracker: RegretTracker | None = None
    window: int | None = None
    watch: Watch | None = None
    mean: Array = field(init=False)
    count: SampleCount = field(init=False)
    recent: Window | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.mean = np.zeros(self.learner.n_features)
        self.count = SampleCount(self.forgetting, limit=math.inf if self.window is None else self.window)
        if self.window is not None:
            if not isinstance(self.learner, Leader):
                raise ValueError(
                    f"window must be None for {self.learner.name!r}, which cannot unlearn a sample; use forgetting."
                )
            self.recent = Window(self.window, self.learner.n_features)

    @property
    def n_samples(self) -> int:
        """Number of samples seen."""
        return self.learner.n_samples

    def update_many(self, X: Array) -> None:
        """Take in the rows of ``X``; the result is, bit for bit, that of taking them in one at a time.

        Ctrl-C leaves the state between two samples; :attr:`n_samples` says which.
        """
        while self.watch is not None and len(X):
            self.watch.settle(self.learner)
            n, before = self.watch.until_due(), self.n_samples
            try:
                self._update(X[:n])
            finally:
                self.watch.see(X[: self.n_samples - before], self.learner)
            X = X[n:]
        self._update(X)

    def _update(self, X: Array) -> None:
        block = self.learner.block
        for first in range(0, len(X), block):
            seen, mean, effective = self.n_samples, self.mean, self.count.effective
            kept = self.recent.next_row() if self.recent is not None else np.zeros(0)
            tracked = vars(copy(self.tracker)) if self.tracker is not None else {}
            try:
                with held_interrupts() if block > 1 else nullcontext():
                    if self.recent is None:
                        self._take(X[first : first + block])
                    else:
                        self._slide(X[first], self.recent)
            except BaseException:
                if self.n_samples == seen:  # the learner has undone its part
                    self.mean, self.count.effective = mean, effective
                    if self.recent is not None:
                        self.recent.restore(kept, seen)
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

    def _slide(self, x: Array, recent: Window) -> None:
        """Take in one sample and let the oldest go: mean and covariance are those of the window."""
        assert isinstance(self.learner, Leader)
        n, size, oldest = self.count.effective, len(recent.samples), recent.next_row()
        recent.push(x[None])
        self.count.advance()
        mean, z, leaving, anew = self.mean, x, oldest if n == size else None, None
        if self.center:
            z, mean = math.sqrt(n / (n + 1.0)) * (x - mean), mean + (x - mean) / (n + 1.0)
            if leaving is not None:
                leaving, mean = math.sqrt((n + 1.0) / n) * (oldest - mean), mean - (oldest - mean) / n
        if recent.count % size == 0:
            mean = recent.samples.mean(axis=0) if self.center else mean
            anew = recent.samples - mean
        if self.tracker is not None and self.tracker.due(self.n_samples):
            self.tracker.observe(self.learner, z)
        self.mean = mean
        self.learner.slide(z, leaving, anew)

    def merge(self, other: Stream) -> None:
        """Take in what another stream, made with the same parameters, has learnt from other samples.

        See :mod:`fantope.online.merging` for what is kept. Both must have seen a sample.
        """
        if self.window is not None:
            raise ValueError(
                "window must be None in streams to be merged: which samples are the latest of both is not known; use "
                "forgetting."
            )
        if self.watch is not None:
            raise ValueError("watch must be None in streams to be merged: which samples are the latest is not known.")
        apart, share = other.mean - self.mean, other.count.effective / (self.count.effective + other.count.effective)
        merge_learners(self.learner, other.learner, apart)
        self.mean = self.mean + share * apart
        self.count.effective += other.count.effective
        if self.tracker is not None and other.tracker is not None:
            self.tracker.merge(other.tracker)

    def average_regret(self, estimate: Any = None) -> float:
        """Return the average regret so far; NaN where it is not tracked."""
        if self.tracker is None or self.tracker.count == 0:
            return float("nan")
        return self.tracker.average_regret(self.learner.estimate() if estimate is None else estimate)

    def state(self) -> State:
        """Return everything that later results depend on."""
        state: State = {"learner": self.learner.state(), "mean": self.mean, "effective": self.count.effective}
        if self.recent is not None:
            state["window"] = self.recent.samples
        if self.watch is not None:
            state["watch"] = self.watch.state()
        if self.tracker is not None:
            state["tracker"] = self.tracker.state()
        return state

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        self.learner.restore(state["learner"])
        self.mean = saved_array(state, "mean", self.mean.shape)
        self.count.effective = saved_number(state, "effective")
        if self.recent is not None:
            self.recent.samples = saved_array(state, "window", self.recent.samples.shape)
            self.recent.count = self.n_samples
        if self.watch is not None:
            self.watch.restore(state["watch"])
        if self.tracker is not None:
            self.tracker.restore(state["tracker"], self.learner.n_features)
