"""An alarm with a proof: what was learnt so far against the certified optimum of the latest samples.

Let f(X) = ⟨S, X⟩ − λ‖X‖₁ with S the covariance of the latest window, X̂ what the learner has learnt and f* the optimum
over the Fantope. The batch solver brackets f* by a feasible point and a dual bound, both safe against rounding, so that

    1 − f(X̂)/objective  ≤  share of what can be explained that X̂ misses  ≤  1 − f(X̂)/dual bound.

The left side is the proof. It is true of the window, noise included: the optimum of few samples fits their noise, and
whatever was learnt from others misses that. So an alarm asks for one thing more: the optimum of the window's older
half, which is as feasible as any, beats X̂ by the threshold on the newer half too, which it has not seen. On data that
do not change X̂, learnt from far more samples, is the better one there.
"""

from __future__ import annotations

import numbers
from collections import deque
from collections.abc import Callable
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np

from fantope.checks import check_whole
from fantope.errors import require
from fantope.online.base import Learner, State, Window
from fantope.online.saved import saved_array, saved_count
from fantope.operators import Covariance, DenseCovariance, covariance
from fantope.problem.projection import Factors
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array

RECORDS = 1000  # how many of the latest checks are kept: storage must not grow with t
TOL = 1e-2  # of the solves: the bracket is as wide, far less than any threshold worth an alarm
DENSE_UP_TO = 2000  # variables; for more the window's covariance stays a rule over its samples


@dataclass(frozen=True)
class Check:
    """What one look at the latest samples has shown.

    Attributes
    ----------
    sample : int
        Number of samples seen.
    at_least, at_most : float
        Share of what can be explained in the window that is missed, between 0 and 1: certified bounds.
    held_out : float
        Share that is missed on the newer half, against the optimum of the older half; negative where what was learnt
        explains more.
    alarm : bool
        Whether ``at_least`` and ``held_out`` are both above the threshold.
    """

    sample: int
    at_least: float
    at_most: float
    held_out: float
    alarm: bool

    def __str__(self) -> str:
        return f"at least {100.0 * self.at_least:.1f} % of what can be explained in the latest samples is missed"


class Watch:
    """Compare a learner with the certified optimum of the latest samples, every so many of them.

    Parameters
    ----------
    n_features : int
    alpha : float
        λ.
    threshold : float
        Share of what can be explained, in (0, 1), above which a miss is an alarm.
    window : int
        Number of latest samples, 4 or more.
    every : int, optional
        Number of samples between two checks; a quarter of the window by default. The first is made when the window is
        full twice: before, most of what was learnt came from it.
    center : bool, default True
        Whether covariances are about the mean of the samples they are of.
    callback : function of a Check, optional
        Called at every check; it may look at ``check.alarm``. Not saved with the state.
    """

    def __init__(
        self,
        n_features: int,
        alpha: float,
        threshold: float,
        window: int,
        every: int | None = None,
        *,
        center: bool = True,
        callback: Callable[[Check], object] | None = None,
    ) -> None:
        check_watch(threshold, window, every, callback)
        self.alpha, self.threshold, self.size = float(alpha), float(threshold), window
        self.every = window // 4 if every is None else every
        self.center, self.callback = center, callback
        self.window = Window(window, n_features)
        self.checks: deque[Check] = deque(maxlen=RECORDS)
        self.n_alarms = 0

    @property
    def parameters(self) -> dict[str, float | int]:
        """What it was made with, as plain values."""
        return {"threshold": self.threshold, "window": self.size, "every": self.every}

    def until_due(self) -> int:
        """Return after how many samples the next check is due."""
        count = self.window.count
        first = 2 * self.size
        return first - count if count < first else self.every - (count - first) % self.every

    def see(self, X: Array, learner: Learner) -> None:
        """Take in samples that were learnt, at most as many as are due; check if a check is due then."""
        self.window.push(X)
        if len(X):
            self.settle(learner)

    def settle(self, learner: Learner) -> None:
        """Check if that is due and was not done yet, as after Ctrl-C; ``learner`` has learnt no further."""
        due = self.window.count >= 2 * self.size and self.until_due() == self.every
        if due and not (self.checks and self.checks[-1].sample == learner.n_samples):
            check = self.check(learner)
            self.checks.append(check)
            self.n_alarms += check.alarm
            if self.callback is not None:
                self.callback(check)

    def check(self, learner: Learner) -> Check:
        """Return what the samples in the window show about what was learnt."""
        # In the learner's unit, a power of ten: numbers stay far from the ends of double precision.
        rows, alpha = self.window.recent(self.size) / learner.unit, self.alpha / learner.unit**2
        d, learnt = learner.n_components, learner.estimate()
        candidates = (learnt, Factors(learnt.rows, learnt.vectors[:d], np.ones(len(learnt.vectors[:d]))))
        mean = rows.mean(axis=0) if self.center else np.zeros(rows.shape[1])
        best = solve_to_the_end(self._covariance(rows), d, alpha, tol=TOL)
        reached = max(_value(rows - mean, X, alpha) for X in candidates)
        older, newer = rows[: self.size // 2], rows[self.size // 2 :]
        guess = solve_to_the_end(self._covariance(older), d, alpha, tol=TOL).factors
        newer = newer - newer.mean(axis=0) if self.center else newer
        held_out = _missed(max(_value(newer, X, alpha) for X in candidates), _value(newer, guess, alpha))
        at_least = max(_missed(reached, best.objective), 0.0)
        alarm = min(at_least, held_out) > self.threshold
        return Check(learner.n_samples, at_least, max(_missed(reached, best.dual_bound), 0.0), held_out, alarm)

    def _covariance(self, rows: Array) -> Covariance:
        if rows.shape[1] > DENSE_UP_TO:
            return covariance(rows, center=self.center)
        rows = rows - rows.mean(axis=0) if self.center else rows
        return DenseCovariance(rows.T @ rows / len(rows))

    def state(self) -> State:
        """Return everything that later results depend on, and the checks so far."""
        checks = np.array([astuple(check) for check in self.checks], dtype=np.float64).reshape(-1, 5)
        return {"count": self.window.count, "samples": self.window.samples, "checks": checks, "n_alarms": self.n_alarms}

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        self.window.samples = saved_array(state, "samples", self.window.samples.shape)
        self.window.count, self.n_alarms = saved_count(state, "count"), saved_count(state, "n_alarms")
        checks = saved_array(state, "checks", (None, 5))
        self.checks = deque((Check(int(n), a, b, h, bool(raised)) for n, a, b, h, raised in checks.tolist()), RECORDS)


def check_watch(threshold: Any, window: Any, every: Any, callback: Any) -> None:
    """Raise InputError unless a Watch can be made with these."""
    share = isinstance(threshold, numbers.Real) and 0.0 < float(threshold) < 1.0
    require(share, "threshold", "be a share above 0 and below 1", repr(threshold))
    check_whole("window", window, 4, expected="a whole number, 4 samples or more")
    if every is not None:
        check_whole("every", every, 1, expected="a whole number, 1 sample or more")
    require(callback is None or callable(callback), "callback", "be a function of a Check", repr(callback))


def _value(rows: Array, X: Factors, alpha: float) -> float:
    """Return ⟨S, X⟩ − λ‖X‖₁ for the second moments S of the rows."""
    scores = rows[:, X.rows] @ X.vectors.T
    block = (X.vectors.T * X.weights) @ X.vectors
    return float((scores**2).sum(axis=0) @ X.weights) / len(rows) - alpha * float(np.abs(block).sum())


def _missed(reached: float, best: float) -> float:
    """Return 1 − reached/best, between −1 and 1; 0 where nothing is worth its penalty.

    What is reached is taken 1e-12 of its size larger, far more than its rounding: the share is then a lower bound.
    """
    if best <= 0.0:
        return 0.0
    return min(max(1.0 - (reached + 1e-12 * abs(reached)) / best, -1.0), 1.0)
