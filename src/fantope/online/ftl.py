"""Follow the leader: the batch problem on everything seen so far, again after each sample."""

from __future__ import annotations

from typing import Any

import numpy as np

from fantope.online.base import IterateTerms, SampleCount, State, check_forgetting
from fantope.problem.projection import Factors, compress
from fantope.solvers import Status, solve
from fantope.typing import Array


class FollowTheLeader:
    """X_t maximises ⟨S_{1:t}, X⟩ − λ‖X‖₁ over the Fantope.

    The natural method, and the one to compare with: it trusts the first samples too much, and its regret suffers.

    Parameters
    ----------
    n_features, n_components : int
    alpha : float
        λ.
    tol : float, default 1e-3
        Relative duality gap of each solve; :attr:`gap` is the last one's.
    forgetting : float, default 1
        A sample k steps back weighs forgetting^k.
    every : int, default 1
        Solve after every so many samples.
    """

    name = "ftl"

    def __init__(
        self,
        n_features: int,
        n_components: int,
        alpha: float,
        *,
        tol: float = 1e-3,
        forgetting: float = 1.0,
        every: int = 1,
    ) -> None:
        p = n_features
        self.n_features, self.n_components, self.alpha = p, n_components, float(alpha)
        self.tol, self.every = tol, every
        self.n_samples = 0
        self.count = SampleCount(check_forgetting(forgetting))
        self.S = np.zeros((p, p))
        self.gap = float("nan")
        self.n_unmet = 0
        self._vectors, self._weights = np.zeros((0, p)), np.zeros(0)

    def update_many(self, Z: Array) -> None:
        """Learn from the rows of ``Z``, one after the other."""
        for z in Z:
            self.n_samples += 1
            self.S += (np.outer(z, z) - self.S) * self.count.advance()
            if self.n_samples % self.every == 0 or self.n_samples == 1:
                self._solve()

    def _solve(self) -> None:
        if not self.S.any():
            return
        # The start is the last X alone: what it is must not depend on whether the run was interrupted and resumed.
        init = self.iterate() if len(self._weights) else None
        found = solve(self.S, self.n_components, self.alpha, tol=self.tol, init=init)
        if found.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self._weights = found.factors.weights.copy()
        self._vectors = np.zeros((len(self._weights), self.n_features))
        self._vectors[:, found.factors.rows] = found.factors.vectors
        self.gap = found.gap
        self.n_unmet += found.status is not Status.SOLVED

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
        """Return S_{1:t} on ``rows``."""
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
            "gap": self.gap,
            "S": self.S,
            "vectors": self._vectors,
            "weights": self._weights,
        }

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        self.n_samples, self.n_unmet = int(state["n_samples"]), int(state["n_unmet"])
        self.count.effective, self.gap = float(state["effective"]), float(state["gap"])
        self.S = np.array(state["S"])
        self._vectors, self._weights = np.array(state["vectors"]), np.array(state["weights"])
