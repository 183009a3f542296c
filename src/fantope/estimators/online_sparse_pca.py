"""Sparse PCA on a stream as a scikit-learn estimator."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.utils.validation import check_is_fitted, validate_data

from fantope.estimators.constraints import COUNT, COUNT_OR_ZERO, NOT_NEGATIVE, POSITIVE, SHARE, TWO_OR_MORE, one_of
from fantope.estimators.online_learners import new_stream
from fantope.estimators.online_rows import rows_of_mappings
from fantope.estimators.online_service import InService
from fantope.estimators.river_step import RiverStep
from fantope.estimators.show import ShownWhenFitted
from fantope.online import FollowTheLeader, OnlineP
from fantope.online.persist import CheckpointError, read_state, write_state
from fantope.online.saved import saved_array, saved_count
from fantope.problem.projection import Factors
from fantope.typing import AnyArray, Array

STRIP = 512  # features whose covariances are looked at together


class OnlineSparsePCA(
    ShownWhenFitted,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    InService,
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
        Learn from exactly the latest samples, so many, in place of forgetting; not for Online-T, which cannot unlearn.
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

    # --- fitting -------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything and learn from the rows of X in order.

        Parameters
        ----------
        X : array-like of shape (n, p), or a sequence of mappings from feature name to value
        y : None
            Ignored.
        """
        for name in ("_stream", "_cache", "n_features_in_", "feature_names_in_", "alpha_", "n_components_"):
            if hasattr(self, name):
                delattr(self, name)
        self.partial_fit(X)
        return self

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from the rows of X, which follow those seen before.

        Parameters
        ----------
        X : array-like of shape (n, p), a mapping from feature name to value (one sample), or a sequence of mappings
        y : None
            Ignored.
        """
        first = not hasattr(self, "_stream")
        rows = self._rows(X, first)
        if first:
            self.begin(self.n_features_in_, None)
        self.learn(rows)
        return self

    def begin(self, n_features: int, names: Sequence[str] | None) -> None:
        """Settle the number of features, and their names, before the first sample; for callers that check rows."""
        self._stream = new_stream(self, n_features)
        self._cache: dict[str, Any] = {}
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.alpha_ = float(self.alpha)
        self.n_components_ = self._stream.learner.n_components
        self.watch_again()

    def learn(self, rows: Array) -> None:
        """Learn from rows that were checked already: a float64 array of shape (n, n_features), all finite."""
        self._cache = {}
        self._stream.update_many(rows)

    # --- samples in many forms -----------------------------------------------------------------------------------

    def _rows(self, X: Any, first: bool) -> Array:
        if isinstance(X, Mapping) and not scipy.sparse.issparse(X):  # scipy's dok format is a dictionary, too
            X = [X]
        if isinstance(X, Sequence) and len(X) and all(isinstance(x, Mapping) for x in X):
            known = None if first else getattr(self, "feature_names_in_", None)
            if known is None and not first:
                raise ValueError(
                    "X must be an array like the one first fitted, whose features had no names, got a mapping."
                )
            names, rows = rows_of_mappings(X, known)
            if first:
                validate_data(self, rows, reset=True, ensure_min_features=2)
                self.feature_names_in_ = names
            return rows
        return np.asarray(
            validate_data(self, X, reset=first, dtype=np.float64, order="C", ensure_min_features=2 if first else 1)
        )

    # --- answers -------------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    def _factors(self) -> Factors:
        check_is_fitted(self)
        seen = self._stream.n_samples  # a callback may ask in the middle of a block
        if self._cache.get("samples") != seen:
            self._cache = {"samples": seen}
            factors = self._stream.learner.estimate()
            self._cache["components"], self._cache["variances"] = self._rotated(factors)
            self._cache["factors"] = factors
        found: Factors = self._cache["factors"]
        return found

    def _rotated(self, X: Factors) -> tuple[Array, Array]:
        """Return the leading range of X, rotated to uncorrelated scores, and their variances in the learner's unit."""
        V = X.vectors[: self.n_components_]
        S = self._stream.learner.covariance(X.rows)
        variance, rotation = np.linalg.eigh(V @ S @ V.T)
        rows = rotation.T[::-1] @ V
        rows[np.abs(rows) < 1e-14] = 0.0
        signs = np.sign(rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)])
        result = np.zeros((self.n_components_, self.n_features_in_))
        result[:, X.rows] = rows * signs[:, None]
        return result, np.maximum(variance[::-1], 0.0)

    def _asked(self, name: str) -> None:
        """Properties of an estimator that is not fitted do not exist."""
        if not hasattr(self, "_stream"):
            raise AttributeError(f"{name} is there once {type(self).__name__} has seen a sample; call partial_fit.")

    @property
    def components_(self) -> Array:
        """Orthonormal rows, computed when asked for."""
        self._asked("components_")
        self._factors()
        found: Array = self._cache["components"]
        return found

    @property
    def explained_variance_(self) -> Array:
        """Variance along each component."""
        self._asked("explained_variance_")
        self._factors()
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
        self._factors()
        return self._cache["variances"] / total if total > 0.0 else np.zeros(self.n_components_)

    @property
    def mean_(self) -> Array:
        """The running mean; zero without centring."""
        self._asked("mean_")
        return self._stream.mean.copy()

    @property
    def projection_(self) -> Any:
        """The estimate X as a sparse array."""
        self._asked("projection_")
        return self._factors().matrix(self.n_features_in_)

    @property
    def support_(self) -> AnyArray:
        """Features in use, ascending."""
        self._asked("support_")
        return np.flatnonzero(np.abs(self.components_).max(axis=0) > 0.0)

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learned from."""
        self._asked("n_samples_seen_")
        return self._stream.n_samples

    @property
    def n_iter_(self) -> int:
        """Number of samples learned from, under scikit-learn's name for steps."""
        self._asked("n_iter_")
        return self._stream.n_samples

    @property
    def average_regret_(self) -> float:
        """Average regret against the current estimate; NaN unless tracked."""
        self._asked("average_regret_")
        return self._stream.average_regret(self._factors())

    @property
    def gap_(self) -> float:
        """Certified gap of the last problem solved."""
        self._asked("gap_")
        learner = self._stream.learner
        if isinstance(learner, OnlineP):
            return learner.records[-1].gap if learner.records else float("nan")
        if isinstance(learner, FollowTheLeader):
            return learner.gap
        raise AttributeError("gap_ is there for 'online-p', 'tracker' and 'ftl' only: Online-T solves no problem.")

    @property
    def records_(self) -> tuple[Any, ...]:
        """Online-P: gap, tolerance and iterations of the latest subproblems."""
        self._asked("records_")
        learner = self._stream.learner
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

    # --- state ---------------------------------------------------------------------------------------------------

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the exact state to ``file``, atomically; :func:`load` brings it back."""
        check_is_fitted(self)
        save_estimator(self, file)


def save_estimator(
    estimator: OnlineSparsePCA,
    file: str | os.PathLike[str],
    *,
    position: dict[str, Any] | None = None,
    keep_previous: bool = False,
) -> None:
    """Write an estimator, and with it a position in its input (what ``fantope stream`` adds)."""
    names = getattr(estimator, "feature_names_in_", None)
    header = {
        "parameters": {key: _plain(value) for key, value in estimator.get_params(deep=False).items()},
        "n_features": int(estimator.n_features_in_),
        "watch": None if estimator._stream.watch is None else estimator._stream.watch.parameters,
        "columns": None if names is None else [str(name) for name in names],
        "position": position,
    }
    write_state(file, header, estimator._stream.state(), keep_previous=keep_previous)


def load(file: str | os.PathLike[str]) -> OnlineSparsePCA:
    """Open what :meth:`OnlineSparsePCA.save` or a checkpoint of ``fantope stream`` holds.

    The estimator goes on from there as if it had never stopped, to the last bit.

    Raises
    ------
    CheckpointError
        If the file is damaged, is something else, or was written by another version of the format.
    """
    return load_with_header(file)[0]


def load_with_header(file: str | os.PathLike[str]) -> tuple[OnlineSparsePCA, dict[str, Any]]:
    """Return the estimator and the header that goes with it."""
    header, state = read_state(file)
    try:
        estimator = OnlineSparsePCA(**header["parameters"])
        estimator._validate_params()
        n_features, names = saved_count(header, "n_features"), header["columns"]
        saved_array(state, "mean", (n_features,))  # before anything of that size is made
        if names is not None and not (len(names) == n_features and all(isinstance(name, str) for name in names)):
            raise ValueError(f"columns must be {n_features} names")
        if header.get("watch") is not None:
            estimator.watch(**header["watch"])
        estimator.begin(n_features, names)
        estimator._stream.restore(state)
    except (AttributeError, KeyError, TypeError, IndexError) as error:
        raise CheckpointError(f"{file} lacks a part of the state ({error}); use the file before it.") from None
    except ValueError as error:
        raise CheckpointError(f"{file} is not a state that fantope saved: {error}; use the file before it.") from None
    return estimator, header


def _plain(value: Any) -> Any:
    """Return a number as Python's own type, which JSON can hold."""
    return value.item() if isinstance(value, np.generic) else value
