"""The first sections: what was found, what was done, how alpha was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fantope.coexpression.report.about import About
from fantope.coexpression.report.html import (
    Column,
    counted,
    enumeration,
    escape,
    fixed,
    gap,
    items,
    paragraphs,
    short,
    table,
    whole,
)
from fantope.coexpression.report.wording import changes, correlation_name, structure

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression


def subtitle(result: Coexpression, about: About) -> str:
    """Return the lines under the title."""
    sizes = [f"{counted(len(group.expression), 'sample')} {name}" for name, group in result.groups.items()]
    if len(result.groups) == 1:
        sizes = [counted(len(next(iter(result.groups.values())).expression), "sample")]
    facts = [*sizes, f"{counted(len(result.gene_names), 'gene')} analysed", f"written {about.created}"]
    text = f'<p class="facts">{" · ".join(escape(fact) for fact in facts)}</p>'
    if about.simulated:
        text += '<p class="notice">The data of this report are simulated. Gene names are made up.</p>'
    return text


def glance(result: Coexpression) -> str:
    """Return the findings in a few sentences."""
    d = result.parameters["n_components"]
    active = [f"{counted(len(group.genes), 'gene')} in {name}" for name, group in result.groups.items()]
    if len(result.groups) == 1:
        active = [counted(len(next(iter(result.groups.values())).genes), "gene")]
    sentences = [
        f"Out of {whole(len(result.gene_names))} genes, {counted(d, 'sparse principal component')} "
        f"use{'s' if d == 1 else ''} {enumeration(active)} (alpha = {result.alpha:g})."
    ]
    if len(result.groups) > 1:
        only = [f"{whole(len(names))} only in {name}" for name, names in result.specific.items()]
        sentences.append(f"{counted(len(result.common), 'gene')} are active in every group; {enumeration(only)}.")
    for name, group in result.groups.items():
        strongest = group.modules.sort_values("mean_correlation", ascending=False).iloc[0]
        where = f" in {name}" if len(result.groups) > 1 else ""
        sentences.append(
            f"{counted(len(group.modules), 'module')}{where}; the tightest is {strongest['module']} "
            f"({counted(int(strongest['n_genes']), 'gene')}, mean correlation "
            f"{fixed(2)(strongest['mean_correlation'])}), led by {strongest['hubs']}."
        )
    for pair in result.differential:
        sentences += [structure(pair), changes(pair)]
    widest = max(float(group.solution.gap) for group in result.groups.values())
    sentences.append(
        f"Each of these solutions is certified over all {whole(len(result.gene_names))} genes: none can be "
        f"improved by more than {short(100 * widest)}\u00a0% of its objective."
    )
    return items(sentences)


def done(result: Coexpression) -> str:
    """Return what was done, in sentences."""
    parameters, d = result.parameters, result.parameters["n_components"]
    several = len(result.groups) > 1
    each = "In each group of samples" if several else "Over all samples"
    sentences = paragraphs(
        f"{each}, {correlation_name(parameters)} between all pairs of genes were taken as the matrix S, and sparse "
        f"principal component analysis was solved as a convex problem: among all ways to choose a "
        f"{d}-dimensional subspace, find the one that explains most of S while a penalty alpha keeps the number of "
        "genes in use small. A gene is active if it has a non-zero loading on at least one component.",
        f"The problem was solved for {counted(len(result.selection), 'value')} of alpha. "
        + (
            "Alpha was then chosen by a fixed rule: among the values at which every group uses between "
            f"{whole(parameters['min_genes'])} and {whole(parameters['max_genes'])} genes, the one at which the groups "
            "share the largest part of their active genes."
            if several
            else f"Only values at which between {whole(parameters['min_genes'])} and "
            f"{whole(parameters['max_genes'])} genes are in use were considered."
        ),
        "The active genes of each group were clustered on their loadings into modules. A module’s eigengene is the "
        "first principal component of its genes; a gene’s kME is its correlation with that eigengene, and hubs are "
        "the genes of largest kME.",
    )
    notes = f"<h3>What was done to the data</h3>{items(result.notes)}" if result.notes else ""
    return sentences + notes


def selection(result: Coexpression) -> str:
    """Return the curve, the slider and the whole table."""
    several = len(result.groups) > 1
    names = list(result.groups)
    frame = result.selection.sort_values("alpha").assign(
        state=[
            "chosen" if chosen else "eligible" if eligible else "outside the limits"
            for chosen, eligible in zip(result.selection.sort_values("alpha")["chosen"],
                                        result.selection.sort_values("alpha")["eligible"], strict=True)
        ]
    )  # fmt: skip
    columns = [Column("alpha", "alpha", lambda value: f"{value:g}")]
    columns += [Column(f"n_{name}", f"genes, {name}" if several else "genes", whole) for name in names]
    if several:
        columns.append(Column("overlap", "overlap", fixed(3), "Genes active in all groups over genes active in any"))
    columns += [
        Column(f"gap_{name}", f"gap, {name}" if several else "gap", gap, "Certified relative duality gap")
        for name in names
    ]
    columns.append(Column("state", "rule"))
    last = len(frame) - 1
    start = int(frame["chosen"].to_numpy(dtype=bool).argmax())
    what = "the overlap of the active sets (top) and their sizes (bottom)" if several else "the number of active genes"
    return (
        '<figure><div class="chart" data-chart="selection"></div>'
        f"<figcaption>Against alpha: {what}. The band marks the sizes that the rule allows; filled points are "
        "eligible, the ring is the choice, and the vertical line follows the slider.</figcaption></figure>"
        '<div class="slider" data-slider hidden><label for="alpha-slider">Step through the path: alpha</label>'
        f'<input type="range" id="alpha-slider" min="0" max="{last}" step="1" value="{start}">'
        '<output for="alpha-slider" id="alpha-value"></output>'
        '<div id="alpha-state" role="status"></div></div>'
        + table(frame, columns, "Every alpha that was solved", "selection-table", sortable=False)
    )
