"""What an online learner is: samples in, an estimate out at any time, a state that can be saved to the last bit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fantope.online.saved import saved_number
from fantope.problem.projection import Factors
from fantope.typing import Array

State = dict[str, Any]


@dataclass(frozen=True)
class IterateTerms:
    """What the loss needs to know of the current iterate X_t, given the next sample z."""

    explained: float  # zᵀX_t z
    norm: float  # ‖X_t‖₁
    distance: float  # Frobenius distance of X_t from the Fantope


class Learner(Protocol):
    """One online algorithm; its samples have mean zero."""

    name: str
    n_features: int
    n_components: int
    n_samples: int
    block: int  # samples that are learnt all or none when Ctrl-C comes

    @property
    def unit(self) -> float:
        """What samples are divided by before they are learned from."""

    def update_many(self, Z: Array) -> None:
        """Learn from the rows of ``Z``, one after the other."""

    def estimate(self) -> Factors:
        """Return the current estimate as a point of the Fantope."""

    def covariance(self, rows: Any) -> Array:
        """Return the covariance on ``rows``, in units of ``unit``²: of all samples, or of a window of recent ones."""

    def terms(self, z: Array) -> IterateTerms:
        """Return what the loss of the current iterate on the next sample ``z`` is made of."""

    def state(self) -> State:
        """Return everything that later results depend on: arrays, numbers and text."""

    def restore(self, state: State) -> None:
        """Take over a state that :meth:`state` returned."""


@dataclass
class SampleCount:
    """Effective number of samples, n ← min(factor·n + 1, limit): their number where nothing is forgotten."""

    factor: float = 1.0  # 1 to remember everything; a sample k steps back weighs factor^k
    effective: float = 0.0
    limit: float = math.inf  # length of a sliding window

    def advance(self) -> float:
        """Count one sample; return the weight 1/n that it takes in a mean."""
        self.effective = min(self.factor * self.effective + 1.0, self.limit)
        return 1.0 / self.effective


@dataclass
class Unit:
    """The power of ten near the size of the samples, in which a learner measures them: results do not depend on units.

    The tolerance and the mirror term of Online-P and the constant in Online-T's ν are numbers of order one. Data of
    size about one are left as they are. The unit is set by the first sample that is not zero, and anew when the root
    mean square of all samples has left it by more than a factor of ten.
    """

    value: float = 1.0
    size: float = 0.0  # root mean square of the samples' entries, weighted as their mean is

    @classmethod
    def saved(cls, state: State, mean_square: float) -> Unit:
        """Return the unit that a saved state was measured in: 1 before states had one, as ``mean_square`` then is."""
        if "unit" not in state:
            return cls(1.0, math.sqrt(max(mean_square, 0.0)))
        unit = cls(saved_number(state, "unit"), saved_number(state, "size"))
        if not (unit.value > 0.0 and unit.size >= 0.0):
            raise ValueError(f"unit must be above 0 and size 0 or more, got {unit.value:g} and {unit.size:g}")
        return unit

    def see(self, z: Array, weight: float) -> float:
        """Take in a sample with its weight in the mean; return the old unit over the new one, 1 at the first."""
        first, before = self.size == 0.0, self.value
        rest = math.sqrt(max(1.0 - weight, 0.0))
        self.size = math.hypot(rest * self.size, math.sqrt(weight) * root_mean_square(z))
        if self.size > 0.0 and (first or not 0.1 <= self.size / self.value <= 10.0):
            self.value = 10.0 ** max(round(math.log10(self.size)), -300)
        return 1.0 if first else before / self.value

    def of_square(self, value: float) -> float:
        """Return a number that is squared like the penalty, in units of this one; 1e100 stands for more."""
        return min(value / self.value / self.value, 1e100)


def root_mean_square(z: Array) -> float:
    """Return the root mean square of the entries, which may be as large or small as a number can be."""
    with np.errstate(over="ignore", under="ignore"):
        square = float(np.sum(z * z))
        if 1e-250 < square < 1e250:
            return math.sqrt(square / len(z))
        largest = float(np.abs(z).max())
        return largest * float(np.linalg.norm(z / largest)) / math.sqrt(len(z)) if largest > 0.0 else 0.0


class Window:
    """The last few samples, ``size`` of them, for what needs a covariance where the algorithm keeps none."""

    def __init__(self, size: int, n_features: int) -> None:
        self.samples = np.zeros((size, n_features))
        self.count = 0

    def push(self, Z: Array) -> None:
        """Take in the rows of ``Z``."""
        size = len(self.samples)
        # The place of a sample depends on its number alone, whatever blocks the samples come in.
        numbers = np.arange(self.count, self.count + len(Z))[-size:]
        self.samples[numbers % size] = Z[-size:]
        self.count += len(Z)

    def next_row(self) -> Array:
        """Return the sample that the next one takes the place of; zero as long as there is room."""
        return np.array(self.samples[self.count % len(self.samples)])

    def restore(self, row: Array, count: int) -> None:
        """Undo what came after ``count`` samples, at most one, with what :meth:`next_row` gave before it."""
        self.samples[count % len(self.samples)], self.count = row, count

    def recent(self, count: int) -> Array:
        """Return the latest ``count`` samples, or all there are, the oldest first."""
        kept = min(self.count, len(self.samples), count)
        return np.asarray(self.samples[np.arange(self.count - kept, self.count) % len(self.samples)])

    def covariance(self, rows: Any, unit: float = 1.0) -> Array:
        """Return the second moments of the kept samples on ``rows``, in units of ``unit``²."""
        kept = self.samples[: min(self.count, len(self.samples))][:, rows] / unit
        return np.asarray(kept.T @ kept / max(len(kept), 1))


def check_forgetting(value: float) -> float:
    """Return a forgetting factor in (0, 1]."""
    number = float(value)
    if not (math.isfinite(number) and 0.0 < number <= 1.0):
        raise ValueError(
            f"forgetting must be above 0 and at most 1 (1 forgets nothing, 0.99 remembers ~100 samples), got {value}."
        )
    return number
