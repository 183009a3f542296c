"""Our modules against somebody else's."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fantope.coexpression.report.html import Column, escape, fixed, paragraphs, short, table, whole

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression, CrossTable

SHOWN = 16  # labels in one table; the file has them all
MARGIN = "size"


def cross_tables(result: Coexpression) -> str:
    """Return one part for each labelling and group."""
    several = len(result.groups) > 1
    parts = [
        _part(cross, name if several else "", f"cross-{k}-{j}")
        for k, (name, group) in enumerate(result.groups.items())
        for j, cross in enumerate(group.cross_tables)
    ]
    if not parts:
        return paragraphs(
            "No other labelling of the genes was given. With --labels FILE (gene and label in a table, or a .gmt file "
            "of gene sets) the modules are compared with it here."
        )
    return "".join(parts)


def _part(cross: CrossTable, group: str, name: str) -> str:
    inner = cross.counts.drop(index=MARGIN, columns=MARGIN)
    filled = inner.loc[:, (inner > 0).any()]
    # The labels that say most about some module: of many gene sets the large ones would say least.
    shown = cross.p_values[filled.columns].min().sort_values(kind="stable").index[:SHOWN]
    hidden = filled.shape[1] - len(shown)
    title = f"{cross.name}{f', modules of {group}' if group else ''}"
    sentences = paragraphs(
        _agreement(cross)
        + (f" Labelled, but not among the analysed genes: {whole(cross.unknown)}." if cross.unknown else ""),
        f"The {SHOWN} labels that say most about some module are shown; {whole(hidden)} more are in cross_tables.tsv."
        if hidden
        else "",
    )
    return f"<h3>{escape(title)}</h3>{sentences}{_counts(cross, list(shown), title, name)}{_quality(cross, name)}"


def _agreement(cross: CrossTable) -> str:
    if math.isnan(cross.adjusted_rand):
        return "A gene may have several of these labels, so there is no index of agreement as a whole."
    return (
        f"Adjusted Rand index {fixed(2)(cross.adjusted_rand)}: 1 would be the same partition, 0 what "
        "chance gives; modules that divide one label among them lower it."
    )


def _counts(cross: CrossTable, labels: list[str], title: str, name: str) -> str:
    """Return the table of the paper: modules by labels, the labels' sizes in the heading, the largest cells shaded."""
    sizes = cross.counts.loc[MARGIN]
    head = "".join(
        f'<th scope="col" class="number">{escape(label)} <span class="size">({whole(sizes[label])})</span></th>'
        for label in labels
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(module)} <span class="size">({whole(cross.counts.loc[module, MARGIN])})</span>'
        f"</th>{''.join(_count(cross, module, label) for label in labels)}</tr>"
        for module in cross.counts.index
        if module != MARGIN
    )
    caption = "Numbers of genes; sizes in parentheses. Darker: a larger part of the module."
    return (
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(title)}"><table id="{name}" class="cross">'
        f"<caption>{escape(caption)}</caption><thead><tr><td></td>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _count(cross: CrossTable, module: object, label: str) -> str:
    i, j = cross.counts.index.get_loc(module), cross.counts.columns.get_loc(label)
    count, total = int(cross.counts.to_numpy()[i, j]), int(cross.counts.to_numpy()[i, -1])
    if not count:
        return '<td class="number none">0</td>'
    p = float(cross.p_values[label].to_numpy()[i])
    share = round(100 * count / total) if total else 0
    hint = f"{share} % of the module; hypergeometric p = {short(p)}"
    return f'<td class="number" style="--share:{share / 100:g}" title="{escape(hint)}">{count}</td>'


def _quality(cross: CrossTable, name: str) -> str:
    """Return each module beside the label that most of its genes carry."""
    ours = cross.cohesion[cross.cohesion["method"] != cross.name].set_index("module")
    theirs = cross.cohesion[cross.cohesion["method"] == cross.name].set_index("module")
    frame = cross.purity.assign(
        n_genes=ours["n_genes"].reindex(cross.purity["module"]).to_numpy(),
        mean=ours["mean_correlation"].reindex(cross.purity["module"]).to_numpy(),
        label_size=theirs["n_genes"].reindex(cross.purity["label"]).to_numpy(),
        label_mean=theirs["mean_correlation"].reindex(cross.purity["label"]).to_numpy(),
    )
    columns = [
        Column("module", "module"),
        Column("n_genes", "genes", whole),
        Column("mean", "mean r", fixed(2), "Mean correlation within the module"),
        Column("label", "mostly"),
        Column("purity", "purity", fixed(2), "Share of the module’s labelled genes that carry this label"),
        Column("label_size", "its genes", whole, "Size of that label"),
        Column("label_mean", "its mean r", fixed(2), "Mean correlation among all genes of that label"),
    ]
    return table(frame, columns, "Each module beside the label that most of its genes carry", f"{name}-purity")
