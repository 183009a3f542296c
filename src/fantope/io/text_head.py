"""The first lines of a text table, looked at for what usually goes wrong in them."""

from __future__ import annotations

import csv
import gzip
import re
from itertools import islice
from pathlib import Path

from fantope.io.delimited import BROKEN, MISSING
from fantope.io.errors import FileError

LOOKED_AT = 30  # lines
NAMES = {"\t": "tabs", ",": "commas", ";": "semicolons"}


def check_text_head(path: Path, *, numbers: bool = True) -> str:
    """Return the separator of a table, or say what is wrong with its first lines.

    Parameters
    ----------
    path : Path
    numbers : bool, default True
        Whether all but names are numbers; then a second line of names is looked for as well.
    """
    lines = [line for line in _lines(path) if line.strip()]
    if not lines:
        raise FileError(path, "is empty; check how it was written.")
    separators = [_separator(line) for line in lines]
    first = separators[0]
    for number, (line, separator) in enumerate(zip(lines, separators, strict=True), start=1):
        if separator and first and separator != first and first not in _bare(line):
            raise FileError(
                path,
                f"mixes separators: line 1 is separated by {NAMES[first]}, line {number} by {NAMES[separator]}; save "
                "the table again with one separator.",
            )
    if not first:
        raise FileError(path, "has a single column; separate columns by commas, semicolons or tabs.")
    if ".tsv" in path.name.lower() and first != "\t":
        raise FileError(path, f"is separated by {NAMES[first]}, not by tabs; rename it to end in .csv.")
    if numbers:
        _check_second_header(path, list(csv.reader(lines, delimiter=first)))
    return first


def _lines(path: Path) -> list[str]:
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            return [line.decode("utf-8-sig", errors="replace") for line in islice(file, LOOKED_AT)]
    except BROKEN as error:
        raise FileError(path, f"the compressed data end early or are damaged ({error}); copy the file again.") from None


def _bare(line: str) -> str:
    return re.sub(r'"[^"]*"', "", line)


def _separator(line: str) -> str:
    """Return what a line has most of; a comma beside tabs or semicolons is a decimal comma."""
    bare = _bare(line)
    for mark in "\t;":
        if mark in bare:
            return mark
    return "," if "," in bare else ""


def _check_second_header(path: Path, rows: list[list[str]]) -> None:
    """Refuse a table whose second line holds names above lines of numbers."""
    if len(rows) < 3:
        return
    second, third = rows[1][1:], rows[2][1:]
    if second and third and _share(second) < 0.5 and _share(third) > 0.5:
        raise FileError(
            path,
            f"line 2 ({', '.join(rows[1][:4])[:60]}, …) looks like a second header row; keep one row of names, and put "
            "what else is known of the samples into the table for --groups.",
        )


def _share(fields: list[str]) -> float:
    """Return the share of fields that are numbers or missing."""
    return sum(_is_number(field) for field in fields) / len(fields)


def _is_number(field: str) -> bool:
    text = field.strip().replace(",", ".")
    try:
        float(text)
    except ValueError:
        return text.lower() in MISSING
    return True
