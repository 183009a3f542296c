"""Tables as text: .csv and .tsv, also compressed by gzip.

One look at the first lines finds the separator and what usually goes wrong in them. The file is then read once: its
checksum, the count of fields on every line and the numbers come from the same pass. The numbers end up as one float64
matrix in memory, 8 bytes each; the text is read in slabs, so little more is needed.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from fantope.errors import FileError, need, unreadable
from fantope.io.dataset import Content, Reading
from fantope.typing import Array

BLOCK = 4 * 2**20  # bytes of lines parsed at a time
LOOKED_AT = 30  # lines
# In lower case; pandas knows the same, and so does the checker.
MISSING = {
    "", "na", "n/a", "#n/a", "#na", "#n/a n/a", "nan", "-nan", "null", "none", "<na>", "1.#ind", "-1.#ind", "1.#qnan",
    "-1.#qnan",
}  # fmt: skip
SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}


@dataclass(frozen=True)
class Head:
    """The first lines of a table."""

    separator: str
    rows: list[list[str]]  # the fields of the lines that are not blank
    blank: int  # blank lines before them
    line_size: float  # bytes of such a line, on average


@dataclass(frozen=True)
class Layout:
    """How the text of a table is arranged."""

    separator: str
    decimal: str
    header: list[str] | None
    row_names: bool
    width: int  # fields on a line of numbers
    rows: int  # about
    skip: int  # lines before the numbers


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn what damaged or foreign bytes raise into a sentence."""
    packed = unreadable(
        path, "the compressed data end early or are damaged", EOFError, zlib.error, gzip.BadGzipFile,
        remedy="copy the file again",
    )  # fmt: skip
    try:
        with packed, unreadable(path, "is not a text table", csv.Error, remedy="check what the file is"):
            yield
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 text (byte {error.object[error.start]:#04x})"
        raise FileError(path, what, remedy="save it again as UTF-8") from None


def sniff(path: Path) -> Head:
    """Return the separator and the first lines of a table, or say what is wrong with them.

    The separator is the mark that most lines have, and equally often; of several such marks a tab goes before a
    semicolon, and that before a comma, which beside them is a decimal comma.
    """
    with readable(path), gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
        found = [line.decode("utf-8-sig" if k == 0 else "utf-8") for k, line in enumerate(islice(file, LOOKED_AT))]
    full = [k for k, line in enumerate(found) if line.strip()]
    if not full:
        raise FileError(path, "is empty", remedy="check how it was written")
    lines = [found[k] for k in full]
    bare = [re.sub(r'"[^"]*"', "", line) for line in lines]
    separator = _separator(path, bare)
    usual = next(number for number, line in zip(full, bare, strict=True) if separator in line)
    for number, line in zip(full, bare, strict=True):
        others = [mark for mark in SEPARATORS if mark in line]
        if others and separator not in line and '"' not in line:
            raise FileError(
                path,
                f"mixes separators: line {usual + 1} is separated by {SEPARATORS[separator]}, line {number + 1} by "
                f"{SEPARATORS[others[0]]}",
                remedy="save the table again with one separator",
            )
    with readable(path):
        rows = list(csv.reader(lines, delimiter=separator))
    return Head(separator, rows, full[0], sum(map(len, lines)) / len(lines))


def _separator(path: Path, lines: list[str]) -> str:
    tabs = ".tsv" in [suffix.lower() for suffix in path.suffixes[-2:]]
    if tabs and "\t" in lines[0]:
        return "\t"
    best = separator_of(lines)
    if best is None:
        raise FileError(path, "has a single column", remedy="separate columns by commas, semicolons or tabs")
    if tabs and best != "\t":
        raise FileError(path, f"is separated by {SEPARATORS[best]}, not by tabs", remedy="rename it to end in .csv")
    return best


def separator_of(lines: list[str]) -> str | None:
    """Return the mark that most lines have, and equally often; None if no line has any."""
    counts = {mark: [line.count(mark) for line in lines] for mark in SEPARATORS}
    best = max(SEPARATORS, key=lambda mark: (sum(map(bool, counts[mark])), len(set(counts[mark][1:])) == 1))
    return best if any(counts[best]) else None


def read_text(path: Path, reading: Reading) -> Content:
    """Read a .csv or .tsv table, plain or gzipped."""
    layout = _layout(path, reading)
    with readable(path):
        names, values, checksum = _numbers(path, layout)
    columns = layout.header
    if columns is not None and layout.row_names and len(columns) == layout.width:
        columns = columns[1:]
    arranged = {name: getattr(layout, name) for name in ("separator", "decimal", "skip", "row_names", "width")}
    return Content(values, names, columns, layout.skip + 1, checksum, arranged)


def _layout(path: Path, reading: Reading) -> Layout:
    found = sniff(path)
    head = found.rows
    # A comma between digits is a decimal comma where commas do not separate.
    fields = [field for line in head[1:] for field in line]
    comma = found.separator != "," and any(re.fullmatch(r"\s*[-+]?\d+,\d+\s*", field) for field in fields)
    decimal = "," if comma else "."
    header = head[0] if _has_header(head, decimal, reading) else None
    body = head[1:] if header is not None else head
    if not body:
        raise FileError(path, "holds one line of names and no numbers", remedy="check how it was written")
    width = len(body[0])
    if width < 2:
        raise FileError(path, "has a single column", remedy="separate columns by commas, semicolons or tabs")
    if header is not None and len(header) not in (width, width - 1):
        raise FileError(
            path, f"line 1 has {len(header)} fields, but line 2 has {width}", remedy="give every line as many"
        )
    if header is not None and len(header) == width - 1:
        named = True  # as R writes it
    elif reading.row_names != "auto":
        named = reading.row_names == "yes"
    else:
        named = (header is not None and header[0].strip() == "") or not is_number(body[0][0], decimal)
    rows = int(path.stat().st_size / found.line_size * (3 if path.suffix == ".gz" else 1.05)) + LOOKED_AT
    return Layout(found.separator, decimal, header, named, width, rows, found.blank + int(header is not None))


def is_number(field: str, decimal: str = ".") -> bool:
    """Return whether a field is a number or a missing value."""
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
    if first[0].strip() == "" or not all(is_number(field, decimal) for field in first[1:]):
        return True
    counted = [field.strip() for field in first[1:]]
    if any(counted == [str(start + k) for k in range(len(counted))] for start in (0, 1)) and len(counted) > 2:
        return True
    # A lone name above numbers: the header of a table whose first column is numeric.
    return not is_number(first[0], decimal) and len(head) > 1 and is_number(head[1][0], decimal)


class _Hashed(io.RawIOBase):
    """The bytes of a file, hashed as they are read."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.digest = file, hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self.file.read(len(buffer))
        self.digest.update(data)
        buffer[: len(data)] = data
        return len(data)


def _blocks(path: Path, layout: Layout, file: Any) -> Iterator[bytes]:
    """Yield the lines of numbers, many at a time; one that has not as many fields as the first is refused."""
    mark, width, before = layout.separator.encode(), layout.width, layout.skip
    while lines := file.readlines(BLOCK):
        quotes = sum(line.count(b'"') for line in lines)
        while quotes % 2 and (more := file.readline()):  # a line break inside quotes
            lines.append(more)
            quotes += more.count(b'"')
        for number, line in enumerate(lines, start=before + 1):
            fields = line.count(mark) + 1
            # Inside quotes a separator is text; the parser sees to those.
            if fields != width and line.strip(b"\r\n ") and b'"' not in line:
                raise FileError(
                    path,
                    f"line {number} has {fields} of {width} fields",
                    remedy="the file may be cut off: write it again",
                )
        before += len(lines)
        yield b"".join(lines)


def _parsed(path: Path, text: str, layout: Layout) -> Any:
    """Return lines of a table as a frame."""
    # Not from the file: pandas takes Ctrl-C in a read that Python does for an error of the file.
    pandas = need("pandas")
    try:
        slab = pandas.read_csv(
            io.StringIO(text), sep=layout.separator, decimal=layout.decimal, header=None, low_memory=False,
            converters={0: str} if layout.row_names else None, float_precision="round_trip", skipinitialspace=True,
        )  # fmt: skip
    except pandas.errors.ParserError as error:
        raise FileError(
            path, f"cannot be split into columns ({error})", remedy="give every line as many fields"
        ) from None
    if slab.shape[1] != layout.width:
        raise FileError(path, "cannot be split into columns", remedy="give every line as many fields")
    return slab


def _numbers(path: Path, layout: Layout) -> tuple[list[str] | None, Array, str]:
    """Return the row names, the matrix and the file's checksum, a slab of lines at a time."""
    first = int(layout.row_names)
    values = np.empty((layout.rows, layout.width - first))
    names: list[str] = []
    filled = 0
    with path.open("rb") as plain:
        hashed = _Hashed(plain)
        raw = io.BufferedReader(hashed, 2**20)
        file: Any = gzip.GzipFile(fileobj=raw) if path.suffix == ".gz" else raw
        for _ in range(layout.skip):
            file.readline()
        for block in _blocks(path, layout, file):
            if b"\0" in block:  # where pandas would take a field to end
                raise FileError(path, "is not a text table (it has a NUL character)", remedy="write it again")
            text = block.decode("utf-8" if filled or layout.skip else "utf-8-sig")
            if not text.strip():
                continue
            slab = _parsed(path, text, layout)
            if first:
                names.extend(slab[0])
            if filled + len(slab) > len(values):  # in place: the system moves pages, not numbers
                values.resize((int(1.25 * (filled + len(slab))), values.shape[1]), refcheck=False)
            line = filled + 1 + layout.skip
            values[filled : filled + len(slab)] = _converted(path, slab.iloc[:, first:], layout, line)
            filled += len(slab)
        while raw.read(2**20):  # behind the end of the compressed data
            pass
    values.resize((filled, values.shape[1]), refcheck=False)
    return (names if first else None), values, hashed.digest.hexdigest()


def _converted(path: Path, slab: Any, layout: Layout, line: int) -> Array:
    """Return a slab as numbers, or name the first cell that is none."""
    pandas = need("pandas")
    texts = [j for j, kind in enumerate(slab.dtypes) if getattr(kind, "kind", "O") not in "iufb"]
    for j in texts:
        column = slab.iloc[:, j]
        numbers = pandas.to_numeric(column, errors="coerce")
        wrong = np.flatnonzero((numbers.isna() & column.notna()).to_numpy())
        if len(wrong):
            raise FileError(
                path,
                f"line {line + int(wrong[0])}, column {_column_name(layout, j)} holds the text "
                f"{str(column.iloc[wrong[0]])[:40]!r}",
                remedy="leave that column out, or encode it as numbers",
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
