"""From data to S, with sentences that name the file."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from fantope.checks import is_sparse
from fantope.errors import FileError, InputError, Use, listed
from fantope.io.dataset import Dataset, Reading, loaded
from fantope.io.missing import check_finite
from fantope.operators import Covariance, covariance
from fantope.operators.ranks import Method
from fantope.solvers.validation import check_covariance
from fantope.typing import IntArray

Kind = Literal["covariance", "correlation", "precomputed"]


def operator(
    data: Dataset,
    kind: Kind,
    *,
    center: bool = True,
    drop_constant: bool = False,
    method: Method = "pearson",
    missing: Literal["error", "pairwise"] = "error",
) -> tuple[Dataset, Covariance]:
    """Return S and the data that it is about, which are fewer variables if constant ones were dropped.

    Parameters
    ----------
    data : Dataset
    kind : {"covariance", "correlation", "precomputed"}
        "precomputed": the file holds S itself.
    center : bool, default True
    drop_constant : bool, default False
    method, missing : str
        As for :func:`fantope.covariance`.

    Raises
    ------
    FileError
        For missing or infinite values, for constant variables where they have no correlation, for a file that cannot
        be read to its end, for a precomputed matrix that is none.
    """
    try:
        if kind == "precomputed":
            return data, _precomputed(data)
        if drop_constant:
            constant = _constant(data, center, missing)
            if len(constant):
                data = data.keep(np.setdiff1d(np.arange(data.shape[1]), constant), "constant")
        if missing == "error" and method == "pearson":
            return data, covariance(data.values, kind=kind, center=center)
        values = loaded(data.values)
        if missing == "pairwise":
            return data, covariance(values, kind=kind, center=center, method=method, missing="pairwise")
        return data, covariance(values, kind=kind, center=center, method=method)
    except FileError:
        raise
    except ValueError as error:
        if missing == "error":
            check_finite(data)
        if kind == "correlation" and len(constant := _constant(data, center, missing)):
            names = [data.variables[j] for j in constant]
            raise FileError(
                data.path,
                f"{len(names)} constant variable{'s have' if len(names) > 1 else ' has'} no correlation: "
                f"{listed(names)}",
                remedy=("say ", Use("drop_constant", True), " to leave them out, or ", Use("kind", "covariance")),
            ) from None
        parts = (error.problem, error.remedy) if isinstance(error, InputError) else (str(error), "")
        raise FileError(data.path, parts[0], remedy=parts[1]) from None
    except (OSError, RuntimeError) as error:
        raise FileError(data.path, f"cannot be read to its end ({error})", remedy="write the file again") from None


def making(reading: Reading) -> dict[str, Any]:
    """Return the arguments of :func:`operator` that a reading holds."""
    return {name: getattr(reading, name) for name in ("drop_constant", "method", "missing")}


def _constant(data: Dataset, center: bool, missing: str) -> IntArray:
    if missing == "pairwise":
        values = loaded(data.values)
        return np.flatnonzero(np.fmin.reduce(values) == np.fmax.reduce(values))  # of the values that are there
    return np.flatnonzero(covariance(data.values, kind="covariance", center=center).constant)


def _precomputed(data: Dataset) -> Covariance:
    n, p = data.shape
    if n != p:
        what = (f"is {n} × {p}, but ", Use("kind", "precomputed"), " takes S itself, a square matrix")
        raise FileError(data.path, what)
    matrix: Any = loaded(data.values)
    return check_covariance(matrix.toarray() if is_sparse(matrix) else np.array(matrix, dtype=np.float64))
