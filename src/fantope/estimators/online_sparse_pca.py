"""Sparse PCA on a stream as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fantope.errors import require
from fantope.estimators.constraints import COUNT, COUNT_OR_ZERO, NOT_NEGATIVE, POSITIVE, SHARE, TWO_OR_MORE, one_of
from fantope.estimators.online_estimator import OnlineEstimator
from fantope.estimators.river_step import RiverStep
from fantope.estimators.show import ShownWhenFitted
from fantope.online import FollowTheLeader, OnlineP, OnlineT, RegretTracker, Tracker
from fantope.online.base import Learner
from fantope.problem.projection import Factors, principal_axes
from fantope.typing import AnyArray, Array

SPARSE_FROM = 4000  # variables; from here on "auto" storage holds Online-T's matrix by its non-zeros
STRIP = 512  # features whose covariances are looked at together


class OnlineSparsePCA(
    ShownWhenFitted,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    OnlineEstimator,
    RiverStep,
    BaseEstimator,  # type: ignore[misc]
):
    """Sparse principal components of a stream, updated sample by sample.

    Each sample moves an estimate X of the projection on the leading eigenvectors, with ``alpha‖X‖₁`` keeping it
    sparse. ``partial_fit`` of a block gives, bit for bit, what ``partial_fit`` of its rows one by one gives, and the
    state does not grow with the number of samples.

    Parameters
    ----------
    n_components : int, default=2
        1 ≤ n_components < n_features (2 means 1 where there are only two features).
    alpha : float, default=0.1
        Penalty, 0 or larger, in units of the covariance.
    algorithm : {"online-t", "online-p", "tracker", "ftl"}, default="online-t"
        "online-t" for many samples and speed; "online-p" for few samples, many variables and accuracy (it solves an
        optimisation problem per sample); "tracker" for data that change: the certified batch solution of what is
        remembered, every ``solve_every`` samples; "ftl", the batch problem after each sample, to compare with.
    center : bool, default=True
        Subtract a running mean. False if the samples have mean zero, as the paper assumes.
    forgetting : float, default=1.0
        A sample k steps back weighs forgetting^k: about 1/(1 − forgetting) samples are remembered. 1 forgets nothing.
    window : int, default=None
        Learn from exactly this many of the latest samples, in place of forgetting; Online-T cannot unlearn.
    step_size : float, default=None
        α₀ of Online-T; by default it follows from the size of the samples.
    nu : float, default=None
        ν, the price of leaving the Fantope in Online-T's steps and in the loss; by default from alpha, p and the data.
    loosen : float, default=1.0
        Factor on the tolerance that Online-P's theorem asks for.
    tol : float, default=1e-3
        Relative duality gap of the solves of "ftl" and "tracker".
    solve_every : int, default=100
        Number of samples between two solves of the tracker.
    storage : {"auto", "dense", "sparse"}, default="auto"
        How Online-T holds its matrix; "auto" is "sparse" from 4,000 variables on.
    track : int, default=0
        Number of samples between two judgements of the loss, for ``average_regret_``; 0 switches that off. For Online-T
        each judgement is an eigenvalue computation.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows by descending explained variance, exactly zero off the support, the entry of largest magnitude
        positive. Computed when asked for, then kept until the next sample.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each component, and its share of the total. For Online-T, which keeps no covariance, the
        former is that of the last 256 samples.
    mean_ : ndarray of shape (n_features,)
    projection_ : sparse array of shape (n_features, n_features)
        The estimate X, in the Fantope.
    support_ : ndarray
        Features in use.
    gap_ : float
        How far X's objective can be from the optimum of the last problem solved: absolute for Online-P, relative for
        FTL and the tracker. Online-T solves no problem and has none.
    average_regret_ : float
        Average regret against the current estimate; NaN unless ``track`` is on.
    n_samples_seen_, n_iter_, n_components_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Only if the samples came with names.
    alpha_ : float

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(3000, 40, random_state=0)
    >>> pca = fantope.OnlineSparsePCA(2, alpha=0.05)
    >>> for block in range(0, 3000, 100):
    ...     pca = pca.partial_fit(sim.Z[block:block + 100])
    >>> pca.n_samples_seen_, pca.components_.shape
    (3000, (2, 40))
    >>> abs(pca.components_ @ sim.loadings).max(axis=1) > 0.95
    array([ True,  True])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [COUNT],
        "alpha": [NOT_NEGATIVE],
        "algorithm": [one_of("online-t", "online-p", "tracker", "ftl")],
        "center": ["boolean"],
        "forgetting": [SHARE],
        "window": [TWO_OR_MORE, None],
        "step_size": [POSITIVE, None],
        "nu": [POSITIVE, None],
        "loosen": [POSITIVE],
        "tol": [POSITIVE],
        "solve_every": [COUNT],
        "storage": [one_of("auto", "dense", "sparse")],
        "track": [COUNT_OR_ZERO],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float = 0.1,
        algorithm: str = "online-t",
        center: bool = True,
        forgetting: float = 1.0,
        window: int | None = None,
        step_size: float | None = None,
        nu: float | None = None,
        loosen: float = 1.0,
        tol: float = 1e-3,
        solve_every: int = 100,
        storage: str = "auto",
        track: int = 0,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.algorithm = algorithm
        self.center = center
        self.forgetting = forgetting
        self.window = window
        self.step_size = step_size
        self.nu = nu
        self.loosen = loosen
        self.tol = tol
        self.solve_every = solve_every
        self.storage = storage
        self.track = track

    def _new_learner(self, n_features: int) -> tuple[Learner, RegretTracker | None]:
        p = n_features
        d = 1 if p == self.n_components == 2 else self.n_components
        require(d < p, "n_components", f"be less than the number of features, {p}", str(d), f"ask for {p - 1} or fewer")
        recent: dict[str, Any] = {"forgetting": self.forgetting, "window": self.window}
        learner: Learner
        if self.algorithm == "online-t":
            storage: Any = ("sparse" if p >= SPARSE_FROM else "dense") if self.storage == "auto" else self.storage
            steps: dict[str, Any] = {"step_size": self.step_size, "nu": self.nu, "forgetting": self.forgetting}
            learner = OnlineT(p, d, self.alpha, storage=storage, **steps)
        elif self.algorithm == "online-p":
            learner = OnlineP(p, d, self.alpha, loosen=self.loosen, **recent)
        elif self.algorithm == "tracker":
            learner = Tracker(p, d, self.alpha, tol=self.tol, every=self.solve_every, **recent)
        else:
            learner = FollowTheLeader(p, d, self.alpha, tol=self.tol, **recent)
        # The loss needs a constant; where none is given, the part of ν that is known beforehand.
        nu = self.alpha * p + 1.0 if self.nu is None else self.nu
        return learner, RegretTracker(d, self.alpha, nu, self.track) if self.track else None

    @property
    def n_components_(self) -> int:
        """Number of components."""
        return self._asked("n_components_").learner.n_components

    # --- answers -------------------------------------------------------------------------------------------------

    def _estimate(self) -> Factors:
        check_is_fitted(self)
        seen = self._stream.n_samples  # a callback may ask in the middle of a block
        if self._cache.get("samples") != seen:
            self._cache.clear()  # in place: asking for an answer replaces no attribute
            self._cache["samples"] = seen
            factors = self._stream.learner.estimate()
            self._cache["components"], self._cache["variances"] = self._rotated(factors)
            self._cache["factors"] = factors
        found: Factors = self._cache["factors"]
        return found

    def _rotated(self, X: Factors) -> tuple[Array, Array]:
        """Return the leading range of X, rotated to uncorrelated scores, and their variances in the learner's unit."""
        V = X.vectors[: self.n_components_]
        S = self._stream.learner.covariance(X.rows)
        result = np.zeros((self.n_components_, self.n_features_in_))
        result[:, X.rows], variance = principal_axes(V, S)
        return result, np.maximum(variance, 0.0)

    @property
    def components_(self) -> Array:
        """Orthonormal rows, computed when asked for."""
        self._asked("components_")
        self._estimate()
        found: Array = self._cache["components"]
        return found

    @property
    def explained_variance_(self) -> Array:
        """Variance along each component."""
        self._asked("explained_variance_")
        self._estimate()
        unit = self._stream.learner.unit
        return np.asarray(self._cache["variances"] * unit * unit)

    @property
    def explained_variance_ratio_(self) -> Array:
        """Share of the total variance along each component."""
        self._asked("explained_variance_ratio_")
        # Strip by strip: with many features all of it at once would be the one p × p array of the run.
        p = self.n_features_in_
        strips = (np.arange(first, min(first + STRIP, p)) for first in range(0, p, STRIP))
        total = sum(float(np.trace(self._stream.learner.covariance(strip))) for strip in strips)
        self._estimate()
        return self._cache["variances"] / total if total > 0.0 else np.zeros(self.n_components_)

    @property
    def projection_(self) -> Any:
        """The estimate X as a sparse array."""
        self._asked("projection_")
        return self._estimate().matrix(self.n_features_in_)

    @property
    def support_(self) -> AnyArray:
        """Features in use, ascending."""
        self._asked("support_")
        return np.flatnonzero(np.abs(self.components_).max(axis=0) > 0.0)

    @property
    def gap_(self) -> float:
        """Certified gap of the last problem solved."""
        learner = self._asked("gap_").learner
        if isinstance(learner, OnlineP):
            return learner.records[-1].gap if learner.records else float("nan")
        if isinstance(learner, FollowTheLeader):
            return learner.gap
        raise AttributeError("gap_ is there for 'online-p', 'tracker' and 'ftl' only: Online-T solves no problem.")

    @property
    def records_(self) -> tuple[Any, ...]:
        """Online-P: gap, tolerance and iterations of the latest subproblems."""
        learner = self._asked("records_").learner
        if isinstance(learner, OnlineP):
            return tuple(learner.records)
        raise AttributeError("records_ is there for algorithm='online-p' only.")

    @property
    def _n_features_out(self) -> int:
        return self.n_components_

    def transform(self, X: Any) -> Array:
        """Return the scores (X − mean) componentsᵀ, shape (n, n_components)."""
        check_is_fitted(self)
        return np.asarray((self._rows(X, False) - self._stream.mean) @ self.components_.T)

    def inverse_transform(self, X: Any) -> Array:
        """Return the samples that have the scores X, shape (n, p)."""
        check_is_fitted(self)
        return np.asarray(np.asarray(X, dtype=np.float64) @ self.components_ + self._stream.mean)

    def transform_one(self, x: Mapping[str, float]) -> dict[str, float]:
        """Return the scores of one sample given as a mapping; zeros before the first sample: river may ask."""
        if not self.__sklearn_is_fitted__():
            return {f"{type(self).__name__.lower()}{k}": 0.0 for k in range(self.n_components)}
        return dict(zip(self.get_feature_names_out(), map(float, self.transform(x)[0]), strict=True))
