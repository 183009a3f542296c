"""Names for the array types used throughout."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
IntArray = NDArray[np.intp]
BoolArray = NDArray[np.bool_]
StringArray = NDArray[np.str_]
AnyArray = NDArray[Any]

__all__ = ["AnyArray", "Array", "BoolArray", "IntArray", "StringArray"]
