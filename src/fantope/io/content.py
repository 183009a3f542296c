"""What a file holds, before and after it is made ready for a covariance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal


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
        Variables of the same name: told apart by ".1", ".2", or only the first kept. None makes them an error.
    header, row_names : "auto", "yes" or "no"
        Whether a text table has a line of names and a column of names.
    allow_empty_chunks : bool
        Whether a chunk that a zarr store lacks stands for its fill value.
    """

    transpose: bool = False
    layer: str | None = None
    impute: Literal["mean", "drop"] | None = None
    drop_constant: bool = False
    duplicates: Literal["suffix", "first"] | None = None
    header: Literal["auto", "yes", "no"] = "auto"
    row_names: Literal["auto", "yes", "no"] = "auto"
    allow_empty_chunks: bool = False


@dataclass(frozen=True)
class Content:
    """A matrix as a file holds it, with the names of its rows and columns where it has some.

    Attributes
    ----------
    values : (rows, columns) array, memmap, scipy.sparse matrix, HDF5 dataset or zarr array
    row_names, column_names : sequence of str or None
    first_line : int or None
        In a text table, the line of the first row.
    """

    values: Any
    row_names: Sequence[str] | None = None
    column_names: Sequence[str] | None = None
    first_line: int | None = None


@dataclass(frozen=True)
class Data:
    """Samples × variables, ready for :func:`fantope.covariance`.

    Attributes
    ----------
    values : (n, p) array, memmap, scipy.sparse matrix, HDF5 dataset or zarr array
    variables, samples : list of str
    path : Path
    checksum : str
        SHA-256 of the file.
    description : str
    dropped : tuple of (variable, reason)
        Variables that were left out.
    first_line : int or None
        In a text table, the line of the first row as long as no row was left out.
    transposed : bool
        Whether the file's rows are the variables.
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
