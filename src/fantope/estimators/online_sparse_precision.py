"""The graphical lasso on a stream as a scikit-learn estimator."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator

from fantope.estimators.constraints import COUNT, COUNT_OR_ZERO, POSITIVE, SHARE, TWO_OR_MORE
from fantope.estimators.online_estimator import OnlineEstimator
from fantope.graphical import partial_correlations
from fantope.online import PrecisionLeader, PrecisionRegret
from fantope.typing import AnyArray, Array


class OnlineSparsePrecision(OnlineEstimator, BaseEstimator):  # type: ignore[misc]
    """A sparse precision matrix of a stream: the certified graphical lasso of what is remembered, now and then.

    Parameters
    ----------
    alpha : float, default=0.1
        Penalty, above 0, in units of the covariance.
    center : bool, default=True
        Subtract a running mean.
    forgetting : float, default=1.0
        A sample k steps back weighs forgetting^k. 1 forgets nothing.
    window : int, default=None
        Learn from exactly this many of the latest samples, in place of forgetting.
    tol : float, default=1e-3
        Certified gap of each solve, in nats.
    solve_every : int, default=100
        Number of samples between two solves, warm-started; before the first they are at 2, 4, 8, …
    track : int, default=0
        Number of samples between two judgements of the loss, for ``average_regret_``; 0 switches that off.

    Attributes
    ----------
    precision_ : ndarray of shape (n_features, n_features)
        Θ of the last solve; the identity before every feature has varied.
    partial_correlations_ : sparse array of shape (n_features, n_features)
    covariance_ : ndarray of shape (n_features, n_features)
        Of the samples that are remembered.
    n_edges_ : int
    support_ : ndarray
        Features that depend on another one.
    gap_ : float
        Certified distance of the last solve from its optimum; NaN before it.
    average_regret_ : float
        Average regret against the current estimate; NaN unless ``track`` is on.
    mean_ : ndarray of shape (n_features,)
    n_samples_seen_, n_iter_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)
    alpha_ : float

    Examples
    --------
    >>> import fantope
    >>> network = fantope.OnlineSparsePrecision(alpha=0.3, solve_every=200)
    >>> network = network.partial_fit(fantope.simulate(400, 40).Z)
    >>> network.gap_ <= 1e-3, network.n_edges_ > 0
    (True, True)
    """

    algorithm: ClassVar[str] = "graphical-lasso"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [POSITIVE],
        "center": ["boolean"],
        "forgetting": [SHARE],
        "window": [TWO_OR_MORE, None],
        "tol": [POSITIVE],
        "solve_every": [COUNT],
        "track": [COUNT_OR_ZERO],
    }

    def __init__(
        self,
        *,
        alpha: float = 0.1,
        center: bool = True,
        forgetting: float = 1.0,
        window: int | None = None,
        tol: float = 1e-3,
        solve_every: int = 100,
        track: int = 0,
    ) -> None:
        self.alpha = alpha
        self.center = center
        self.forgetting = forgetting
        self.window = window
        self.tol = tol
        self.solve_every = solve_every
        self.track = track

    def _new_learner(self, n_features: int) -> tuple[PrecisionLeader, PrecisionRegret | None]:
        learner = PrecisionLeader(
            n_features, self.alpha, tol=self.tol, forgetting=self.forgetting, window=self.window, every=self.solve_every
        )
        return learner, PrecisionRegret(self.alpha, self.track) if self.track else None

    def watch(self, threshold: float | None = 0.2, **options: Any) -> Any:
        """Refuse: the check is one of components. None, to watch no longer, is heard."""
        if threshold is not None:
            raise ValueError("threshold must be None: what is watched are sparse components; use OnlineSparsePCA.")
        return self

    def _learner(self, name: str) -> PrecisionLeader:
        learner = self._asked(name).learner
        assert isinstance(learner, PrecisionLeader)
        return learner

    @property
    def precision_(self) -> Array:
        """Θ of the last solve."""
        return self._learner("precision_").precision

    @property
    def partial_correlations_(self) -> scipy.sparse.csr_array:
        """−Θ_ij/√(Θ_ii Θ_jj) off the diagonal."""
        return partial_correlations(self._learner("partial_correlations_").estimate())

    @property
    def covariance_(self) -> Array:
        """Covariance of the samples that are remembered."""
        learner = self._learner("covariance_")
        return np.asarray(learner.S * learner.unit * learner.unit)

    @property
    def n_edges_(self) -> int:
        """Number of pairs that depend on each other given all others."""
        return int(np.count_nonzero(np.triu(self._learner("n_edges_").precision, 1)))

    @property
    def support_(self) -> AnyArray:
        """Features that depend on another one, ascending."""
        linked = np.triu(self._learner("support_").precision, 1) != 0.0
        return np.flatnonzero((linked | linked.T).any(axis=0))

    @property
    def gap_(self) -> float:
        """Certified gap of the last solve, in nats."""
        return self._learner("gap_").gap
