"""Samples given as mappings from feature name to value, as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from fantope.checks import check_finite
from fantope.errors import listed
from fantope.typing import AnyArray, Array


def rows_of_mappings(samples: Sequence[Mapping[str, float]], known: AnyArray | None) -> tuple[AnyArray, Array]:
    """Return the features' names and the samples as rows in their order; the first sample's where none are known."""
    names = np.array([str(name) for name in samples[0]], dtype=object) if known is None else known
    rows = np.empty((len(samples), len(names)))
    expected = set(names)
    for k, sample in enumerate(samples):
        missing = [name for name in names if name not in sample]
        new = [str(name) for name in sample if name not in expected]
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
