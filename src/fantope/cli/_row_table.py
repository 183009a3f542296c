"""Numbers from lines of CSV, TSV or NDJSON, or what is wrong with a line."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fantope.cli._rows import LARGEST, Lines, Row, expected


@dataclass
class LineParser:
    """Parses lines of one format; ``columns`` and ``width`` are known after the header or the first row accepted."""

    format: str
    columns: list[str] | None = None
    width: int | None = None

    @property
    def delimiter(self) -> str:
        """What separates fields."""
        return "\t" if self.format == "tsv" else ","

    def read_header(self, line: bytes) -> None:
        """Take the names of the columns from the first line."""
        separator = {"\t": "tabs", ",": "commas"}[self.delimiter]
        try:
            text = line.decode("utf-8-sig")
            names = [name.strip() for name in next(csv.reader([text], delimiter=self.delimiter), [])]
        except (UnicodeDecodeError, csv.Error) as error:
            raise ValueError(f"expected column names in UTF-8 separated by {separator}, got something else ({error}); "
                             "convert the file, or pass --format.") from None  # fmt: skip
        if any(ord(character) < 32 and character != "\t" for character in text):
            raise ValueError(f"expected column names separated by {separator}, got bytes that are not text; convert "
                             "the file, or pass --format.")  # fmt: skip
        if len(names) < 2:
            raise ValueError(f"expected 2 or more column names separated by {separator}, got {text[:40]!r} as the only "
                             "one; change the separator, or pass --format.")  # fmt: skip
        if all(_is_number(name) for name in names) and not all(name.isdecimal() for name in names):
            raise ValueError(f"expected column names, got numbers ({names[0]}, {names[1]}, …); pass --no-header if the "
                             "first line is data, or name the columns.")  # fmt: skip
        if len(set(names)) < len(names):
            twice = next(name for k, name in enumerate(names) if name in names[:k])
            raise ValueError(f"the column names must differ, {twice!r} comes twice; rename one, or pass --no-header if "
                             "the first line is data.")  # fmt: skip
        self.columns, self.width = names, len(names)

    def parse(self, line: bytes) -> tuple[list[float] | None, str]:
        """Return the numbers of a row, or None and what is wrong."""
        known = self.columns
        try:
            values = self._object(line) if self.format == "ndjson" else self._fields(line)
            self._check(values)
        except _Bad as bad:
            self.columns = known  # a row that is not used does not say what the others must be
            return None, str(bad)
        self.width = len(values)
        return values, ""

    def _check(self, values: list[float]) -> None:
        if self.width is not None and len(values) != self.width:
            raise _Bad(f"{len(values)} values where {self.width} were expected")
        if not values:
            raise _Bad("no values where a row of numbers was expected")
        for k, value in enumerate(values):
            if not abs(value) <= LARGEST:  # NaN and infinity, too
                raise _Bad(f"{value} in {self._name(k)} where {expected(value)}")

    def _name(self, k: int) -> str:
        return f"column {self.columns[k]!r}" if self.columns and k < len(self.columns) else f"column {k + 1}"

    def _fields(self, line: bytes) -> list[float]:
        text: list[Any]
        if b'"' in line:
            try:
                text = next(csv.reader([line.decode("utf-8", "replace")], delimiter=self.delimiter), [])
            except csv.Error as error:
                raise _Bad(f"the line is not {self.format} ({error})") from None
        else:
            text = line.split(self.delimiter.encode())
        try:
            return [float(each) for each in text]
        except ValueError:
            if self.width is not None and len(text) != self.width:
                raise _Bad(f"{len(text)} values where {self.width} were expected") from None
            k, wrong = next((k, each) for k, each in enumerate(text) if not _is_number(each))
            shown = wrong.decode("utf-8", "replace") if isinstance(wrong, bytes) else wrong
            raise _Bad(f"{shown.strip()[:40]!r} is not a number, in {self._name(k)}") from None

    def _object(self, line: bytes) -> list[float]:
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            raise _Bad("the line is not JSON; an object or an array of numbers was expected") from None
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
        if not isinstance(found, list):
            raise _Bad(f"{str(found)[:40]!r} where an object or an array of numbers was expected")
        for k, value in enumerate(found):
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise _Bad(f"{json.dumps(value)[:40]} is not a number, in {self._name(k)}")
        try:
            return [float(value) for value in found]
        except OverflowError:
            raise _Bad("an integer that is too large for a float") from None


def _is_number(text: str | bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


class _Bad(Exception):
    """What is wrong with a row."""


def text_rows(lines: Lines, table: LineParser) -> Iterator[Row]:
    """Yield rows of CSV, TSV or NDJSON; empty lines are passed over."""
    while (found := lines.next()) is not None:
        line, whole = found
        if not line.strip():
            continue
        values, fault = table.parse(line)
        if values is None and not whole:
            fault = f"the input ends in the middle of the line ({fault})"
        yield Row(values, fault, line[:200].decode("utf-8", "replace"), lines.position)
