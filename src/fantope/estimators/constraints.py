"""What constructor parameters may be: the only place that uses scikit-learn's private validation."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

COUNT = Interval(Integral, 1, None, closed="left")
TWO_OR_MORE = Interval(Integral, 2, None, closed="left")
COUNT_OR_ZERO = Interval(Integral, 0, None, closed="left")
POSITIVE = Interval(Real, 0, None, closed="neither")
NOT_NEGATIVE = Interval(Real, 0, None, closed="left")
SHARE = Interval(Real, 0, 1, closed="right")


def one_of(*names: str) -> StrOptions:
    """Return the constraint to be one of some words."""
    return StrOptions(set(names))


def with_methods(*names: str) -> HasMethods:
    """Return the constraint to be an object with these methods."""
    return HasMethods(list(names))
