"""Sentences that state a finding no louder than the numbers allow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fantope.coexpression.report.numbers import counted, enumeration, short, whole

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Differential

LEVEL = 0.05  # of p-values and false discovery rates that are called a difference
NAMES = {
    "pearson": "Pearson correlations",
    "spearman": "Spearman rank correlations",
    "bicor": "biweight midcorrelations",
}


def correlation_name(parameters: Mapping[str, Any]) -> str:
    """Return what the correlations are called in a sentence."""
    return NAMES.get(str(parameters.get("correlation")), "correlations")


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
