"""Parts of data, and whether they are in memory."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse

from fantope.io.content import Data
from fantope.io.errors import FileError
from fantope.typing import IntArray


def is_sparse(values: Any) -> bool:
    """Return whether a matrix is scipy.sparse."""
    # Not scipy's own function at each place: the type that it narrows to has no methods.
    return bool(scipy.sparse.issparse(values))


def in_file(values: Any) -> bool:
    """Return whether a matrix is read from its file whenever it is used."""
    return not (isinstance(values, np.ndarray) or is_sparse(values))


def loaded(values: Any) -> Any:
    """Return an array in memory (or the sparse matrix itself)."""
    return values if is_sparse(values) else np.asarray(values[...])


def keep(data: Data, columns: IntArray, reason: str) -> Data:
    """Return the data with these variables only; a matrix in a file is loaded."""
    kept = set(columns.tolist())
    dropped = tuple((name, reason) for k, name in enumerate(data.variables) if k not in kept)
    if len(columns) < 2:
        raise FileError(data.path, f"fewer than 2 variables are left ({reason}); check the data.")
    values = loaded(data.values)
    values = scipy.sparse.csc_array(values)[:, columns] if is_sparse(values) else values[:, columns]
    return replace(
        data, values=values, variables=[data.variables[k] for k in columns], dropped=data.dropped + dropped,
        first_line=None,
    )  # fmt: skip
