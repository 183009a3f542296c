"""Numbers and counts as a reader wants them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any


def fixed(digits: int) -> Callable[[Any], str]:
    """Return a format with this many digits after the point and a true minus sign; a dash where there is no number.

    Examples
    --------
    >>> fixed(2)(-1.234), fixed(2)(-0.001), fixed(2)(None)
    ('−1.23', '0.00', '–')
    """
    # Adding zero turns a negative zero into a plain one.
    return lambda value: "–" if missing(value) else f"{round(float(value), digits) + 0.0:.{digits}f}".replace("-", "−")


def short(value: Any) -> str:
    """Return a number to two significant digits, as suits p-values and gaps; a dash where there is none.

    Examples
    --------
    >>> short(0.00123), short(2.4e-9), short(float("nan"))
    ('0.0012', '2.4e−9', '–')
    """
    if missing(value):
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
    return "< 1e−6" if not missing(value) and value < 1e-6 else short(value)


def plain(value: Any) -> str:
    """Return a number as it was given."""
    return f"{value:g}"


def whole(value: Any) -> str:
    """Return an integer with narrow, unbreakable spaces between the thousands; a dash where there is none."""
    return "–" if missing(value) else f"{int(value):,}".replace(",", "\u202f")


def missing(value: Any) -> bool:
    """Return whether there is no number."""
    return value is None or (isinstance(value, float) and math.isnan(value))


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
