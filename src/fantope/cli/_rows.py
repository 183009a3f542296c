"""Rows from a file or a pipe, as they arrive, each with the position after it."""

from __future__ import annotations

import gzip
import io
import os
import select
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

CHUNK = 1 << 16
LONGEST = (
    1 << 26
)  # bytes in a line; more is not a row of numbers, and a file without line breaks must not fill the memory
LARGEST = 1e150  # a number whose square is near the end of what a float can hold spoils every sum it enters
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


class Unreadable(ValueError):
    """The input cannot be read on from here; what came before it is good."""


def guess_format(source: str, given: str) -> str:
    """Return the format of a source from its name, unless it was given; refuse what is not there or a folder."""
    if source == "-":
        return "csv" if given == "auto" else given
    if not os.path.exists(source):
        raise ValueError(f"{source}: there is no such file; pass a .csv, .tsv, .ndjson or .npy file, or - for a pipe.")
    if os.path.isdir(source):
        raise ValueError(f"{source} is a folder; pass one .csv, .tsv, .ndjson or .npy file, or - for a pipe.")
    if given != "auto":
        return given
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
        # A named pipe, or what the shell makes of <(command), is read like standard input.
        self.pipe = source == "-" or not os.path.isfile(source)
        self.packed = source.endswith(".gz")
        if follow and (self.pipe or self.packed):
            raise ValueError("--follow needs a plain file that grows; a pipe is followed until it closes anyway.")
        self.file: BinaryIO = (
            _standard_input() if source == "-" else gzip.open(source, "rb") if self.packed else open(source, "rb")  # type: ignore[assignment]  # noqa: SIM115
        )
        self.buffer = b""
        self.position = Position()
        self.halted = False

    def close(self) -> None:
        """Close the file; standard input is not ours to close."""
        if self.source != "-":
            self.file.close()

    def seek(self, position: Position) -> None:
        """Go on from a saved position: by offset in a plain file, by counting lines elsewhere."""
        if self.pipe or self.packed:
            while self.position.line < position.line:
                if self.stop():
                    self.halted = True
                    return
                if self.next() is None and not self.halted:
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
            if searched > LONGEST:
                raise Unreadable(
                    f"{self.source}: line {self.position.line + 1} has more than {LONGEST >> 20} MB, where a row of "
                    "numbers was expected; pass a text file, or --format npy"
                )
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
                chunk = self._some()
                if chunk:
                    return bytes(chunk)
                if not self.follow:
                    # Ctrl-C ends the other side of a pipe, too: such an end is not that of the input.
                    self.halted = self.stop()
                    return None
            if self.stop():
                self.halted = True
                return None
            if not self.pipe:
                time.sleep(POLL)

    def _some(self) -> bytes:
        try:
            return self.file.read1(CHUNK) if hasattr(self.file, "read1") else self.file.read(CHUNK)
        except (EOFError, zlib.error, OSError) as error:
            what = "the .gz file is cut off or damaged" if self.packed else "reading failed"
            reason = getattr(error, "strerror", None) or str(error)
            raise Unreadable(
                f"{self.source}: {what} after line {self.position.line} ({reason.rstrip('.')}); mend it "
                "and start the same command again"
            ) from None

    @property
    def waiting(self) -> bool:
        """Whether getting the next line may take a while: time to work on what there is."""
        return b"\n" not in self.buffer


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise ValueError("standard input is closed; send rows into it, or pass a file in place of -.")
    return sys.stdin.buffer


def _ready(file: BinaryIO) -> bool:
    """Whether a read will not block, waiting a moment for it."""
    try:
        return bool(select.select([file], [], [], POLL)[0])
    except (ValueError, OSError, io.UnsupportedOperation):  # not a real file: a test's replacement for stdin
        return True


class NpyRows:
    """Rows of a two-dimensional .npy array, from a file or a pipe; the position counts rows.

    Parameters
    ----------
    source : str
        Path, or "-" for standard input.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.file: BinaryIO = _standard_input() if source == "-" else open(source, "rb")  # noqa: SIM115
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
            raise ValueError(f"{self.source}: this is not a .npy file ({error}); write one with numpy.save.") from None
        if len(shape) != 2 or fortran or self.dtype.kind not in "fiu":
            raise ValueError(
                f"{self.source}: expected a two-dimensional numeric array in C order, got shape {shape}, {self.dtype}"
                f"{', Fortran order' if fortran else ''}; save numpy.ascontiguousarray(X, dtype=float) of shape "
                "(samples, variables)."
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
            bad = np.flatnonzero(~(np.abs(values) <= LARGEST))
            fault = f"{values[bad[0]]} in column {bad[0] + 1} where a finite number was expected" if len(bad) else ""
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
