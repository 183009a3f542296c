"""Values that are missing or infinite: found, named, and filled in only if the user says how."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse

from fantope.checks import is_sparse
from fantope.errors import FileError, Use, listed
from fantope.io.dataset import Dataset, Reading, loaded
from fantope.typing import AnyArray, IntArray

SLAB = 32 * 2**20  # bytes looked at at a time


def check_finite(data: Dataset) -> None:
    """Raise a sentence that says where the first missing or infinite value is, if there is any."""
    count, first = 0, ""
    for rows, columns, found in _not_finite(data.values):
        infinite = np.flatnonzero(np.isinf(found))
        if len(infinite):
            k = int(infinite[0])
            raise FileError(
                data.path,
                f"{data.place(int(rows[k]), int(columns[k]))} is infinite",
                remedy="correct it, or mark it as missing (NaN)",
            )
        first = first or data.place(int(rows[0]), int(columns[0]))
        count += len(found)
    if count:
        raise FileError(
            data.path,
            f"{count} value{'s are' if count > 1 else ' is'} missing, the first in {first}",
            remedy=(
                "say ", Use("impute", "mean"), " to fill in the variable's mean, or ", Use("impute", "drop"),
                " to leave out such variables",
            ),
        )  # fmt: skip


def _not_finite(values: Any) -> Iterator[tuple[IntArray, IntArray, AnyArray]]:
    """Yield rows, columns and values of entries that are not finite, a slab at a time, none of them empty."""
    if is_sparse(values):
        entries = scipy.sparse.coo_array(values)
        wrong = np.flatnonzero(~np.isfinite(entries.data))
        if len(wrong):
            rows, columns = (place[wrong].astype(np.intp) for place in entries.coords)
            yield rows, columns, entries.data[wrong]
        return
    step = max(1, SLAB // (8 * max(1, values.shape[1])))
    for start in range(0, values.shape[0], step):
        slab = np.asarray(values[start : start + step])
        rows, columns = np.nonzero(~np.isfinite(slab))
        if len(rows):
            yield rows + start, columns, slab[rows, columns]


def impute(data: Dataset, reading: Reading) -> Dataset:
    """Fill in or leave out what is missing, as ``reading`` says; without a choice nothing is looked at."""
    if reading.impute is None or np.dtype(data.values.dtype).kind != "f":
        return data
    columns = []
    for _, where, found in _not_finite(data.values):
        if np.isinf(found).any():
            check_finite(data)  # which names the place
        columns.append(where)
    if not columns:
        return data
    missing = np.unique(np.concatenate(columns))
    if reading.impute == "drop":
        return data.keep(np.setdiff1d(np.arange(data.shape[1]), missing), "missing values")
    return replace(data, values=_means_filled_in(data, missing))


def _means_filled_in(data: Dataset, missing: IntArray) -> Any:
    """Return a copy, in memory, with NaN replaced by the mean of the variable's other values."""
    sparse = is_sparse(data.values)
    values: Any = scipy.sparse.csc_array(data.values, copy=True) if sparse else np.array(loaded(data.values))
    empty = []
    for j in missing:
        column = values[:, [j]].toarray()[:, 0] if sparse else values[:, j]
        known = column[~np.isnan(column)].astype(np.float64)
        if len(known) == 0:
            empty.append(data.variables[j])
            continue
        if sparse:
            entries = slice(values.indptr[j], values.indptr[j + 1])
            values.data[entries] = np.where(np.isnan(values.data[entries]), known.mean(), values.data[entries])
        else:
            column[np.isnan(column)] = known.mean()
    if empty:
        way_out = ("say ", Use("impute", "drop"), " to leave them out")
        raise FileError(data.path, f"no value at all is known of {listed(empty)}", remedy=way_out)
    return values
