"""What the estimators on a stream share: samples in, counts out, a state that can be saved."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.validation import check_is_fitted, validate_data

from fantope.checks import is_sparse
from fantope.estimators.online_rows import rows_of_mappings
from fantope.estimators.online_service import InService
from fantope.online import Stream
from fantope.typing import Array


class OnlineEstimator(InService):
    """An estimator around a :class:`fantope.online.Stream`, which :meth:`_new_stream` makes."""

    alpha: float

    def _new_stream(self, n_features: int) -> Stream:
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
        self._stream = self._new_stream(n_features)
        self._cache: dict[str, Any] = {}
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        self.alpha_ = float(self.alpha)
        self.watch_again()

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
            names, rows = rows_of_mappings(X, known)
            if first:
                validate_data(self, rows, reset=True, ensure_min_features=2)
                self.feature_names_in_ = names
            return rows
        return np.asarray(
            validate_data(self, X, reset=first, dtype=np.float64, order="C", ensure_min_features=2 if first else 1)
        )

    # --- answers ----------------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_stream")

    def _asked(self, name: str) -> None:
        """Properties of an estimator that is not fitted do not exist."""
        if not hasattr(self, "_stream"):
            raise AttributeError(f"{name} is there once {type(self).__name__} has seen a sample; call partial_fit.")

    @property
    def mean_(self) -> Array:
        """The running mean; zero without centring."""
        self._asked("mean_")
        return self._stream.mean.copy()

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
        return self._stream.average_regret(self._estimate())

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the exact state to ``file``, atomically; :func:`fantope.load` brings it back."""
        check_is_fitted(self)
        from fantope.estimators.online_states import save_estimator

        save_estimator(self, file)
