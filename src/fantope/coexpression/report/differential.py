"""What differs between two groups, said no louder than the numbers allow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fantope.coexpression.report.numbers import fixed, short, whole
from fantope.coexpression.report.table import Column, Table
from fantope.coexpression.report.wording import LEVEL, changes, structure
from fantope.coexpression.view import by_specificity

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression, Differential


def differential(result: Coexpression) -> list[dict[str, Any]]:
    """Return what is shown of each pair of groups that was compared."""
    return [_pair(k, pair, result) for k, pair in enumerate(result.differential)]


def _pair(number: int, pair: Differential, result: Coexpression) -> dict[str, Any]:
    shown = by_specificity(result, pair.first, pair.second)
    leading = list(pair.leading_genes["gene"][:20])
    return {
        "first": pair.first,
        "second": pair.second,
        "verdict": f"{structure(pair)} {changes(pair)}",
        "description": f"Correlation matrices of {len(shown)} genes in {pair.first} and in {pair.second}, "
        "side by side. Arrow keys move from cell to cell.",
        "n_shown": len(shown),
        "specific": shown["specific_to"].any(),
        "n_test": pair.n_test,
        "unmatched": pair.modules["module"].astype(str).str.startswith("new ").any(),
        "leading": leading if pair.p_value <= LEVEL else [],  # where a difference sits that was not found is no finding
        "larger_in": pair.larger_in,
        "modules": _modules(number, pair),
        "genes": _genes(number, pair),
    }


def _modules(number: int, pair: Differential) -> Table:
    columns = [
        Column("group", "module of"),
        Column("module", "module"),
        Column("n_genes", "genes", whole),
        Column("mean_first", f"mean r, {pair.first}", fixed(2)),
        Column("mean_second", f"mean r, {pair.second}", fixed(2)),
        Column("change", "change", fixed(2)),
        Column("p", "p", short),
        Column("fdr", "FDR", short, "False discovery rate over the modules"),
        Column("found_again", "found again", fixed(2),
               "Overlap of the tested module with the whole group’s module of that name; 0: it has no counterpart"),
    ]  # fmt: skip
    return Table(pair.modules, columns, "Change of correlation within modules", f"pair-{number}-modules")


def _genes(number: int, pair: Differential) -> Table:
    columns = [
        Column("gene", "gene"),
        Column("specific_to", "only in"),
        Column("module", "module"),
        Column("mean_first", f"mean r, {pair.first}", fixed(2), "Mean correlation with the other genes of its modules"),
        Column("mean_second", f"mean r, {pair.second}", fixed(2)),
        Column("change", "change", fixed(2)),
        Column("p", "p", short),
        Column("fdr", "FDR", short, "False discovery rate over the tested genes"),
    ]
    return Table(pair.genes, columns, "Change of each tested gene", f"pair-{number}-genes")
