"""What a table of the report shows; the template writes it as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fantope.coexpression.report.numbers import missing

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Column:
    """A column of a table: what of the frame, under which heading, in which form."""

    key: str
    title: str
    form: Callable[[Any], str] | None = None
    """How a number is written; None for text."""
    hint: str = ""
    """What the heading means, for a tooltip."""
    wide: bool = False
    """Whether the cells hold sentences or lists."""


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
    return "" if missing(value) else f"{float(value):.6g}"
