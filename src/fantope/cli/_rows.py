"""Rows from a file or a pipe, as they arrive, each with the position after it."""

from __future__ import annotations

import gzip
import os
import select
import sys
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import BinaryIO

CHUNK = 1 << 16
LONGEST = 1 << 26  # bytes in a line: a file without line breaks is no table and must not fill the memory
LARGEST = 1e60  # fourth powers are summed up: a number whose fourth power is near the largest float spoils them all
POLL = 0.2  # seconds between looks at a file that grows, or at whether to stop
FORMATS = {".csv": "csv", ".tsv": "tsv", ".txt": "tsv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".npy": "npy"}


@dataclass(frozen=True)
class Position:
    """Where the next row starts."""

    offset: int = 0  # bytes before it; 0 for .npy
    line: int = 0  # lines before it, header included; rows for .npy
    whole: bool = True  # whether the last line used ended in a line break


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
    raise ValueError(f"{source}: the name does not show the format; pass --format csv, tsv, ndjson or npy.")


class Source:
    """Bytes of a file, or of standard input ("-") or another pipe, which may be slow, burst, or end anywhere.

    ``stop`` is asked while waiting: whether to give up. ``follow`` is to wait for more at the end of a file, ``packed``
    says that it is a .gz file.
    """

    def __init__(self, source: str, stop: Callable[[], bool], follow: bool = False, packed: bool = False) -> None:
        self.source, self.follow, self.stop, self.packed = source, follow, stop, packed
        # A named pipe, or what the shell makes of <(command), is read like standard input.
        self.pipe = source == "-" or not os.path.isfile(source)
        if follow and (self.pipe or self.packed):
            raise ValueError("--follow needs a plain file that grows; a pipe is followed until it closes anyway.")
        self.file: BinaryIO = (
            _standard_input() if source == "-" else gzip.open(source, "rb") if self.packed else open(source, "rb")  # type: ignore[assignment]  # noqa: SIM115
        )
        self.buffer = b""
        self.position = Position()
        self.halted = False
        self._ahead: _Ahead | None = None

    def close(self) -> None:
        """Close the file; standard input is not ours to close."""
        if self.source != "-":
            self.file.close()

    def _read(self) -> bytes | None:
        """Return some bytes, or None at the end or when asked to stop."""
        while True:
            if not self.pipe or self._ready():
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

    def _ready(self) -> bool:
        """Whether a read will not block, waiting a moment for it."""
        if self._ahead is None:
            try:
                return bool(select.select([self.file], [], [], POLL)[0])
            except (ValueError, OSError):  # not a real file, such as a test's standard input; or on Windows, any file
                try:
                    self._ahead = _Ahead(self.file.fileno())
                except OSError:
                    return True
        return self._ahead.ready()

    def _some(self) -> bytes:
        try:
            if self._ahead is not None:
                return self._ahead.take()
            return self.file.read1(CHUNK) if hasattr(self.file, "read1") else self.file.read(CHUNK)
        except (EOFError, zlib.error, OSError) as error:
            what = "the .gz file is cut off or damaged" if self.packed else "reading failed"
            reason = getattr(error, "strerror", None) or str(error)
            raise Unreadable(
                f"{self.source}: {what} after line {self.position.line} ({reason.rstrip('.')}); mend it "
                "and start the same command again"
            ) from None


class Lines(Source):
    """Lines of a source with the position after each."""

    def __init__(self, source: str, follow: bool, stop: Callable[[], bool]) -> None:
        super().__init__(source, stop, follow, packed=source.endswith(".gz"))

    def seek(self, position: Position) -> None:
        """Go on from a saved position: by offset in a plain file, by counting lines elsewhere."""
        if self.pipe or self.packed:
            used = self.position.offset  # of the last line, without its line break
            while self.position.line < position.line:
                if self.stop():
                    self.halted = True
                    return
                before, found = self.position.offset, self.next()
                used = before + len(found[0]) if found is not None else used
                if found is None and not self.halted:
                    raise ValueError(
                        f"{self.source}: the input ends before line {position.line}, up to which it was used already; "
                        "pass the same input again from its start, or another --checkpoint."
                    )
            # A last line that had no end may have got its line break since, but no other character.
            if (self.position.offset if position.whole else used) != position.offset:
                raise ValueError(
                    f"{self.source}: line {position.line} is not as long as it was when it was used; pass the same "
                    "input again from its start, or start afresh with another --checkpoint."
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

    @property
    def waiting(self) -> bool:
        """Whether getting the next line may take a while: time to work on what there is."""
        return b"\n" not in self.buffer


def expected(value: float) -> str:
    """Return what was expected in place of ``value``, which is not finite or too large."""
    return "a finite number was expected" if value - value != 0.0 else f"at most {LARGEST:g} in size was expected"


def _standard_input() -> BinaryIO:
    if sys.stdin is None:
        raise ValueError("standard input is closed; send rows into it, or pass a file in place of -.")
    return sys.stdin.buffer


class _Ahead:
    """Reads a pipe in a thread, where the system cannot say whether one has to wait: Ctrl-C is heeded all the same."""

    def __init__(self, handle: int) -> None:
        self._found: Queue[bytes | OSError] = Queue(1)
        self._next: bytes | OSError | None = None
        # Not by the file's own buffer: its lock, held by a thread at the end of the program, would be a fatal error.
        threading.Thread(target=self._read, args=(handle,), daemon=True).start()

    def _read(self, handle: int) -> None:
        chunk: bytes | OSError = b"some"
        while isinstance(chunk, bytes) and chunk:
            try:
                chunk = os.read(handle, CHUNK)
            except OSError as error:
                chunk = error
            self._found.put(chunk)

    def ready(self) -> bool:
        """Whether there is something to take, waiting a moment for it."""
        if self._next is None:
            with suppress(Empty):
                self._next = self._found.get(timeout=POLL)
        return self._next is not None

    def take(self) -> bytes:
        """Return what was read; b"" for ever at the end."""
        assert self._next is not None
        if isinstance(self._next, OSError):
            raise self._next
        chunk = self._next
        self._next = chunk if chunk == b"" else None
        return chunk


class NpyRows(Source):
    """Rows of a two-dimensional .npy array; the position counts rows."""

    def __init__(self, source: str, stop: Callable[[], bool]) -> None:
        super().__init__(source, stop)
        self.n_rows = self.width = 0
        try:
            self._read_header()
        except BaseException:
            self.close()
            raise

    def _read_header(self) -> None:
        import numpy as np

        try:
            version = np.lib.format.read_magic(self)  # type: ignore[arg-type]
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, self.dtype = read(self)  # type: ignore[arg-type]
        except ValueError as error:
            if self.halted:
                return
            raise ValueError(f"{self.source}: this is not a .npy file ({error}); write one with numpy.save.") from None
        if len(shape) != 2 or fortran or self.dtype.kind not in "fiu":
            raise ValueError(
                f"{self.source}: expected a two-dimensional numeric array in C order, got shape {shape}, {self.dtype}"
                f"{', Fortran order' if fortran else ''}; save numpy.ascontiguousarray(X, dtype=float) of shape "
                "(samples, variables)."
            )
        self.n_rows, self.width = shape

    @property
    def waiting(self) -> bool:
        """Whether getting the next row may take a while: time to work on what there is."""
        return len(self.buffer) < self.width * self.dtype.itemsize

    def rows(self, start: int) -> Iterator[Row]:
        """Yield the rows from number ``start`` on."""
        import numpy as np

        size = self.width * self.dtype.itemsize
        for k in range(self.n_rows):
            data = self.read(size)
            if self.halted:
                return
            if len(data) < size:
                raise Unreadable(
                    f"{self.source}: the input ends in the middle of row {k + 1} of {self.n_rows}; send all of it with "
                    "the same command again"
                )
            self.position = Position(0, k + 1)
            if k < start:
                continue
            values = np.frombuffer(data, dtype=self.dtype).astype(np.float64)
            bad = np.flatnonzero(~(np.abs(values) <= LARGEST))
            fault = f"{values[bad[0]]} in column {bad[0] + 1} where {expected(values[bad[0]])}" if len(bad) else ""
            yield Row(None if len(bad) else values.tolist(), fault, "", self.position)

    def read(self, size: int) -> bytes:
        """Return ``size`` bytes; fewer at the end, or when asked to stop while waiting for them."""
        while len(self.buffer) < size and (chunk := self._read()) is not None:
            self.buffer += chunk
        data, self.buffer = self.buffer[:size], self.buffer[size:]
        return data
