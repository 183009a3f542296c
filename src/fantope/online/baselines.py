"""Classical online PCA without sparsity: Oja, incremental PCA, candid covariance-free incremental PCA (CCIPCA).

All keep d vectors and nothing p × p. They are here to be compared with.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from fantope.interrupts import held_interrupts
from fantope.online.base import IterateTerms, State, Window
from fantope.online.saved import saved_array, saved_count, saved_number
from fantope.problem.projection import Factors
from fantope.typing import Array

WINDOW = 256


class _Subspace:
    """What the three share: d orthonormal rows V, and X = VᵀV as the iterate."""

    name = ""
    unit = 1.0

    def __init__(self, n_features: int, n_components: int) -> None:
        self.n_features, self.n_components = n_features, n_components
        self.n_samples = 0
        self.block = 100
        # A fixed random start: any will do, and a run can be repeated.
        random = np.random.default_rng(0).standard_normal((n_features, n_components))
        self.V: Array = np.ascontiguousarray(np.linalg.qr(random)[0].T)
        self.values = np.zeros(n_components)
        self.window = Window(WINDOW, n_features)

    def update_many(self, Z: Array) -> None:
        """Learn from the rows of ``Z``, one after the other."""
        for first in range(0, len(Z), self.block):
            with held_interrupts():
                for z in Z[first : first + self.block]:
                    self.n_samples += 1
                    self._step(z)
                self.window.push(Z[first : first + self.block])

    def _step(self, z: Array) -> None:
        raise NotImplementedError

    def estimate(self) -> Factors:
        """Return the projection on the span of the components."""
        return Factors(np.arange(self.n_features), self.V.copy(), np.ones(self.n_components))

    def covariance(self, rows: Any) -> Array:
        """Return the second moments of the last 256 samples on ``rows``."""
        return self.window.covariance(rows)

    def terms(self, z: Array) -> IterateTerms:
        """Return zᵀXz and ‖X‖₁ of the projection X."""
        score = self.V @ z
        return IterateTerms(float(score @ score), float(np.abs(self.V.T @ self.V).sum()), 0.0)

    def state(self) -> State:
        """Return everything that later results depend on."""
        return {"n_samples": self.n_samples, "V": self.V, "values": self.values, "window": self.window.samples}

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        self.n_samples = self.window.count = saved_count(state, "n_samples")
        self.V, self.values = (saved_array(state, name, getattr(self, name).shape) for name in ("V", "values"))
        self.window.samples = saved_array(state, "window", self.window.samples.shape)


class Oja(_Subspace):
    """Oja's rule, V ← orth(V + (c/√t)(Vz)zᵀ).

    Parameters
    ----------
    n_features, n_components : int
    step_size : float, optional
        c. By default 1/(mean ‖z‖²), so that the first steps turn V by an angle of order one.
    """

    name = "oja"

    def __init__(self, n_features: int, n_components: int, *, step_size: float | None = None) -> None:
        super().__init__(n_features, n_components)
        self.step_size = step_size
        self.second = 0.0

    def _step(self, z: Array) -> None:
        self.second += (float(z @ z) - self.second) / self.n_samples
        if self.second == 0.0:
            return
        rate = (1.0 / self.second if self.step_size is None else self.step_size) / math.sqrt(self.n_samples)
        self.V = np.ascontiguousarray(np.linalg.qr((self.V + rate * np.outer(self.V @ z, z)).T)[0].T)

    def state(self) -> State:
        """Return everything that later results depend on."""
        return {**super().state(), "second": self.second}

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        super().restore(state)
        self.second = saved_number(state, "second")


class IncrementalPCA(_Subspace):
    """Rank-d approximation of the running covariance, updated by a (d + 1) × (d + 1) eigenproblem per sample."""

    name = "ipca"

    def _step(self, z: Array) -> None:
        t = self.n_samples
        score = self.V @ z
        rest = z - self.V.T @ score
        norm = float(np.linalg.norm(rest))
        known = np.concatenate([score, [norm]])
        # S_t ≈ ((t − 1)/t) V diag(values) Vᵀ + zzᵀ/t in the basis (V, rest/‖rest‖).
        Q = np.outer(known, known) / t
        Q.flat[: -1 : len(Q) + 1] += (t - 1) / t * self.values
        values, rotation = np.linalg.eigh(Q)
        basis = np.vstack([self.V, rest / norm if norm > 0.0 else np.zeros_like(rest)])
        d = self.n_components
        self.values = np.maximum(values[::-1][:d], 0.0)
        V = rotation.T[::-1][:d] @ basis
        # Rounding and a vanishing rest would slowly undo orthonormality.
        Q_, R = np.linalg.qr(V.T)
        self.V = np.ascontiguousarray((Q_ * np.where(np.diag(R) < 0.0, -1.0, 1.0)).T)


class CandidPCA(_Subspace):
    """CCIPCA: each component is a running mean of (zᵀv/‖v‖)z, z deflated by the components before it."""

    name = "ccipca"

    def __init__(self, n_features: int, n_components: int) -> None:
        super().__init__(n_features, n_components)
        self.raw = np.zeros((n_components, n_features))

    def _step(self, z: Array) -> None:
        t = self.n_samples
        rest = z.copy()
        for k in range(self.n_components):
            norm = float(np.linalg.norm(self.raw[k]))
            if norm == 0.0:
                if rest.any():
                    self.raw[k] = rest
                break  # one new component per sample, as in the original algorithm
            direction = self.raw[k] / norm
            self.raw[k] += (float(rest @ direction) * rest - self.raw[k]) / t
            norm = float(np.linalg.norm(self.raw[k]))
            if norm > 0.0:
                direction = self.raw[k] / norm
                rest = rest - float(rest @ direction) * direction
        self.values = np.linalg.norm(self.raw, axis=1)
        Q, R = np.linalg.qr(np.vstack([self.raw, self.V]).T)
        used = np.flatnonzero(np.abs(np.diag(R)[: self.n_components]) > 0.0)
        if len(used) == self.n_components:
            self.V = np.ascontiguousarray(Q[:, : self.n_components].T)

    def state(self) -> State:
        """Return everything that later results depend on."""
        return {**super().state(), "raw": self.raw}

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        super().restore(state)
        self.raw = saved_array(state, "raw", self.raw.shape)
