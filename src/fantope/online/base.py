"""What an online learner is: samples in, an estimate out at any time, a state that can be saved to the last bit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fantope.problem.projection import Factors
from fantope.typing import Array

State = dict[str, Any]


@dataclass(frozen=True)
class IterateTerms:
    """What the loss needs to know of the current iterate X_t, given the next sample z.

    Attributes
    ----------
    explained : float
        zᵀX_t z.
    norm : float
        ‖X_t‖₁.
    distance : float
        Frobenius distance of X_t from the Fantope.
    """

    explained: float
    norm: float
    distance: float


class Learner(Protocol):
    """One online algorithm; its samples have mean zero."""

    name: str
    n_features: int
    n_components: int
    n_samples: int

    def update_many(self, Z: Array) -> None:
        """Learn from the rows of ``Z``, one after the other."""
        ...

    def estimate(self) -> Factors:
        """Return the current estimate as a point of the Fantope."""
        ...

    def covariance(self, rows: Any) -> Array:
        """Return the learner's covariance estimate on ``rows``: of all samples, or of a window of recent ones."""
        ...

    def terms(self, z: Array) -> IterateTerms:
        """Return what the loss of the current iterate on the next sample ``z`` is made of."""
        ...

    def state(self) -> State:
        """Return everything that later results depend on: arrays, numbers and text."""
        ...

    def restore(self, state: State) -> None:
        """Take over a state that :meth:`state` returned."""
        ...


@dataclass
class SampleCount:
    """Effective number of samples under forgetting, n ← factor·n + 1; without forgetting, their number.

    Attributes
    ----------
    factor : float
        1 to remember everything; a sample k steps back weighs factor^k.
    effective : float
    """

    factor: float = 1.0
    effective: float = 0.0

    def advance(self) -> float:
        """Count one sample; return the weight 1/n that it takes in a mean."""
        self.effective = self.factor * self.effective + 1.0
        return 1.0 / self.effective


class Window:
    """The last few samples, for what needs a covariance where the algorithm keeps none.

    Parameters
    ----------
    size : int
        Number of samples kept.
    n_features : int
    """

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

    def covariance(self, rows: Any) -> Array:
        """Return the second moments of the kept samples on ``rows``."""
        kept = self.samples[: min(self.count, len(self.samples))][:, rows]
        return np.asarray(kept.T @ kept / max(len(kept), 1))


def check_forgetting(value: float) -> float:
    """Return a forgetting factor in (0, 1]."""
    number = float(value)
    if not (math.isfinite(number) and 0.0 < number <= 1.0):
        raise ValueError(
            f"forgetting must be above 0 and at most 1 (1 forgets nothing, 0.99 remembers ~100 samples), got {value}."
        )
    return number
