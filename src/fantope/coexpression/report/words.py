"""Numbers as a reader wants them, and sentences that state a finding no louder than the numbers allow."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fantope.coexpression.analysis.result import Coexpression, Differential

LEVEL = 0.05  # of p-values and false discovery rates that are called a difference
VERDICTS = {"in": "proven in use", "out": "proven not in use", "undecided": "undecided"}
NAMES = {
    "pearson": "Pearson correlations",
    "spearman": "Spearman rank correlations",
    "bicor": "biweight midcorrelations",
}


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


def percent(value: Any) -> str:
    """Return a share in per cent.

    Examples
    --------
    >>> percent(0.974), percent(0.0061)
    ('97\u202f%', '0.6\u202f%')
    """
    return "–" if missing(value) else f"{100 * value:{'.0f' if value >= 0.1 else '.1f'}}\u202f%"


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


def correlation_name(parameters: Mapping[str, Any]) -> str:
    """Return what the correlations are called in a sentence."""
    return NAMES.get(str(parameters.get("correlation")), "correlations")


def chosen_alphas(result: Coexpression) -> str:
    """Return the chosen alpha, for each group where they have their own."""
    alphas = {name: group.solution.alpha for name, group in result.groups.items()}
    if len(set(alphas.values())) == 1:
        return f"{result.alpha:g}"
    return enumeration([f"{alpha:.3g} in {name}" for name, alpha in alphas.items()])


def structure(pair: Differential) -> str:
    """Return the verdict of the two-sample test."""
    test = f"two-sample test by {whole(len(pair.null))} permutations, p = {short(pair.p_value)}"
    if pair.p_value <= LEVEL:
        return f"The correlation structure differs between {pair.first} and {pair.second} ({test})."
    return (
        f"No difference in overall correlation structure between {pair.first} and {pair.second} was found ({test}); "
        "that does not prove that there is none."
    )


def changes(pair: Differential) -> str:
    """Return how many modules and genes changed, calmly if none did."""
    modules, genes = (int((table["fdr"] <= LEVEL).sum()) for table in (pair.modules, pair.genes))
    if not modules and not genes:
        tables = (pair.modules, pair.genes)
        least = min((float(table["fdr"].min()) for table in tables if len(table)), default=float("nan"))
        return (
            f"No module and no gene changes its co-expression between {pair.first} and {pair.second} at a false "
            f"discovery rate of {LEVEL:g} (the smallest is {short(least)})."
        )
    parts = [
        f"{whole(found)} of {counted(len(table), noun)}"
        for found, table, noun in ((modules, pair.modules, "module"), (genes, pair.genes, "tested gene"))
    ]
    return (
        f"{enumeration(parts)} change their co-expression between {pair.first} and {pair.second} at a false discovery "
        f"rate of {LEVEL:g}."
    )
