"""Names of genes: how to see that a spreadsheet has turned them into dates."""

from __future__ import annotations

import re

import pandas as pd

MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec"
DATE = re.compile(
    rf"(\d{{1,2}}[-/ .]({MONTHS})([-/ .]\d{{2,4}})?"  # 1-Mar, 01-Mar-2021
    rf"|({MONTHS})[-/ .]\d{{1,4}}"  # Mar-01
    r"|\d{4}-\d{2}-\d{2}([ T]00:00:00(\.0+)?)?"  # 2021-03-01
    r"|\d{1,2}/\d{1,2}/\d{2,4})",  # 3/1/2021
    re.IGNORECASE,
)
SERIAL = re.compile(r"[34]\d{4}(\.0)?")  # days since 1900: 1-Mar-2021 is 44256


def mangled_names(names: pd.Index) -> pd.Index:
    """Return the names that look like dates: MARCH1 saved by a spreadsheet as 1-Mar, 2021-03-01 or 44256.

    Numbers count only where names are text for the most part; where they are numbers throughout they are identifiers.

    Examples
    --------
    >>> import pandas as pd
    >>> list(mangled_names(pd.Index(["TP53", "1-Mar", "Sep-02", "MARCHF1", "44256", "2021-03-01", "H2-K1"])))
    ['1-Mar', 'Sep-02', '44256', '2021-03-01']
    >>> list(mangled_names(pd.Index([44256, 7157, 4609])))
    []
    """
    text = [str(name).strip() for name in names]
    numbers = sum(name.replace(".0", "").isdigit() for name in text)
    serial = numbers <= 0.5 * len(text)
    return names[[bool(DATE.fullmatch(name)) or (serial and bool(SERIAL.fullmatch(name))) for name in text]]
