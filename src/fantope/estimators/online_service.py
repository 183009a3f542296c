"""What a stream in service needs beside learning: an alarm, and the merging of two estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fantope.online import Check, Stream, Watch


class InService:
    """A part of :class:`fantope.OnlineSparsePCA`."""

    n_features_in_: int
    alpha_: float
    center: bool
    _stream: Stream
    _cache: dict[str, Any]
    _watching: dict[str, Any]

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

    @property
    def checks_(self) -> tuple[Check, ...]:
        """The latest checks of :meth:`watch`, at most 1,000."""
        watch = self._stream.watch if hasattr(self, "_stream") else None
        return () if watch is None else tuple(watch.checks)

    @property
    def n_alarms_(self) -> int:
        """Number of checks that were alarms."""
        watch = self._stream.watch if hasattr(self, "_stream") else None
        return 0 if watch is None else watch.n_alarms

    def until_check(self) -> int:
        """Return after how many samples the next check is due; 0 if none is."""
        watch = self._stream.watch if hasattr(self, "_stream") else None
        return 0 if watch is None else watch.until_due()

    def watch_again(self) -> None:
        """Watch a new stream as the one before it was watched."""
        if hasattr(self, "_watching"):
            self.watch(**self._watching)

    def merge(self, other: InService) -> Self:
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
