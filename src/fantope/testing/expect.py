"""How a check fails."""

from __future__ import annotations

from typing import Any

import numpy as np


def expect(holds: bool | np.bool_, sentence: str) -> None:
    """Raise AssertionError with ``sentence`` unless it ``holds``."""
    if not holds:
        raise AssertionError(sentence)


def expect_close(found: Any, wanted: Any, sentence: str, scale: float = 1.0, accuracy: float = 1e-10) -> None:
    """Raise AssertionError unless two arrays agree to ``accuracy`` relative to ``scale``."""
    found, wanted = np.asarray(found, dtype=np.float64), np.asarray(wanted, dtype=np.float64)
    expect(found.shape == wanted.shape, f"{sentence}: the shape is {found.shape} where it has to be {wanted.shape}.")
    with np.errstate(invalid="ignore"):
        off = np.where(found == wanted, 0.0, np.abs(found - wanted))  # infinities may be equal
    expect(float(off.max(initial=0.0)) <= accuracy * scale, f"{sentence}: off by {float(off.max(initial=0.0)):.3g}.")
