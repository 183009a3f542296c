"""Tables as text: .csv and .tsv, also compressed by gzip.

The numbers end up as one float64 matrix in memory, 8 bytes each; the text is read in slabs, so little more is needed.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from fantope.io.content import Content, Reading
from fantope.io.errors import FileError, need
from fantope.typing import Array

SLAB = 32 * 2**20  # bytes of numbers converted at a time
MISSING = {"", "na", "n/a", "#n/a", "nan", "-nan", "null", "none", "<na>"}  # lower case; pandas knows the same
BROKEN = (EOFError, zlib.error, gzip.BadGzipFile)


@dataclass(frozen=True)
class Layout:
    """How the text of a table is arranged."""

    separator: str
    decimal: str
    header: list[str] | None
    row_names: bool
    width: int  # fields on a line of numbers
    rows: int
    skip: int  # lines before the numbers


def read_delimited(path: Path, reading: Reading) -> Content:
    """Read a .csv or .tsv table, plain or gzipped."""
    try:
        layout = _layout(path, reading)
        names, values = _numbers(path, layout)
    except BROKEN as error:
        raise FileError(path, f"the compressed data end early or are damaged ({error}); copy the file again.") from None
    except UnicodeDecodeError as error:
        raise FileError(
            path, f"is not UTF-8 text (byte {error.object[error.start]:#04x}); save it again as UTF-8."
        ) from None
    except csv.Error as error:
        raise FileError(path, f"is not a text table ({error}); check what the file is.") from None
    columns = layout.header
    if columns is not None and layout.row_names and len(columns) == layout.width:
        columns = columns[1:]
    return Content(values, names, columns, layout.skip + 1)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        yield file


def _head(path: Path, separator: str | None) -> tuple[str, list[list[str]], int]:
    """Return the separator, the fields of the first lines and the number of blank lines before them."""
    with _opened(path) as file:
        lines = [line.decode("utf-8-sig" if k == 0 else "utf-8") for k, line in enumerate(islice(file, 20))]
    full = [k for k, line in enumerate(lines) if line.strip()]
    if not full:
        raise FileError(path, "is empty; check how it was written.")
    lines = [lines[k] for k in full]
    if separator is None:
        bare = re.sub(r'"[^"]*"', "", lines[0])
        separator = max(",;\t", key=bare.count)
    return separator, list(csv.reader(lines, delimiter=separator)), full[0]


def _layout(path: Path, reading: Reading) -> Layout:
    separator, head, blank = _head(path, "\t" if ".tsv" in path.suffixes[-2:] else None)
    # A comma between digits is a decimal comma where commas do not separate.
    fields = [field for line in head[1:] for field in line]
    comma = separator != "," and any(re.fullmatch(r"\s*[-+]?\d+,\d+\s*", field) for field in fields)
    decimal = "," if comma else "."
    header = head[0] if _has_header(head, decimal, reading) else None
    body = head[1:] if header is not None else head
    if not body:
        raise FileError(path, "holds one line of names and no numbers; check how it was written.")
    width = len(body[0])
    if width < 2:
        raise FileError(path, "has a single column; separate columns by commas, semicolons or tabs.")
    if header is not None and len(header) not in (width, width - 1):
        raise FileError(path, f"line 1 has {len(header)} fields, but line 2 has {width}; give every line as many.")
    skip = blank + int(header is not None)
    rows = _count_rows(path, separator, width, skip)
    if header is not None and len(header) == width - 1:
        named = True  # as R writes it
    elif reading.row_names != "auto":
        named = reading.row_names == "yes"
    else:
        named = (header is not None and header[0].strip() == "") or not _is_number(body[0][0], decimal)
    return Layout(separator, decimal, header, named, width, rows, skip)


def _is_number(field: str, decimal: str) -> bool:
    text = field.strip().replace(decimal, ".")
    if text.lower() in MISSING:
        return True
    try:
        float(text)
    except ValueError:
        return False
    return True


def _has_header(head: list[list[str]], decimal: str, reading: Reading) -> bool:
    """Return whether the first line holds names: text, or numbers that only count the columns."""
    if reading.header != "auto":
        return reading.header == "yes"
    first = head[0]
    if len(head) > 1 and len(first) == len(head[1]) - 1:
        return True
    if first[0].strip() == "" or not all(_is_number(field, decimal) for field in first[1:]):
        return True
    counted = [field.strip() for field in first[1:]]
    if any(counted == [str(start + k) for k in range(len(counted))] for start in (0, 1)) and len(counted) > 2:
        return True
    # A lone name above numbers: the header of a table whose first column is numeric.
    return not _is_number(first[0], decimal) and len(head) > 1 and _is_number(head[1][0], decimal)


def _count_rows(path: Path, separator: str, width: int, skip: int) -> int:
    """Count the lines of numbers and check that each has as many fields as the first."""
    mark, rows = separator.encode(), 0
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            if number <= skip or not line.strip(b"\r\n "):
                continue
            rows += 1
            fields = line.count(mark) + 1
            if fields != width and b'"' not in line:  # inside quotes a separator is text; the parser sees to those
                raise FileError(
                    path, f"line {number} has {fields} of {width} fields; the file may be cut off: write it again."
                )
    return rows


def _numbers(path: Path, layout: Layout) -> tuple[list[str] | None, Array]:
    """Return the row names and the matrix, a slab of lines at a time."""
    pandas = need("pandas")
    first = int(layout.row_names)
    values = np.empty((layout.rows, layout.width - first))
    names: list[str] = []
    filled = 0
    with _opened(path) as file:
        slabs = pandas.read_csv(
            file, sep=layout.separator, decimal=layout.decimal, header=None, skiprows=layout.skip,
            converters={0: str} if first else None, chunksize=max(1, SLAB // (8 * layout.width)), low_memory=False,
            float_precision="round_trip", encoding="utf-8-sig", skipinitialspace=True,
        )  # fmt: skip
        try:
            for slab in slabs:
                if first:
                    names.extend(slab[0])
                line = filled + 1 + layout.skip
                values[filled : filled + len(slab)] = _converted(path, slab.iloc[:, first:], layout, line)
                filled += len(slab)
        except pandas.errors.ParserError as error:
            raise FileError(path, f"cannot be split into columns ({error}); give every line as many fields.") from None
    return (names if first else None), values[:filled]


def _converted(path: Path, slab: Any, layout: Layout, line: int) -> Array:
    """Return a slab as numbers, or name the first cell that is none."""
    pandas = need("pandas")
    texts = [j for j, kind in enumerate(slab.dtypes) if getattr(kind, "kind", "O") not in "iufb"]
    for j in texts:
        column = slab.iloc[:, j]
        numbers = pandas.to_numeric(column, errors="coerce")
        wrong = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
        if len(wrong):
            where = line + int(wrong[0])
            raise FileError(
                path,
                f"line {where}, column {_column_name(layout, j)} holds the text {str(column.iloc[wrong[0]])[:40]!r}; "
                "leave that column out, or encode it as numbers.",
            )
    if texts:
        return np.column_stack([pandas.to_numeric(slab.iloc[:, j]).to_numpy(float) for j in range(slab.shape[1])])
    return np.asarray(slab.to_numpy(dtype=np.float64))


def _column_name(layout: Layout, column: int) -> str:
    offset = int(layout.row_names)
    if layout.header is None:
        return str(column + offset + 1)
    names = layout.header[len(layout.header) - (layout.width - offset) :]
    return repr(names[column])
