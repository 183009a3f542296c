"""Modules: correlation matrices in their order, loadings, and tables of modules and genes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from fantope.coexpression.report.numbers import fixed, short, whole
from fantope.coexpression.report.table import Column, Table
from fantope.coexpression.view import by_module, loadings

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression, GroupResult


def modules(result: Coexpression) -> list[dict[str, Any]]:
    """Return what is shown of each group."""
    several = len(result.groups) > 1
    return [
        {
            "name": group.name,
            "n_genes": len(group.genes),
            "description": _described(group),
            "choice": _choice(group),
            "table": _table(k, group, several),
        }
        for k, group in enumerate(result.groups.values())
    ]


def _table(number: int, group: GroupResult, several: bool) -> Table:
    columns = [
        Column("module", "module"),
        Column("n_genes", "genes", whole),
        Column("mean_correlation", "mean correlation", fixed(2), "Mean over all pairs of genes in the module"),
        Column("explained_variance", "eigengene explains", fixed(2), "Share of the module’s variance"),
        Column("hubs", "hub genes", wide=True),
    ]
    return Table(group.modules, columns, f"Modules of {group.name}" if several else "Modules", f"modules-{number}")


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


def genes(result: Coexpression) -> Table:
    """Return all active genes."""
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
    return Table(frame, columns, "Active genes", "genes")


def _loading(value: float) -> str:
    return "·" if value == 0 else fixed(3)(value) if abs(value) >= 5e-4 else short(value)
