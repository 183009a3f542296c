"""What the report's sections show, in order: findings, the choice of alpha, modules, genes, differences, gaps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from fantope.coexpression.analysis.modules import fewest_genes, genes_in_use
from fantope.coexpression.analysis.result import Coexpression, Differential, GroupResult
from fantope.coexpression.report.table import Column, Table
from fantope.coexpression.report.words import (
    LEVEL,
    VERDICTS,
    changes,
    chosen_alphas,
    counted,
    enumeration,
    fixed,
    gap,
    percent,
    plain,
    short,
    structure,
    whole,
)
from fantope.coexpression.view import by_module, by_specificity, loadings


@dataclass(frozen=True)
class About:
    """The run behind a report."""

    title: str  # what was analysed; the name of the data
    command: str  # that makes the report again
    created: str  # when, as text
    inputs: Mapping[str, str] = field(default_factory=dict)  # SHA-256 of each input file by name
    versions: Mapping[str, str] = field(default_factory=dict)  # of fantope and what it stands on
    files: Mapping[str, str] = field(default_factory=dict)  # what each file beside the report holds, by name
    simulated: bool = False  # whether the data are made up, which the report then says at its head


def facts(result: Coexpression, about: About) -> list[str]:
    """Return what stands under the title."""
    sizes = [f"{counted(len(group.expression), 'sample')} {name}" for name, group in result.groups.items()]
    if len(result.groups) == 1:
        sizes = [counted(len(next(iter(result.groups.values())).expression), "sample")]
    return [*sizes, f"{counted(len(result.gene_names), 'gene')} analysed", f"written {about.created}"]


def findings(result: Coexpression) -> list[str]:
    """Return the findings in a few sentences."""
    d = result.parameters["n_components"]
    active = [f"{counted(len(group.genes), 'gene')} in {name}" for name, group in result.groups.items()]
    if len(result.groups) == 1:
        active = [counted(len(next(iter(result.groups.values())).genes), "gene")]
    sentences = [
        f"Out of {whole(len(result.gene_names))} genes, {counted(d, 'sparse principal component')} "
        f"use{'s' if d == 1 else ''} {enumeration(active)} (alpha = {chosen_alphas(result)})."
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
    proven = [
        f"{whole((group.genes['proven'] == 'in').sum())} of the {counted(len(group.genes), 'gene')}"
        + (f" in {name}" if len(result.groups) > 1 else "")
        for name, group in result.groups.items()
    ]
    sentences.append(f"Proven to be in use, whatever the optimum: {enumeration(proven)}.")
    for pair in result.differential:
        sentences += [structure(pair), changes(pair)]
    widest = max(float(group.solution.gap) for group in result.groups.values())
    sentences.append(
        f"Each of these solutions is certified over all {whole(len(result.gene_names))} genes: none can be "
        f"improved by more than {short(100 * widest)}\u00a0% of its objective."
    )
    return sentences


def selection(result: Coexpression) -> Table:
    """Return every alpha with what the rule made of it."""
    several = len(result.groups) > 1
    frame = result.selection.sort_values("alpha")
    outcomes = np.where(frame["chosen"], "chosen", np.where(frame["eligible"], "eligible", "outside the limits"))
    columns = [Column("alpha", "alpha", plain)]
    own = [name for name in result.groups if f"alpha_{name}" in frame]
    columns += [Column(f"alpha_{name}", f"alpha, {name}", fixed(3)) for name in own]
    columns += [Column(f"n_{name}", f"genes, {name}" if several else "genes", whole) for name in result.groups]
    if several:
        columns.append(Column("overlap", "overlap", fixed(3), "Genes active in all groups over genes active in any"))
    columns += [
        Column(f"gap_{name}", f"gap, {name}" if several else "gap", gap, "Certified relative duality gap")
        for name in result.groups
    ]
    columns.append(Column("state", "rule"))
    return Table(frame.assign(state=outcomes), columns, "Every alpha that was solved", "selection-table")


def modules(result: Coexpression) -> list[dict[str, Any]]:
    """Return what is shown of each group."""
    several = len(result.groups) > 1
    return [
        {
            "name": group.name,
            "n_genes": len(group.genes),
            "description": _described(group),
            "choice": _choice(group),
            "table": _module_table(k, group, several),
            "components": _component_table(k, group, several),
            "networks": list(group.modules["module"]),
        }
        for k, group in enumerate(result.groups.values())
    ]


def _module_table(number: int, group: GroupResult, several: bool) -> Table:
    columns = [
        Column("module", "module"),
        Column("n_genes", "genes", whole),
        Column("mean_correlation", "mean correlation", fixed(2), "Mean over all pairs of genes in the module"),
        Column("explained_variance", "eigengene explains", fixed(2), "Share of the module’s variance"),
        Column("place", "component", None, "On which most of the module lies, and the share of its weight there"),
        Column("hubs", "hub genes", wide=True, genes=True),
    ]
    shares = zip(group.modules["component"], group.modules["component_share"], strict=True)
    frame = group.modules.assign(place=[f"C{component} ({percent(share)})" for component, share in shares])
    return Table(frame, columns, f"Modules of {group.name}" if several else "Modules", f"modules-{number}")


def _component_table(number: int, group: GroupResult, several: bool) -> Table:
    columns = [
        Column("component", "component", lambda number: f"C{number}"),
        Column("explained_variance", "variance", fixed(1), "Explained along the component; a single gene has 1"),
        Column("n_genes", "genes", whole, "Genes with their largest loading on this component"),
        Column("module", "mostly", None, "The module that has most of the component"),
        Column("module_share", "share of it", percent, "Share of the component’s squared loadings in that module"),
    ]
    caption = f"Components of {group.name}" if several else "Components"
    return Table(group.components, columns, f"{caption}, sparse basis", f"components-{number}")


def _described(group: GroupResult) -> str:
    sizes = ", ".join(f"{row.module}: {row.n_genes} genes" for row in group.modules.itertuples())
    return f"Correlation matrix of {group.name} ordered by module ({sizes}). Arrow keys move from cell to cell."


def _choice(group: GroupResult) -> str:
    """Return why there are as many modules as there are."""
    if len(group.choice) < 2:
        return f"The number of modules, {whole(len(group.modules))}, was given."
    best = group.choice[group.choice["chosen"].astype(bool)].iloc[0]
    rest = group.choice[~group.choice["chosen"].astype(bool)]
    fewest = fewest_genes(len(group.genes))
    if best["smallest"] < fewest:
        return f"{int(best['k'])} modules, the fewest: no number of them leaves each {fewest} genes."
    small = rest["smallest"] < fewest
    scores = [f"{k}: {score:.2f}" for k, score in zip(rest["k"], rest["silhouette"], strict=True)]
    others = ", ".join(np.array(scores)[~small])
    text = (
        f"{int(best['k'])} modules were chosen because they separate the loadings best: mean silhouette "
        f"{best['silhouette']:.2f}{f' (others: {others})' if others else ''}."
    )
    if small.any():
        numbers = enumeration([str(k) for k in rest["k"][small]])
        text += f" {numbers} modules were out of the question: one of them would have fewer than {fewest} genes."
    return text


def genes(result: Coexpression) -> Table:
    """Return all active genes."""
    several = len(result.groups) > 1
    parts = [by_module(group.genes, most=None).assign(group=group.name) for group in result.groups.values()]
    frame = pd.concat(parts, ignore_index=True)
    frame["specific"] = ["only here" if value else "" for value in frame["specific"]]
    frame["proven"] = frame["proven"].map(VERDICTS)
    d = loadings(frame).shape[1]
    columns = [Column("gene", "gene", genes=True), Column("module", "module")]
    if several:
        columns.insert(1, Column("group", "group"))
    columns += [
        Column("hub_rank", "hub rank", whole, "1 is the module’s strongest hub"),
        Column("kme", "kME", fixed(3), "Correlation with the module’s eigengene"),
        Column("leverage", "leverage", fixed(3), "Diagonal of the solution: how much of the subspace is this gene"),
        Column("proven", "verdict", None, "What the certificate proves: in use in every optimum, in none, or neither"),
        *([Column("specific", "group-specific", None, "Active in this group only")] if several else []),
        *([Column("remark", "remark")] if frame["remark"].any() else []),
        *(Column(f"sparse{k + 1}", f"C{k + 1}", _loading, f"Loading on component {k + 1}") for k in range(d)),
    ]
    return Table(frame, columns, "Active genes", "genes")


def _loading(value: float) -> str:
    return "·" if value == 0 else fixed(3)(value) if abs(value) >= 5e-4 else short(value)


def traits(result: Coexpression) -> Table | None:
    """Return eigengenes against traits of the samples, if there are any."""
    parts = [group.traits.assign(group=name) for name, group in result.groups.items() if len(group.traits)]
    if not parts:
        return None
    columns = [Column("group", "group")] if len(result.groups) > 1 else []
    columns += [
        Column("module", "module"),
        Column("trait", "trait"),
        Column("measure", "measure"),
        Column("estimate", "estimate", fixed(2)),
        Column("low", "from", fixed(2), "95 % interval"),
        Column("high", "to", fixed(2), "95 % interval"),
        Column("n", "samples", whole),
        Column("p", "p", short),
        Column("fdr", "FDR", short, "False discovery rate over the group’s modules and traits"),
    ]
    frame = pd.concat(parts).sort_values("p", kind="stable")
    return Table(frame, columns, "Eigengenes against traits of the samples", "traits")


def preservation(result: Coexpression) -> Table | None:
    """Return modules in other samples, if there are any."""
    if not len(result.preservation):
        return None
    columns = [
        Column("group", "modules of"),
        Column("module", "module"),
        Column("tested_in", "tested in"),
        Column("n_genes", "genes", whole),
        Column("density", "mean r", fixed(2), "Mean correlation of its genes there"),
        Column("density_by_chance", "by chance", fixed(2), "The same of random sets of as many genes"),
        Column("z_density", "z, density", fixed(1)),
        Column("connectivity", "kME", fixed(2), "Correlation of kME there with kME where the module was found"),
        Column("z_connectivity", "z, kME", fixed(1)),
        Column("z", "z", fixed(1), "Mean of both"),
        Column("p", "p", short, "Of the mean correlation, by random sets"),
    ]
    return Table(result.preservation, columns, "Modules in samples that had no part in finding them", "preservation")


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
        "modules": _tested_modules(number, pair),
        "genes": _tested_genes(number, pair),
    }


def _changes(pair: Differential, means: str, rate: str) -> list[Column]:
    """Return the columns that both tables have: means, their change, and how sure it is."""
    return [
        Column("mean_first", f"mean r, {pair.first}", fixed(2), means),
        Column("mean_second", f"mean r, {pair.second}", fixed(2)),
        Column("change", "change", fixed(2)),
        Column("p", "p", short),
        Column("fdr", "FDR", short, f"False discovery rate over the {rate}"),
    ]


def _tested_modules(number: int, pair: Differential) -> Table:
    columns = [
        Column("group", "module of"),
        Column("module", "module"),
        Column("n_genes", "genes", whole),
        *_changes(pair, "", "modules"),
        Column("found_again", "found again", fixed(2),
               "Overlap of the tested module with the whole group’s module of that name; 0: it has no counterpart"),
    ]  # fmt: skip
    return Table(pair.modules, columns, "Change of correlation within modules", f"pair-{number}-modules")


def _tested_genes(number: int, pair: Differential) -> Table:
    columns = [
        Column("gene", "gene", genes=True),
        Column("specific_to", "only in"),
        Column("module", "module"),
        *_changes(pair, "Mean correlation with the other genes of its modules", "tested genes"),
    ]
    return Table(pair.genes, columns, "Change of each tested gene", f"pair-{number}-genes")


def certificates(result: Coexpression) -> Table:
    """Return the gap of each solution."""
    rows = [
        {
            "group": name,
            "alpha": solution.alpha,
            "chosen": "chosen" if solution is group.solution else "",
            "n_genes": len(genes_in_use(solution)),
            "objective": solution.objective,
            "bound": solution.dual_bound,
            "gap": solution.gap,
            "status": solution.status.name.lower().replace("_", " "),
        }
        for name, group in result.groups.items()
        for solution in group.path
    ]
    columns = [
        Column("group", "group"),
        Column("alpha", "alpha", plain),
        Column("chosen", ""),
        Column("n_genes", "genes", whole),
        Column("objective", "achieved", fixed(4), "The objective at the solution found"),
        Column("bound", "upper bound", fixed(4), "No feasible solution can exceed this"),
        Column("gap", "gap", gap),
        Column("status", "status"),
    ]
    several = len(result.groups) > 1
    return Table(pd.DataFrame(rows), columns if several else columns[1:], "Certified solutions", "certificates")


def described(value: object) -> str:
    """Return a parameter as text."""
    if value is None:
        return "–"
    if isinstance(value, list | tuple):
        return ", ".join(described(each) for each in value) or "–"
    return f"{value:g}" if isinstance(value, float) else str(value)
