"""A table of the report: which columns of a frame, under which headings, in which form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pandas as pd

from fantope.coexpression.report.words import missing


@dataclass(frozen=True)
class Column:
    """A column of a table: what of the frame, under which heading, in which form."""

    key: str
    title: str
    form: Callable[[Any], str] | None = None  # how a number is written; None for text
    hint: str = ""  # what the heading means, for a tooltip
    wide: bool = False  # whether the cells hold sentences or lists
    genes: bool = False  # whether they hold names of genes, joined by ", "


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of a frame under headings, with a caption and a name that is unique in the report."""

    frame: pd.DataFrame
    columns: Sequence[Column]
    caption: str
    name: str

    def rows(self) -> Iterator[list[tuple[Any, Column]]]:
        """Yield each row as pairs of a value and its column."""
        for row in self.frame[[column.key for column in self.columns]].itertuples(index=False, name=None):
            yield list(zip(row, self.columns, strict=True))


def exact(value: Any) -> str:
    """Return a number for a script to sort by; nothing where there is none."""
    return "" if missing(value) else f"{float(value) + 0.0:.6g}"


def gene_link(name: str) -> str:
    """Return where the panel of a gene is.

    Examples
    --------
    >>> gene_link('A/B "x"')
    '#gene=A%2FB%20%22x%22'
    """
    return f"#gene={quote(name, safe='')}"
