"""Tables of samples as the rules of this package take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from fantope.errors import require
from fantope.typing import Array


def as_samples(X: Any, least: int) -> Array:
    """Return X as an array of floats with at least so many rows."""
    values = np.asarray(X, dtype=np.float64)
    sound = values.ndim == 2 and len(values) >= least
    require(sound, "X", f"be an (n, p) array with at least {least} rows", f"shape {values.shape}")
    return values


def standardised(X: Array, kind: str) -> Array:
    """Return X with its means subtracted and, for correlations, divided by its standard deviations."""
    known = kind in ("covariance", "correlation")
    require(known, "kind", "be 'covariance' or 'correlation'", repr(kind))
    Z = X - X.mean(axis=0)
    scale = Z.std(axis=0) if kind == "correlation" else np.ones(X.shape[1])
    return np.asarray(Z / np.where(scale > 0.0, scale, 1.0))
