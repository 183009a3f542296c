"""The loss and the regret of the paper (equations loss_function_definition and regret_definition).

After each update, X_t is judged on the sample that comes next,

    ℓ_t(X) = −z_{t+1}ᵀ X z_{t+1} + λ‖X‖₁ + ν·d(X, Fantope),

and the regret is Σ ℓ_t(X_t) − Σ ℓ_t(Π) against a fixed projection Π: the true one where it is known, else the
learner's own current estimate (regret in hindsight).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
import scipy.sparse

from fantope.online.base import Learner, State
from fantope.online.saved import saved_array, saved_count, saved_number
from fantope.problem.projection import Factors
from fantope.problem.simplex import capped_simplex
from fantope.typing import Array


def fantope_distance(X: Array, n_components: int) -> float:
    """Return the Frobenius distance of a symmetric X from the Fantope, exactly.

    The nearest point has the same eigenvectors, its eigenvalues being the projection on {0 ≤ u ≤ 1, Σu = d}.

    Examples
    --------
    >>> fantope_distance(np.diag([2.0, 0.0, 0.0]), 1)
    1.0
    """
    values: Array = np.asarray(scipy.linalg.eigvalsh(X, check_finite=False), dtype=np.float64)
    return float(np.linalg.norm(values - capped_simplex(values, n_components)))


@dataclass
class RegretTracker:
    """Losses of a learner's iterates on the samples that follow them.

    Parameters
    ----------
    n_components : int
    alpha : float
        λ.
    nu : float
        ν, the price of leaving the Fantope.
    every : int
        Judge every ``every``-th sample (1: all, the paper's definition; 0: none, at no cost). The average regret is
        then an average over the judged ones.
    reference : (p, p) array, optional
        Π. Without it the second moments of the judged samples are kept (p × p), and the regret is in hindsight.
    """

    n_components: int
    alpha: float
    nu: float
    every: int = 1
    reference: Array | None = None
    count: int = 0
    loss: float = 0.0
    explained_by_reference: float = 0.0
    moments: Array | None = field(default=None, repr=False)

    def due(self, n_samples: int) -> bool:
        """Whether the sample after ``n_samples`` others is one to judge."""
        return self.every > 0 and n_samples > 0 and n_samples % self.every == 0

    def observe(self, learner: Learner, z: Array) -> float:
        """Judge the learner's iterate on the next sample, before it is learned; return the loss."""
        loss = self._loss(learner, z)
        self.count += 1
        self.loss += loss
        if self.reference is not None:
            self.explained_by_reference += float(z @ self.reference @ z)
        else:
            self.moments = np.outer(z, z) + (0.0 if self.moments is None else self.moments)
        return loss

    def _loss(self, learner: Learner, z: Array) -> float:
        terms = learner.terms(z)
        return -terms.explained + self.alpha * terms.norm + self.nu * terms.distance

    def regret(self, estimate: Factors | None = None) -> float:
        """Return Σ ℓ_t(X_t) − Σ ℓ_t(Π), with ``estimate`` for Π where no reference was given."""
        if self.count == 0:
            return 0.0
        if self.reference is not None:
            norm = float(np.abs(self.reference).sum())
            explained = self.explained_by_reference
        else:
            if estimate is None or self.moments is None:
                raise ValueError("estimate must be given where the tracker has no reference; pass learner.estimate().")
            X = estimate.matrix(len(self.moments))
            norm = float(abs(X).sum())
            coo = scipy.sparse.coo_array(X)
            explained = float(self.moments[coo.coords[0], coo.coords[1]] @ coo.data)
        return self.loss + explained - self.count * self.alpha * norm

    def average_regret(self, estimate: Factors | None = None) -> float:
        """Return the regret divided by the number of judged samples; NaN before the first."""
        return self.regret(estimate) / self.count if self.count else float("nan")

    def merge(self, other: RegretTracker) -> None:
        """Add the losses of another run: the regret against one Π is then the sum of both."""
        self.count += other.count
        self.loss += other.loss
        self.explained_by_reference += other.explained_by_reference
        if self.moments is None or other.moments is None:
            self.moments = other.moments if self.moments is None else self.moments
        else:
            self.moments = self.moments + other.moments

    def state(self) -> State:
        """Return the sums."""
        state: State = {"count": self.count, "loss": self.loss, "explained_by_reference": self.explained_by_reference}
        if self.moments is not None:
            state["moments"] = self.moments
        return state

    def restore(self, state: State, n_features: int) -> None:
        """Take over saved sums of a learner with this many features."""
        self.count = saved_count(state, "count")
        self.loss = saved_number(state, "loss", finite=False)
        self.explained_by_reference = saved_number(state, "explained_by_reference", finite=False)
        self.moments = None
        if "moments" in state:
            self.moments = saved_array(state, "moments", (n_features, n_features), finite=False)
