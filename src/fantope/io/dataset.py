"""What a file holds, and the same made ready: samples × variables with names and where they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.sparse

from fantope.checks import is_sparse
from fantope.errors import FileError, data_frame
from fantope.typing import IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; everything that a second reading must repeat.

    Attributes
    ----------
    transpose : bool
        Rows are variables, columns are samples.
    layer : str or None
        Which matrix of a file that holds several: a layer of AnnData, an array of an .npz or a .zarr group.
    impute : "mean", "drop" or None
        Missing values: the variable's mean, or without the variables that have any. None makes them an error.
    drop_constant : bool
        Leave out variables that do not vary.
    duplicates : "suffix", "first" or None
        Variables of the same name: distinguished by ".1", ".2", or only the first kept. None makes them an error.
    header, row_names : "auto", "yes" or "no"
        Whether a text table has a line of names and a column of names.
    allow_empty_chunks : bool
        Whether a chunk that a zarr store lacks stands for its fill value.
    method, missing : str
        How S comes from the values, as for :func:`fantope.covariance`.
    """

    transpose: bool = False
    layer: str | None = None
    impute: Literal["mean", "drop"] | None = None
    drop_constant: bool = False
    duplicates: Literal["suffix", "first"] | None = None
    header: Literal["auto", "yes", "no"] = "auto"
    row_names: Literal["auto", "yes", "no"] = "auto"
    allow_empty_chunks: bool = False
    method: Literal["pearson", "spearman", "kendall", "normal-scores"] = "pearson"
    missing: Literal["error", "pairwise"] = "error"


@dataclass(frozen=True)
class Content:
    """A matrix as a file holds it, with the names of its rows and columns where it has some: what a reader returns.

    Attributes
    ----------
    values : (rows, columns) array, memmap, scipy.sparse matrix, HDF5 dataset or zarr array
    row_names, column_names : sequence of str or None
    first_line : int or None
        In a text table, the line of the first row.
    checksum : str or None
        SHA-256 of the file, if the reader has seen all of it anyway.
    layout : dict or None
        How the text of a table is arranged, as a certificate says it.
    """

    values: Any
    row_names: Sequence[str] | None = None
    column_names: Sequence[str] | None = None
    first_line: int | None = None
    checksum: str | None = None
    layout: dict[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples × variables, ready for :func:`fantope.covariance`.

    Attributes
    ----------
    values : (n, p) array, memmap, scipy.sparse matrix, HDF5 dataset or zarr array
    variables, samples : list of str
    path : Path
        The file that they come from.
    checksum : str
        SHA-256 of that file.
    description : str
        Of its format.
    dropped : tuple of (variable, reason)
        Variables that were left out.
    first_line : int or None
        In a text table, the line of the first row as long as no row was left out.
    transposed : bool
        Whether the file's rows are the variables.
    columns : (p,) array or None
        Which of the file's variables these are, if some were left out.
    layout : dict or None
        How the text of a table is arranged, as a certificate says it.
    """

    values: Any
    variables: list[str]
    samples: list[str]
    path: Path
    checksum: str
    description: str
    dropped: tuple[tuple[str, str], ...] = ()
    first_line: int | None = None
    transposed: bool = False
    columns: IntArray | None = None
    layout: dict[str, Any] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """(n, p)."""
        return (int(self.values.shape[0]), int(self.values.shape[1]))

    def place(self, row: int, column: int) -> str:
        """Return where in the file a value is, in words."""
        names = f"variable {self.variables[column]!r}, sample {self.samples[row]!r}"
        if self.first_line is None:
            return names
        return f"line {self.first_line + (column if self.transposed else row)} ({names})"

    def keep(self, columns: IntArray, reason: str) -> Dataset:
        """Return the data with these variables only; a matrix in a file is loaded."""
        kept = set(columns.tolist())
        dropped = tuple((name, reason) for k, name in enumerate(self.variables) if k not in kept)
        if len(columns) < 2:
            raise FileError(self.path, f"fewer than 2 variables are left ({reason})", remedy="check the data")
        values = loaded(self.values)
        values = scipy.sparse.csc_array(values)[:, columns] if is_sparse(values) else values[:, columns]
        return replace(
            self, values=values, variables=[self.variables[k] for k in columns], dropped=self.dropped + dropped,
            first_line=None, columns=columns if self.columns is None else self.columns[columns],
        )  # fmt: skip

    def to_frame(self) -> pd.DataFrame:
        """Return samples × variables as a pandas DataFrame, in memory."""
        values = loaded(self.values)
        values = values.toarray() if is_sparse(values) else values
        return data_frame(np.asarray(values), self.samples, self.variables)


def in_file(values: Any) -> bool:
    """Return whether a matrix is read from its file whenever it is used."""
    return not (isinstance(values, np.ndarray) or is_sparse(values))


def loaded(values: Any) -> Any:
    """Return an array in memory (or the sparse matrix itself)."""
    return values if is_sparse(values) else np.asarray(values[...])
