"""Modules: correlation matrices in their order, loadings, and tables of modules and genes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fantope.coexpression.report.html import Column, counted, escape, fixed, paragraphs, short, table, whole
from fantope.coexpression.view import MOST, by_module, loadings

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression, GroupResult

HELP = "Point at a cell, or focus the figure and use the arrow keys, to read two genes and their correlation."


def modules(result: Coexpression) -> str:
    """Return one part for each group."""
    several = len(result.groups) > 1
    return "".join(_group(k, group, several) for k, group in enumerate(result.groups.values()))


def _group(number: int, group: GroupResult, several: bool) -> str:
    columns = [
        Column("module", "module"),
        Column("n_genes", "genes", whole),
        Column("mean_correlation", "mean correlation", fixed(2), "Mean over all pairs of genes in the module"),
        Column("explained_variance", "eigengene explains", fixed(2), "Share of the module’s variance"),
        Column("hubs", "hub genes", wide=True),
    ]
    d = loadings(group.genes).shape[1]
    more = f" The {MOST} genes of largest leverage are shown." if len(group.genes) > MOST else ""
    title = f"<h3>{escape(group.name)}</h3>" if several else ""
    return (
        f"{title}{heat_map('modules', number, _described(group))}"
        f"<figcaption>Left: correlations of {counted(len(group.genes), 'active gene')}, ordered by module. Right: "
        f"loadings of the same genes on components 1 to {d}, each coloured by its largest.{more} {HELP}"
        "</figcaption></figure>"
        + paragraphs(_choice(group))
        + table(group.modules, columns, f"Modules{f' of {group.name}' if several else ''}", f"modules-{number}")
    )


def heat_map(kind: str, number: int, description: str) -> str:
    """Return the opening of a figure that the script draws matrices into; the caption must follow."""
    return (
        f'<figure class="heat" data-heat="{kind}" data-number="{number}">'
        f'<canvas tabindex="0" role="application" aria-roledescription="correlation matrix" '
        f'aria-label="{escape(description)}"></canvas>'
        '<p class="readout" aria-live="polite"></p>'
    )


def _described(group: GroupResult) -> str:
    sizes = ", ".join(f"{row.module}: {row.n_genes} genes" for row in group.modules.itertuples())
    return f"Correlation matrix of {group.name} ordered by module ({sizes}). Arrow keys move from cell to cell."


def _choice(group: GroupResult) -> str:
    """Return why there are as many modules as there are."""
    if len(group.choice) < 2:
        return f"The number of modules, {whole(len(group.modules))}, was given."
    best = group.choice[group.choice["chosen"].astype(bool)].iloc[0]
    rest = group.choice[~group.choice["chosen"].astype(bool)]
    others = ", ".join(f"{k}: {score:.2f}" for k, score in zip(rest["k"], rest["silhouette"], strict=True))
    return (
        f"{int(best['k'])} modules were chosen because they separate the loadings best: mean silhouette "
        f"{best['silhouette']:.2f} (others: {others})."
    )


def genes(result: Coexpression) -> str:
    """Return the table of all active genes."""
    several = len(result.groups) > 1
    parts = [by_module(group.genes, most=None).assign(group=group.name) for group in result.groups.values()]
    frame = pd.concat(parts, ignore_index=True)
    frame["specific"] = ["only here" if value else "" for value in frame["specific"]]
    d = loadings(frame).shape[1]
    columns = [Column("gene", "gene"), Column("module", "module")]
    if several:
        columns.insert(1, Column("group", "group"))
        columns.append(Column("specific", "group-specific", None, "Active in this group only"))
    columns += [
        Column("hub_rank", "hub rank", whole, "1 is the module’s strongest hub"),
        Column("kme", "kME", fixed(3), "Correlation with the module’s eigengene"),
        Column("leverage", "leverage", fixed(3), "Diagonal of the solution: how much of the subspace is this gene"),
        *(Column(f"pc{k + 1}", f"PC{k + 1}", _loading, f"Loading on component {k + 1}") for k in range(d)),
    ]
    return table(frame, columns, "Active genes", "genes", search="Search genes, modules or groups:")


def _loading(value: float) -> str:
    return "·" if value == 0 else fixed(3)(value) if abs(value) >= 5e-4 else short(value)
