"""Files about the variables of some data: a number for each pair, or the group of each."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

from fantope.checks import check_nonnegative, is_sparse
from fantope.errors import FileError, listed
from fantope.io.dataset import Dataset, Reading, loaded
from fantope.io.readers import read_content
from fantope.io.text import separator_of
from fantope.penalties import Smooth, WeightedL1
from fantope.typing import Array


def read_weights(path: Path, alpha: float, data: Dataset) -> WeightedL1:
    """Return the penalty whose weights a file holds; a FileError says what cannot be used."""
    matrix = _read_pairs(path, data, "weights")
    try:
        return WeightedL1(alpha, matrix)
    except ValueError as error:
        raise FileError(path, str(error).rstrip(".")) from None


def read_laplacian(path: Path, alpha: float, rho: float, data: Dataset) -> Smooth:
    """Return the penalty whose roughness is rho times the matrix in a file; a FileError says what cannot be used."""
    matrix = _read_pairs(path, data, "a Laplacian")
    rho = check_nonnegative("rho", rho)
    try:
        return Smooth(alpha, rho, laplacian=matrix)
    except ValueError as error:
        raise FileError(path, str(error).rstrip(".")) from None


def _read_pairs(path: Path, data: Dataset, what: str) -> Array:
    """Return the p × p matrix in a file of any format that data may have.

    A table with names is brought into the order of the data's variables, and may hold more of them; one without names
    must have them in that order.
    """
    content = read_content(path, Reading())
    values: Any = loaded(content.values)
    matrix = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
    names, p = content.column_names, data.shape[1]
    if matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] and names is not None:
        if content.row_names is not None and list(content.row_names) != list(names):
            raise FileError(
                path, "names its rows and columns differently", remedy="give both the same names in one order"
            )
        matrix = _in_order(path, matrix, [str(name).strip() for name in names], data.variables)
    if matrix.shape != (p, p):
        raise FileError(
            path,
            f"holds {what} of shape {matrix.shape}, but the data have {p} variables",
            remedy=f"give a {p} × {p} matrix, or name its columns",
        )
    return matrix


def _in_order(path: Path, matrix: Array, names: list[str], wanted: list[str]) -> Array:
    place = {name: k for k, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise FileError(
            path, f"has no column for {len(missing)} of the variables: {listed(missing)}", remedy="add them"
        )
    order = [place[name] for name in wanted]
    return matrix[np.ix_(order, order)]


def read_groups(path: Path, data: Dataset) -> list[str]:
    """Return the group of each variable of ``data``, in their order.

    The file has a line for each variable: its name and its group, separated by a tab, a comma or a semicolon, in any
    order and with others among them; or the group alone, in the order of the data. Raises FileError if the file cannot
    be read, or does not name a group for each variable.
    """
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(path, f"cannot be read ({error})") from None
    separator = separator_of(lines)
    wanted = data.variables
    if separator is None:
        if len(lines) != len(wanted):
            raise FileError(
                path, f"names {len(lines)} groups, but the data have {len(wanted)} variables",
                remedy="give a line for each, or lines of the variable's name, a comma and its group",
            )  # fmt: skip
        return lines
    cells = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=separator)]
    group = {row[0]: row[1] for row in cells if len(row) >= 2}
    missing = [name for name in wanted if not group.get(name)]
    if missing:
        raise FileError(path, f"has no group for {len(missing)} of the variables: {listed(missing)}", remedy="add them")
    return [group[name] for name in wanted]
