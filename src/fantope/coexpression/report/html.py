"""Small pieces of HTML. Every text that comes from data passes through `escape` here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape as _escape
from typing import Any

import pandas as pd


def escape(value: object) -> str:
    """Return text that is safe inside elements and quoted attributes.

    Examples
    --------
    >>> escape("<b> & 'co'")
    '&lt;b&gt; &amp; &#x27;co&#x27;'
    """
    return _escape(str(value), quote=True)


def fixed(digits: int) -> Callable[[Any], str]:
    """Return a format with this many digits after the point and a true minus sign; a dash where there is no number.

    Examples
    --------
    >>> fixed(2)(-1.234), fixed(2)(-0.001), fixed(2)(None)
    ('−1.23', '0.00', '–')
    """
    # Adding zero turns a negative zero into a plain one.
    return lambda value: "–" if _missing(value) else f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def short(value: Any) -> str:
    """Return a number to two significant digits, as suits p-values and gaps; a dash where there is none.

    Examples
    --------
    >>> short(0.00123), short(2.4e-9), short(float("nan"))
    ('0.0012', '2.4e−9', '–')
    """
    if _missing(value):
        return "–"
    text = f"{value:.2g}"
    mantissa, e, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}".replace("-", "−") if e else text.replace("-", "−")


def gap(value: Any) -> str:
    """Return a relative gap; what is below a millionth is not worth its digits.

    Examples
    --------
    >>> gap(0.00073), gap(6.8e-14)
    ('0.00073', '< 1e−6')
    """
    return "< 1e−6" if not _missing(value) and value < 1e-6 else short(value)


def whole(value: Any) -> str:
    """Return an integer with narrow, unbreakable spaces between the thousands; a dash where there is none."""
    return "–" if _missing(value) else f"{int(value):,}".replace(",", "\u202f")


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


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


def table(
    frame: pd.DataFrame, columns: Sequence[Column], caption: str, name: str, *, search: str = "", sortable: bool = True
) -> str:
    """Return a table whose columns sort, with a search field above it if ``search`` says what for."""
    head = "".join(_heading(column, sortable) for column in columns)
    body = "".join(
        "<tr>" + "".join(_cell(value, column) for value, column in zip(row, columns, strict=True)) + "</tr>"
        for row in frame[[column.key for column in columns]].itertuples(index=False, name=None)
    )
    field = (
        f'<p class="search"><label for="{name}-search">{escape(search)}</label> '
        f'<input type="search" id="{name}-search" data-table="{name}" autocomplete="off" spellcheck="false"> '
        f'<span class="matches" role="status" data-matches="{name}"></span></p>'
        if search
        else ""
    )
    return (
        f'{field}<div class="wide" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f'<table id="{name}"{" data-sortable" if sortable else ""}><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _heading(column: Column, sortable: bool) -> str:
    side = "" if column.form is None else ' class="number"'
    hint = f' title="{escape(column.hint)}"' if column.hint else ""
    text = escape(column.title)
    inner = f'<button type="button"{hint}>{text}</button>' if sortable else f"<span{hint}>{text}</span>"
    return f'<th scope="col"{side}>{inner}</th>'


def _cell(value: Any, column: Column) -> str:
    if column.form is None:
        return f'<td class="long">{escape(value)}</td>' if column.wide else f"<td>{escape(value)}</td>"
    exact = "" if _missing(value) else f"{float(value):.6g}"
    return f'<td class="number" data-value="{exact}">{escape(column.form(value))}</td>'


def paragraphs(*texts: str) -> str:
    """Return paragraphs of plain text; empty ones are left out."""
    return "".join(f"<p>{escape(text)}</p>" for text in texts if text)


def items(texts: Sequence[str]) -> str:
    """Return a list of plain texts."""
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in texts)}</ul>" if texts else ""


def enumeration(names: Sequence[str]) -> str:
    """Return "a, b and c".

    Examples
    --------
    >>> enumeration(["a"]), enumeration(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def counted(number: int, noun: str) -> str:
    """Return "1 gene" or "1 200 genes".

    Examples
    --------
    >>> counted(1, "gene"), counted(0, "gene")
    ('1 gene', '0 genes')
    """
    return f"{whole(number)} {noun}{'' if number == 1 else 's'}"
