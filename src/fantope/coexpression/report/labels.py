"""Modules against other labels of the genes, as the report shows them."""

from __future__ import annotations

import math
from typing import Any

from fantope.coexpression.analysis.result import MARGIN, Coexpression, CrossTable
from fantope.coexpression.report.table import Column, Table
from fantope.coexpression.report.words import LEVEL, fixed, short, whole

MOST_ENRICHED = 50  # pairs of module and label in one table
SHOWN = 16  # labels in one table; the file has them all


def cross_tables(result: Coexpression) -> list[dict[str, Any]]:
    """Return what is shown of each group and labelling."""
    several = len(result.groups) > 1
    return [
        _part(cross, f"{cross.name}, modules of {name}" if several else cross.name, f"cross-{k}-{j}")
        for k, (name, group) in enumerate(result.groups.items())
        for j, cross in enumerate(group.cross_tables)
    ]


def _part(cross: CrossTable, title: str, name: str) -> dict[str, Any]:
    inner = cross.counts.drop(index=MARGIN, columns=MARGIN)
    filled = inner.loc[:, (inner > 0).any()]
    # The labels that say most about some module: of many gene sets the large ones would say least.
    shown = cross.p_values[filled.columns].min().sort_values(kind="stable").index[:SHOWN]
    sizes = cross.counts[MARGIN].drop(MARGIN)
    return {
        "title": title,
        "name": name,
        "agreement": _agreement(cross),
        "unknown": cross.unknown,
        "hidden": filled.shape[1] - len(shown),
        "labels": [(label, cross.counts.loc[MARGIN, label]) for label in shown],
        "rows": [
            (module, size, [_cell(inner[label].iloc[i], size, cross.p_values[label].iloc[i]) for label in shown])
            for i, (module, size) in enumerate(sizes.items())
        ],
        "quality": _quality(cross, name),
        "enriched": _enriched(cross, name),
    }


def _enriched(cross: CrossTable, name: str) -> Table:
    """Return the labels that modules have more genes of than chance gives."""
    frame = cross.enrichment[cross.enrichment["fdr"] <= LEVEL].head(MOST_ENRICHED)
    columns = [
        Column("module", "module"),
        Column("label", "label", wide=True),
        Column("n_common", "in common", whole),
        Column("n_label", "its genes", whole, "Analysed genes with this label"),
        Column("fold", "fold", fixed(1), "Genes in common over what chance gives"),
        Column("p", "p", short, "Hypergeometric, against all analysed genes"),
        Column("fdr", "FDR", short, "False discovery rate over all modules and labels"),
        Column("genes", "genes", wide=True, genes=True),
    ]
    return Table(frame, columns, f"Enriched at a false discovery rate of {LEVEL:g}", f"{name}-enriched")


def _agreement(cross: CrossTable) -> str:
    if math.isnan(cross.adjusted_rand):
        return "A gene may have several of these labels, so there is no index of agreement as a whole."
    return (
        f"Adjusted Rand index {fixed(2)(cross.adjusted_rand)}: 1 would be the same partition, 0 what "
        "chance gives; modules that divide one label among them lower it."
    )


def _cell(count: int, size: int, p: float) -> dict[str, float]:
    """Return the genes that a module and a label have in common; the larger its share in per cent, the darker."""
    return {"count": int(count), "share": round(100 * count / size) if size else 0, "p": float(p)}


def _quality(cross: CrossTable, name: str) -> Table:
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
    return Table(frame, columns, "Each module beside the label that most of its genes carry", f"{name}-purity")
