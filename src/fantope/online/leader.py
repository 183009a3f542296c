"""What the methods share that keep S_{1:t} and a factored X_t: follow the leader, and Online-P."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fantope.online.base import IterateTerms, SampleCount, State, Unit, check_forgetting
from fantope.online.saved import saved_array, saved_count, saved_number
from fantope.online.whole import undone_on_error
from fantope.problem.projection import Factors, compress
from fantope.typing import Array


class Leader:
    """X_t maximises a function of S_{1:t} over the Fantope and is held by its eigenpairs.

    Samples, S and the penalty, λ = alpha, are measured in a unit near the size of the data. A sample k steps back has
    the weight forgetting^k; or S is of the latest ``window`` samples, and :meth:`slide` is told which ones leave.
    """

    block = 1  # a step may take seconds

    def __init__(
        self, n_features: int, n_components: int, alpha: float, forgetting: float, window: int | None = None
    ) -> None:
        p = n_features
        self.n_features, self.n_components, self.alpha = p, n_components, float(alpha)
        self.n_samples = 0
        self.n_unmet = 0
        self.count = SampleCount(check_forgetting(forgetting), limit=math.inf if window is None else window)
        self._unit = Unit()
        self.S = np.zeros((p, p))  # in units of unit²
        self._vectors, self._weights = np.zeros((0, p)), np.zeros(0)

    @property
    def unit(self) -> float:
        """What samples are divided by."""
        return self._unit.value

    @property
    def penalty(self) -> float:
        """λ, in units of unit²."""
        return self._unit.of_square(self.alpha)

    def update_many(self, Z: Array) -> None:
        """Learn from the rows of ``Z``, one after the other."""
        for z in Z:
            self.slide(z)

    def slide(self, z: Array, leaving: Array | None = None, anew: Array | None = None) -> None:
        """Learn from one sample, and unlearn the one that leaves the window.

        ``anew`` are all samples of the window, to compute S from: what was added and subtracted leaves its rounding.
        """
        with undone_on_error(self):
            self._learn(self._see(z, leaving, anew))

    def _learn(self, z: Array) -> None:
        """Move X_t after the sample z, given in the unit, is in S."""
        raise NotImplementedError

    def resolve(self) -> None:
        """Bring X_t up to S, which was changed by other means than a sample."""
        raise NotImplementedError

    def _see(self, z: Array, leaving: Array | None, anew: Array | None) -> Array:
        """Take a sample into S_{1:t}; return it in the unit."""
        self.n_samples += 1
        weight = self.count.advance()
        change = self._unit.see(z, weight)
        if change != 1.0:
            self._change_unit(change)
        z = self._measured(z)
        if anew is not None:
            anew = self._measured(anew)
            self.S = anew.T @ anew / len(anew)
        elif leaving is not None:
            leaving = self._measured(leaving)
            self.S += (np.outer(z, z) - np.outer(leaving, leaving)) * weight
        else:
            self.S += (np.outer(z, z) - self.S) * weight
        return z

    def _measured(self, Z: Array) -> Array:
        """Return samples in the unit."""
        return Z / self.unit

    def _change_unit(self, change: float) -> None:
        """Express what is kept in the new unit; ``change`` is the old one over it."""
        self.S *= change * change

    def iterate(self) -> Array:
        """Return X_t as a dense array."""
        X = (self._vectors.T * self._weights) @ self._vectors
        return np.asarray(0.5 * (X + X.T))

    def estimate(self) -> Factors:
        """Return X_t by its eigenpairs."""
        d = self.n_components
        if not len(self._weights):
            return Factors(np.arange(d), np.eye(d), np.ones(d))
        return compress(Factors(np.arange(self.n_features), self._vectors.copy(), self._weights.copy()))

    def covariance(self, rows: Any) -> Array:
        """Return S_{1:t} on ``rows``, in units of unit²."""
        return np.asarray(self.S[np.ix_(rows, rows)])

    def terms(self, z: Array) -> IterateTerms:
        """Return zᵀX_t z and ‖X_t‖₁; X_t is in the Fantope by construction."""
        X = self.iterate()
        return IterateTerms(float(z @ X @ z), float(np.abs(X).sum()), 0.0)

    def state(self) -> State:
        """Return everything that later results depend on."""
        return {
            "n_samples": self.n_samples,
            "effective": self.count.effective,
            "n_unmet": self.n_unmet,
            "unit": self._unit.value,
            "size": self._unit.size,
            "S": self.S,
            "vectors": self._vectors,
            "weights": self._weights,
        }

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        p = self.n_features
        self.n_samples, self.n_unmet = saved_count(state, "n_samples"), saved_count(state, "n_unmet")
        self.count.effective = saved_number(state, "effective")
        self.S = saved_array(state, "S", (p, p))
        self._unit = Unit.saved(state, float(self.S.trace()) / p)
        self._vectors = saved_array(state, "vectors", (None, p))
        self._weights = saved_array(state, "weights", self._vectors.shape[:1])
