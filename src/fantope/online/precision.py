"""The graphical lasso on a stream: the certified optimum of what is remembered, every so many samples.

Each sample has the loss ℓ_t(Θ) = −log det Θ + z_tᵀΘz_t + λΣ_{i≠j}|Θ_ij|. Unlike the linear loss of sparse PCA it is
strongly convex where Θ is bounded, so that following the leader needs no mirror term to have little regret.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse

from fantope.graphical import graphical_lasso
from fantope.graphical.certificate import Weights
from fantope.online.base import Learner, State
from fantope.online.ftl import Tracker
from fantope.online.regret import RegretTracker
from fantope.online.saved import saved_array
from fantope.solvers import Status
from fantope.typing import Array


class PrecisionLeader(Tracker):
    """Θ_t minimises −log det Θ + ⟨S_{1:t}, Θ⟩ + λΣ_{i≠j}|Θ_ij|.

    The first answer comes when every variable has varied; before, Θ is the identity.

    Parameters
    ----------
    n_features : int
    alpha : float
        λ, above 0.
    tol : float, default 1e-3
        Certified gap of each solve, in nats; :attr:`gap` is the last one's.
    forgetting : float, default 1
        A sample k steps back weighs forgetting^k.
    window : int, optional
        Number of latest samples to learn from.
    every : int, default 100
        Number of samples between two solves; before the first, solves are at 2, 4, 8, …
    """

    name = "graphical-lasso"

    def __init__(
        self,
        n_features: int,
        alpha: float,
        *,
        tol: float = 1e-3,
        forgetting: float = 1.0,
        window: int | None = None,
        every: int = 100,
    ) -> None:
        super().__init__(n_features, 0, alpha, tol=tol, forgetting=forgetting, window=window, every=every)
        self._precision = np.eye(n_features)  # in units of 1/unit²

    def resolve(self) -> None:
        """Solve for S, from the last Θ."""
        if self.S.diagonal().min() <= 1e-100:
            return
        start = self._precision if not math.isnan(self.gap) else None
        found = graphical_lasso(self.S, self.penalty, tol=self.tol, init=start)
        self._precision, self.gap = found.precision.toarray(), found.gap
        self.n_unmet += found.status is not Status.SOLVED

    def _change_unit(self, change: float) -> None:
        super()._change_unit(change)
        self._precision = self._precision / (change * change)

    @property
    def precision(self) -> Array:
        """Θ_t, in units of the samples."""
        return np.asarray(self._precision / self.unit / self.unit)

    def estimate(self) -> Any:
        """Return Θ_t as a sparse array, in units of the samples."""
        return scipy.sparse.csr_array(self.precision)

    def state(self) -> State:
        """Return everything that later results depend on."""
        return {**super().state(), "precision": self._precision}

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        super().restore(state)
        self._precision = saved_array(state, "precision", (self.n_features, self.n_features))


class PrecisionRegret(RegretTracker):
    """Losses of Θ_t on the samples that follow, and of today's Θ on the same samples: the regret in hindsight.

    Parameters
    ----------
    alpha : float
        λ.
    every : int
        Judge every ``every``-th sample.
    """

    def __init__(self, alpha: float, every: int) -> None:
        super().__init__(0, alpha, 0.0, every)

    def _loss(self, learner: Learner, z: Array) -> float:
        Theta = learner.estimate().toarray()  # type: ignore[attr-defined]
        return self._without_sample(Theta) + float(z @ Theta @ z)

    def regret(self, estimate: Any = None) -> float:
        """Return Σ ℓ_t(Θ_t) − Σ ℓ_t(Θ) for a sparse Θ."""
        if self.moments is None:
            return 0.0
        Theta = estimate.toarray()
        return self.loss - self.count * self._without_sample(Theta) - float((self.moments * Theta).sum())

    def _without_sample(self, Theta: Array) -> float:
        """Return −log det Θ + λΣ_{i≠j}|Θ_ij|."""
        return float(-np.linalg.slogdet(Theta)[1]) + Weights(self.alpha).value(Theta)
