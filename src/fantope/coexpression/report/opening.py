"""The first sections: what was found, and how alpha was chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fantope.coexpression.report.about import About
from fantope.coexpression.report.numbers import counted, enumeration, fixed, gap, plain, short, whole
from fantope.coexpression.report.table import Column, Table
from fantope.coexpression.report.wording import changes, structure

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression


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
    return sentences


def selection(result: Coexpression) -> Table:
    """Return every alpha with what the rule made of it."""
    several = len(result.groups) > 1
    frame = result.selection.sort_values("alpha")
    outcomes = np.where(frame["chosen"], "chosen", np.where(frame["eligible"], "eligible", "outside the limits"))
    columns = [Column("alpha", "alpha", plain)]
    columns += [Column(f"n_{name}", f"genes, {name}" if several else "genes", whole) for name in result.groups]
    if several:
        columns.append(Column("overlap", "overlap", fixed(3), "Genes active in all groups over genes active in any"))
    columns += [
        Column(f"gap_{name}", f"gap, {name}" if several else "gap", gap, "Certified relative duality gap")
        for name in result.groups
    ]
    columns.append(Column("state", "rule"))
    return Table(frame.assign(state=outcomes), columns, "Every alpha that was solved", "selection-table")
