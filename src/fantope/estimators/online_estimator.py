"""What the estimators on a stream share: samples in, counts out, an alarm, merging, a state that can be saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted, validate_data

from fantope.checks import check_finite, is_sparse, unmasked
from fantope.errors import listed
from fantope.online import Check, RegretTracker, Stream, Watch
from fantope.online.base import Learner
from fantope.online.watch import check_watch
from fantope.typing import AnyArray, Array


class OnlineEstimator:
    """An estimator around a :class:`fantope.online.Stream` with the learner that :meth:`_new_learner` makes."""

    alpha: float
    center: bool
    forgetting: float
    window: int | None
    _watching: dict[str, Any]

    def _new_learner(self, n_features: int) -> tuple[Learner, RegretTracker | None]:
        raise NotImplementedError

    def _estimate(self) -> Any:
        return self._stream.learner.estimate()

    def fit(self, X: Any, y: Any = None) -> Self:
        """Forget everything and learn from the rows of X in order.

        Parameters
        ----------
        X : array-like of shape (n, p), or a sequence of mappings from feature name to value
        y : None
            Ignored.
        """
        for name in ("_stream", "_cache", "n_features_in_", "feature_names_in_", "alpha_"):
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

    def learn_one(self, x: Mapping[str, float]) -> None:
        """Learn from one sample given as a mapping from feature name to value, as river has them."""
        self.partial_fit(x)

    def begin(self, n_features: int, names: Sequence[str] | None) -> None:
        """Settle the number of features, and their names, before the first sample; for callers that check rows."""
        learner, tracker = self._new_learner(n_features)
        if self.window is not None and self.forgetting != 1.0:
            raise ValueError(f"forgetting must be 1 where window is given, got {self.forgetting}; use one of the two.")
        self._stream = Stream(learner, self.center, self.forgetting, tracker, self.window)
        self._cache: dict[str, Any] = {}
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.alpha_ = float(self.alpha)
        if hasattr(self, "_watching"):
            self.watch(**self._watching)

    def learn(self, rows: Array) -> None:
        """Learn from rows that were checked already: a float64 array of shape (n, n_features), all finite."""
        self._cache = {}
        self._stream.update_many(rows)

    # --- samples in many forms -----------------------------------------------------------------------------------

    def _rows(self, X: Any, first: bool) -> Array:
        if isinstance(X, Mapping) and not is_sparse(X):  # scipy's dok format is a dictionary, too
            X = [X]
        if isinstance(X, Sequence) and len(X) and all(isinstance(x, Mapping) for x in X):
            known = None if first else getattr(self, "feature_names_in_", None)
            if known is None and not first:
                raise ValueError(
                    "X must be an array like the one first fitted, whose features had no names, got a mapping."
                )
            names, rows = _rows_of_mappings(X, known)
            if first:
                validate_data(self, rows, reset=True, ensure_min_features=2)
                self.feature_names_in_ = names
            return rows
        return np.asarray(
            validate_data(
                self, unmasked("X", X), reset=first, dtype=np.float64, order="C", ensure_min_features=2 if first else 1
            )
        )

    # --- answers ----------------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    def _asked(self, name: str) -> Stream:
        """Return the stream that the property ``name`` is of: before there is one, the property does not exist."""
        if not hasattr(self, "_stream"):
            raise AttributeError(f"{name} is there once {type(self).__name__} has seen a sample; call partial_fit.")
        return self._stream

    @property
    def mean_(self) -> Array:
        """The running mean; zero without centring."""
        return self._asked("mean_").mean.copy()

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learned from."""
        return self._asked("n_samples_seen_").n_samples

    @property
    def n_iter_(self) -> int:
        """Number of samples learned from, under scikit-learn's name for steps."""
        return self._asked("n_iter_").n_samples

    @property
    def average_regret_(self) -> float:
        """Average regret against the current estimate; NaN unless tracked."""
        return self._asked("average_regret_").average_regret(self._estimate())

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the exact state to ``file``, atomically; :func:`fantope.load` brings it back."""
        check_is_fitted(self)
        from fantope.estimators.online_states import save_estimator

        save_estimator(self, file)

    # --- in service ----------------------------------------------------------------------------------------------

    def watch(
        self,
        threshold: float | None = 0.2,
        *,
        window: int = 200,
        every: int | None = None,
        callback: Callable[[Check], object] | None = None,
    ) -> Self:
        """Compare what is learnt with the certified optimum of the latest samples, from here on; see ``checks_``.

        Parameters
        ----------
        threshold : float, default 0.2
            Share of what can be explained above which a miss is an alarm; None to watch no longer.
        window : int, default 200
            Number of latest samples.
        every : int, optional
            Number of samples between two checks; a quarter of the window by default.
        callback : function of a :class:`fantope.online.Check`, optional
            Called at every check. It is not saved; call this method again after :func:`load` to set it.

        Examples
        --------
        >>> import fantope
        >>> Z = fantope.simulate(1200, 40, sizes=(10, 8)).Z
        >>> Z[800:] = Z[800:, ::-1]
        >>> pca = fantope.OnlineSparsePCA(2).watch(0.3, window=200).partial_fit(Z)
        >>> print(next(check for check in pca.checks_ if check.alarm).sample)
        950
        """
        if threshold is not None:
            check_watch(threshold, window, every, callback)
        self._watching = {"threshold": threshold, "window": window, "every": every, "callback": callback}
        if not hasattr(self, "_stream"):
            return self
        if threshold is None:
            self._stream.watch = None
        else:
            made = Watch(
                self.n_features_in_, self.alpha_, threshold, window, every, center=self.center, callback=callback
            )
            kept = self._stream.watch
            if kept is not None and kept.parameters == made.parameters:
                made.restore(kept.state())
            self._stream.watch = made
        return self

    def _watch(self) -> Watch | None:
        return self._stream.watch if hasattr(self, "_stream") else None

    @property
    def checks_(self) -> tuple[Check, ...]:
        """The latest checks of :meth:`watch`, at most 1,000."""
        watch = self._watch()
        return () if watch is None else tuple(watch.checks)

    @property
    def n_alarms_(self) -> int:
        """Number of checks that were alarms."""
        watch = self._watch()
        return 0 if watch is None else watch.n_alarms

    def until_check(self) -> int:
        """Return after how many samples the next check is due; 0 if none is."""
        watch = self._watch()
        return 0 if watch is None else watch.until_due()

    def merge(self, other: OnlineEstimator) -> Self:
        """Take in what another estimator with the same parameters has learnt from other samples of the same features.

        Where the covariance is kept ("online-p", "tracker", "ftl") the result is that of one estimator that saw both
        sets, up to rounding and tolerance. Online-T: see :mod:`fantope.online.merging`. ``other`` is not changed.

        Examples
        --------
        >>> import fantope
        >>> Z = fantope.simulate(400, 40).Z
        >>> one, two = (fantope.OnlineSparsePCA(2).partial_fit(part) for part in (Z[:300], Z[300:]))
        >>> one.merge(two).n_samples_seen_
        400
        """
        check_is_fitted(self)
        if type(other) is not type(self):
            raise ValueError(f"other must be another {type(self).__name__}, got {type(other).__name__}.")
        check_is_fitted(other)
        mine, its = ({"n_features": each.n_features_in_, **each.get_params()} for each in (self, other))  # type: ignore[attr-defined]
        differing = [
            f"{name} is {mine[name]!r} here and {its[name]!r} there" for name in mine if mine[name] != its[name]
        ]
        if not np.array_equal(getattr(self, "feature_names_in_", ()), getattr(other, "feature_names_in_", ())):
            differing.append("the features have other names")
        if differing:
            raise ValueError(f"other must be made like this estimator, but {'; '.join(differing)}.")
        self._cache = {}
        self._stream.merge(other._stream)
        return self


def _rows_of_mappings(samples: Sequence[Mapping[str, float]], known: AnyArray | None) -> tuple[AnyArray, Array]:
    """Return the features' names and the samples as rows in their order; the first sample's where none are known."""
    names = np.array([str(name) for name in samples[0]], dtype=object) if known is None else known
    rows = np.empty((len(samples), len(names)))
    expected = set(names)
    for k, given in enumerate(samples):
        sample = {str(name): value for name, value in given.items()}  # river counts columns without names: 0, 1, …
        missing = [name for name in names if name not in sample]
        new = [name for name in sample if name not in expected]
        if missing or new:
            raise ValueError(_difference(missing, new))
        for j, name in enumerate(names):
            try:
                rows[k, j] = float(sample[name])
            except (TypeError, ValueError):
                raise ValueError(
                    f"X must hold numbers only, got {sample[name]!r} for feature {name!r}; encode or drop it first."
                ) from None
    check_finite(rows, "X", [str(name) for name in names], remedy="drop or impute such samples")
    return names, rows


def _difference(missing: list[Any], new: list[str]) -> str:
    """Return a sentence on features that are missing or new."""
    parts = []
    for what, names in (("lacks", missing), ("has the new", new)):
        if names:
            parts.append(f"{what} feature{'s' if len(names) > 1 else ''} {listed([str(name) for name in names])}")
    return f"X {' and '.join(parts)}; every sample must have the features first fitted (drop new, impute missing ones)."
