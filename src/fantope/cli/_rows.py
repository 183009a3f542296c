"""Rows from a file or a pipe, as they arrive, each with the position after it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

CHUNK = 1 << 16
POLL = 0.2  # seconds between looks at a file that grows, or at whether to stop
FORMATS = {".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".npy": "npy"}


@dataclass(frozen=True)
class Position:
    """Where the next row starts.

    Attributes
    ----------
    offset : int
        Bytes before it (files; for .npy and pipes 0).
    line : int
        Lines before it, header included; rows for .npy.
    whole : bool
        Whether the last line used ended in a line break.
    """

    offset: int = 0
    line: int = 0
    whole: bool = True


@dataclass(frozen=True)
class Row:
    """One row: numbers, or what is wrong with it."""

    values: list[float] | None
    fault: str
    text: str
    after: Position


def guess_format(source: str, given: str) -> str:
    """Return the format of a source from its name, unless it was given."""
    if given != "auto":
        return given
    if source == "-":
        return "csv"
    suffixes = [suffix.lower() for suffix in Path(source).suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    if suffixes and suffixes[-1] in FORMATS:
        return FORMATS[suffixes[-1]]
    raise ValueError(f"{source}: the name does not tell the format; pass --format csv, tsv, ndjson or npy.")


class Lines:
    """Lines of a source with the position after each; a pipe may be slow, burst, or end in the middle of a line.

    Parameters
    ----------
    source : str
        Path, or "-" for standard input.
    follow : bool
        Wait for more at the end of a file.
    stop : callable
        Asked while waiting: whether to give up.
    """

    def __init__(self, source: str, follow: bool, stop: Callable[[], bool]) -> None:
        self.source, self.follow, self.stop = source, follow, stop
        self.pipe = source == "-"
        self.packed = source.endswith(".gz")
        if follow and (self.pipe or self.packed):
            raise ValueError("--follow needs a plain file that grows; a pipe is followed until it closes anyway.")
        self.file: BinaryIO = (
            sys.stdin.buffer if self.pipe else gzip.open(source, "rb") if self.packed else open(source, "rb")  # type: ignore[assignment]  # noqa: SIM115
        )
        self.buffer = b""
        self.position = Position()
        self.halted = False

    def close(self) -> None:
        """Close the file; standard input is not ours to close."""
        if not self.pipe:
            self.file.close()

    def seek(self, position: Position) -> None:
        """Go on from a saved position: by offset in a plain file, by counting lines elsewhere."""
        if self.pipe or self.packed:
            while self.position.line < position.line:
                if self.next() is None:
                    raise ValueError(
                        f"{self.source}: the input ends before line {position.line}, up to which it was used already; "
                        "pass the same input again from its start, or another --checkpoint."
                    )
            return
        size = os.stat(self.source).st_size
        if size < position.offset:
            raise ValueError(
                f"{self.source}: the file is shorter ({size} bytes) than what was used already ({position.offset}); "
                "was it replaced? Pass the same file, or another --checkpoint."
            )
        if not position.whole and size > position.offset:
            raise ValueError(
                f"{self.source}: line {position.line} was used without its end and has grown since; start afresh with "
                "another --checkpoint."
            )
        self.file.seek(position.offset)
        self.buffer, self.position = b"", position

    def next(self) -> tuple[bytes, bool] | None:
        """Return the next line without its line break and whether it had one; None at the end."""
        searched = 0
        while True:
            end = self.buffer.find(b"\n", searched)
            if end >= 0:
                line, self.buffer = self.buffer[:end], self.buffer[end + 1 :]
                self.position = Position(self.position.offset + end + 1, self.position.line + 1)
                return line.removesuffix(b"\r"), True
            searched = len(self.buffer)
            chunk = self._read()
            if chunk is None:
                if not self.buffer or self.follow or self.halted:
                    return None
                line, self.buffer = self.buffer, b""
                self.position = Position(self.position.offset + len(line), self.position.line + 1, False)
                return line, False
            self.buffer += chunk

    def _read(self) -> bytes | None:
        """Return some bytes, or None at the end or when asked to stop."""
        while True:
            if not self.pipe or _ready(self.file):
                chunk = self.file.read1(CHUNK) if hasattr(self.file, "read1") else self.file.read(CHUNK)
                if chunk:
                    return bytes(chunk)
                if not self.follow:
                    return None
            if self.stop():
                self.halted = True
                return None
            if not self.pipe:
                time.sleep(POLL)

    @property
    def waiting(self) -> bool:
        """Whether getting the next line may take a while: time to work on what there is."""
        return b"\n" not in self.buffer


def _ready(file: BinaryIO) -> bool:
    """Whether a read will not block, waiting a moment for it."""
    try:
        return bool(select.select([file], [], [], POLL)[0])
    except (ValueError, OSError, io.UnsupportedOperation):  # not a real file: a test's replacement for stdin
        return True


@dataclass
class Table:
    """Parses lines of one format; ``columns`` is known after the header or the first object."""

    format: str
    header: bool = True
    columns: list[str] | None = None
    width: int | None = None

    @property
    def delimiter(self) -> str:
        """What separates fields."""
        return "\t" if self.format == "tsv" else ","

    def read_header(self, line: bytes) -> None:
        """Take the names of the columns from the first line."""
        names = next(csv.reader([line.decode("utf-8-sig", "replace")], delimiter=self.delimiter), [])
        self.columns, self.width = [name.strip() for name in names], len(names)
        if len(set(self.columns)) < len(self.columns):
            twice = sorted({name for name in self.columns if self.columns.count(name) > 1})
            raise ValueError(f"line 1: the column names must differ, {twice[0]!r} comes twice; rename one.")

    def parse(self, line: bytes) -> tuple[list[float] | None, str]:
        """Return the numbers of a row, or None and what is wrong."""
        try:
            values = self._object(line) if self.format == "ndjson" else self._fields(line)
        except _Bad as bad:
            return None, str(bad)
        if self.width is None:
            self.width = len(values)
        if len(values) != self.width:
            return None, f"{len(values)} values where {self.width} were expected"
        for k, value in enumerate(values):
            if value - value != 0.0:  # NaN or infinity
                return None, f"{value} in {self._name(k)}"
        return values, ""

    def _name(self, k: int) -> str:
        return f"column {self.columns[k]!r}" if self.columns else f"column {k + 1}"

    def _fields(self, line: bytes) -> list[float]:
        text: list[Any]
        if b'"' in line:
            text = next(csv.reader([line.decode("utf-8", "replace")], delimiter=self.delimiter), [])
        else:
            text = line.split(self.delimiter.encode())
        try:
            return [float(each) for each in text]
        except ValueError:
            for k, each in enumerate(text):
                try:
                    float(each)
                except ValueError:
                    shown = each.decode("utf-8", "replace") if isinstance(each, bytes) else each
                    if self.width is not None and len(text) != self.width:
                        raise _Bad(f"{len(text)} values where {self.width} were expected") from None
                    raise _Bad(f"{shown.strip()[:40]!r} is not a number, in {self._name(k)}") from None
            raise

    def _object(self, line: bytes) -> list[float]:
        try:
            found = json.loads(line)
        except ValueError:
            raise _Bad("the line is not JSON") from None
        if isinstance(found, dict):
            if self.columns is None and self.width is None:
                self.columns = [str(name) for name in found]
            if self.columns is None:
                raise _Bad("an object where an array was expected")
            missing = [name for name in self.columns if name not in found]
            new = [name for name in found if name not in self.columns]
            if missing or new:
                raise _Bad(f"feature {missing[0]!r} is missing" if missing else f"feature {new[0]!r} is new")
            found = [found[name] for name in self.columns]
        if not isinstance(found, list) or any(isinstance(v, bool) or not isinstance(v, int | float) for v in found):
            raise _Bad("values that are not numbers")
        return [float(value) for value in found]


class _Bad(Exception):
    """What is wrong with a row."""


def text_rows(lines: Lines, table: Table) -> Iterator[Row]:
    """Yield rows of CSV, TSV or NDJSON; empty lines are passed over."""
    while (found := lines.next()) is not None:
        line, whole = found
        if not line.strip():
            continue
        values, fault = table.parse(line)
        if values is None and not whole:
            fault = f"the input ends in the middle of the line ({fault})"
        yield Row(values, fault, line[:200].decode("utf-8", "replace"), lines.position)


class NpyRows:
    """Rows of a two-dimensional .npy array, from a file or a pipe; the position counts rows.

    Parameters
    ----------
    source : str
        Path, or "-" for standard input.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.file: BinaryIO = sys.stdin.buffer if source == "-" else open(source, "rb")  # noqa: SIM115
        try:
            self._read_header()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file; standard input is not ours to close."""
        if self.source != "-":
            self.file.close()

    def _read_header(self) -> None:
        import numpy as np

        try:
            version = np.lib.format.read_magic(self.file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, self.dtype = read(self.file)
        except ValueError as error:
            raise ValueError(f"{self.source}: this is not a .npy file ({error}).") from None
        if len(shape) != 2 or fortran or self.dtype.kind not in "fiu":
            raise ValueError(
                f"{self.source}: expected a two-dimensional numeric array in C order, got shape {shape}, {self.dtype}"
                f"{', Fortran order' if fortran else ''}; save numpy.ascontiguousarray(X, dtype=float)."
            )
        self.n_rows, self.width = shape

    def rows(self, start: int) -> Iterator[Row]:
        """Yield the rows from number ``start`` on."""
        import numpy as np

        size = self.width * self.dtype.itemsize
        for k in range(self.n_rows):
            data = self._exactly(size)
            if k < start:
                continue
            after = Position(0, k + 1)
            if len(data) < size:
                yield Row(None, "the input ends in the middle of the row", "", after)
                return
            values = np.frombuffer(data, dtype=self.dtype).astype(np.float64)
            bad = np.flatnonzero(~np.isfinite(values))
            fault = f"{values[bad[0]]} in column {bad[0] + 1}" if len(bad) else ""
            yield Row(None if len(bad) else values.tolist(), fault, "", after)

    def _exactly(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size > 0:
            data = self.file.read(size)
            if not data:
                break
            parts.append(data)
            size -= len(data)
        return b"".join(parts)
