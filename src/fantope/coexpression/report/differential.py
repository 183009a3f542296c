"""What differs between two groups, said no louder than the numbers allow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fantope.coexpression.report.html import Column, counted, escape, fixed, paragraphs, short, table, whole
from fantope.coexpression.report.modules import HELP, heat_map
from fantope.coexpression.report.wording import LEVEL, changes, structure
from fantope.coexpression.view import by_specificity

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression, Differential

HALVES = (
    "Genes and modules to be tested were found in a random half of each group’s samples; the tests below use the other "
    "half ({n} samples of {first}, {m} of {second}), which had no part in choosing them. So tested genes and modules "
    "are close to those of the whole groups, but not the same."
)


def differential(result: Coexpression) -> str:
    """Return one part for each pair of groups that was compared."""
    if not result.differential:
        return paragraphs(
            "There is one group of samples, so there is nothing to compare."
            if len(result.groups) == 1
            else "No pair of groups was compared."
        )
    title = len(result.differential) > 1
    return "".join(_pair(k, pair, result, title) for k, pair in enumerate(result.differential))


def _pair(number: int, pair: Differential, result: Coexpression, titled: bool) -> str:
    shown = by_specificity(result, pair.first, pair.second)
    what = "active in one of the groups only" if shown["specific_to"].any() else "active in either group"
    described = (
        f"Correlation matrices of {len(shown)} genes in {pair.first} and in {pair.second}, side by side. "
        "Arrow keys move from cell to cell."
    )
    return (
        (f"<h3>{escape(pair.first)} and {escape(pair.second)}</h3>" if titled else "")
        + f'<p class="verdict">{escape(structure(pair))} {escape(changes(pair))}</p>'
        + heat_map("pairs", number, described)
        + f"<figcaption>Correlations of {counted(len(shown), 'gene')} {what}, in both groups and in the same order, "
        f"over all samples. {HELP}</figcaption></figure>"
        + paragraphs(_halves(pair))
        + '<div class="columns">'
        + _chart("density", number, "Density of the correlations off the diagonal of these matrices. The genes were "
                 "chosen by the same samples, so some difference is to be expected here even between equal groups.")
        + _chart("null", number, "Two-sample test: the sparse leading eigenvalue of the difference of the correlation "
                 "matrices (line) among those of permuted samples (bars).")
        + "</div>"
        + _chart("volcano", number, "Each point is a tested gene: how much its mean correlation with the other genes "
                 f"of its modules changes, and its permutation p-value. Filled: false discovery rate up to {LEVEL:g}.")
        + _modules(number, pair)
        + _genes(number, pair)
    )  # fmt: skip


def _halves(pair: Differential) -> str:
    text = HALVES.format(first=pair.first, second=pair.second, n=pair.n_test[0], m=pair.n_test[1])
    if pair.modules["module"].astype(str).str.startswith("new ").any():
        text += " A module called “new” has no counterpart among them."
    return text


def _chart(kind: str, number: int, caption: str) -> str:
    return (
        f'<figure><div class="chart" data-chart="{kind}" data-number="{number}"></div>'
        f"<figcaption>{escape(caption)}</figcaption></figure>"
    )


def _modules(number: int, pair: Differential) -> str:
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
    return table(pair.modules, columns, "Change of correlation within modules", f"pair-{number}-modules")


def _genes(number: int, pair: Differential) -> str:
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
    name = f"pair-{number}-genes"
    inner = table(pair.genes, columns, "Change of each tested gene", name, search="Search tested genes:")
    leading = ", ".join(str(name) for name in pair.leading_genes["gene"][:20])
    seat = (
        f"<p>The difference of the two matrices sits mostly on {escape(leading)}; co-expression there is stronger in "
        f"{escape(pair.larger_in)}.</p>"
        if leading
        else ""
    )
    if pair.p_value > LEVEL:
        seat = ""  # where a difference sits that was not found is no finding
    return f"{seat}<details><summary>All tested genes ({whole(len(pair.genes))})</summary>{inner}</details>"
