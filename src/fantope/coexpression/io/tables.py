"""The result of a co-expression analysis as tidy tables, and as edges that Cytoscape imports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd

from fantope.coexpression.analysis.result import MARGIN, Coexpression, CrossTable, Differential, GroupResult
from fantope.io.tables import cell

FILES = {
    "genes.tsv": "active genes of each group: module, leverage, kME, hub rank, whether proven in use, loadings",
    "modules.tsv": "modules of each group: size, mean correlation, variance of the eigengene, hubs, component",
    "components.tsv": "components of the sparse basis: variance, genes, the module that each holds",
    "eigengenes.tsv": "eigengene of each module in each sample",
    "selection.tsv": "every alpha: each group's own, active genes and gap, overlap, whether eligible and chosen",
    "cross_tables.tsv": "modules against other labels: genes in common, sizes, hypergeometric p-values",
    "enrichment.tsv": "modules tested for labels and gene sets against all analysed genes: fold, p, FDR",
    "traits.tsv": "eigengenes against traits of the samples: correlation or share of variance, 95 % interval, p",
    "preservation.tsv": "modules in the samples of other groups and in a half that had no part in them: density, z, p",
    "purity.tsv": "most frequent label of each module and its share",
    "cohesion.tsv": "correlation within modules, ours and those of the other labels",
    "differential_tests.tsv": "two-sample test of each pair of groups",
    "differential_modules.tsv": "change of each tested module",
    "differential_genes.tsv": "change of each tested gene",
    "differential_leading.tsv": "where the difference of two correlation matrices sits",
    "edges.tsv": "pairs of active genes with |correlation| of at least alpha, for Cytoscape",
}


def write_coexpression(folder: Path, result: Coexpression) -> list[str]:
    """Write the tables that have rows; return their names."""
    tables = coexpression_tables(result)
    for name, table in tables.items():
        names = {str(each): table[each].map(cell) for each in table.select_dtypes(exclude=["number", "bool"])}
        table.assign(**names).to_csv(folder / name, sep="\t", index=False, lineterminator="\n")
    return list(tables)


def coexpression_tables(result: Coexpression) -> dict[str, pd.DataFrame]:
    """Return every table by the name of its file; those without rows are left out."""

    def stacked(parts: list[pd.DataFrame]) -> pd.DataFrame:
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def labelled(table: pd.DataFrame, group: GroupResult, cross: CrossTable) -> pd.DataFrame:
        return _first(table, labels=cross.name, group=group.name)

    def compared(table: pd.DataFrame, pair: Differential) -> pd.DataFrame:
        return _first(table, first=pair.first, second=pair.second)

    groups = result.groups.values()
    crossed = [(group, cross) for group in groups for cross in group.cross_tables]
    pairs = result.differential
    tables = {
        "genes.tsv": stacked([_first(group.genes, group=group.name) for group in groups]),
        "modules.tsv": stacked([_first(group.modules, group=group.name) for group in groups]),
        "components.tsv": stacked([_first(group.components, group=group.name) for group in groups]),
        "eigengenes.tsv": stacked([_eigengenes(group) for group in groups]),
        "selection.tsv": _selection(result),
        "cross_tables.tsv": stacked([_cross(group.name, cross) for group, cross in crossed]),
        "enrichment.tsv": stacked([labelled(cross.enrichment, group, cross) for group, cross in crossed]),
        "traits.tsv": stacked([_first(group.traits, group=group.name) for group in groups if len(group.traits)]),
        "preservation.tsv": result.preservation,
        "purity.tsv": stacked([labelled(cross.purity, group, cross) for group, cross in crossed]),
        "cohesion.tsv": stacked([labelled(cross.cohesion, group, cross) for group, cross in crossed]),
        "differential_tests.tsv": pd.DataFrame(
            [
                {
                    "first": pair.first, "second": pair.second, "statistic": pair.statistic, "p": pair.p_value,
                    "permutations": len(pair.null), "larger_in": pair.larger_in,
                    "n_test_first": pair.n_test[0], "n_test_second": pair.n_test[1],
                }
                for pair in pairs
            ]
        ),
        "differential_modules.tsv": stacked([compared(pair.modules, pair) for pair in pairs]),
        "differential_genes.tsv": stacked([compared(pair.genes, pair) for pair in pairs]),
        "differential_leading.tsv": stacked([compared(pair.leading_genes, pair) for pair in pairs]),
        "edges.tsv": stacked([_edges(group) for group in groups]),
    }  # fmt: skip
    return {name: table for name, table in tables.items() if len(table)}


def plain_names(groups: Sequence[str]) -> dict[str, str]:
    """Return a distinct name for each group that any file system and HDF5 take.

    Examples
    --------
    >>> plain_names(["tumour", "a/b", "a b", "A B"])
    {'tumour': 'tumour', 'a/b': 'a_b', 'a b': 'a_b_1', 'A B': 'A_B_2'}
    """
    found: dict[str, str] = {}
    for group in groups:
        plain = re.sub(r"[^A-Za-z0-9-]+", "_", group).strip("_") or "group"
        taken = {name.lower() for name in found.values()}  # not every file system distinguishes case
        candidates = (plain if k == 0 else f"{plain}_{k}" for k in count())
        found[group] = next(name for name in candidates if name.lower() not in taken)
    return found


def _first(table: pd.DataFrame, **columns: str) -> pd.DataFrame:
    """Return the table with these columns in front."""
    copy = table.copy()
    for place, (name, value) in enumerate(columns.items()):
        if name in copy:  # modules of a pair say themselves whose they are
            continue
        copy.insert(place, name, value)
    return copy


def _eigengenes(group: GroupResult) -> pd.DataFrame:
    wide = group.eigengenes.rename_axis("sample").reset_index()
    table = wide.melt("sample", var_name="module", value_name="eigengene")
    return _first(table, group=group.name)


def _selection(result: Coexpression) -> pd.DataFrame:
    """Return one row for each alpha and group."""
    shared = ["alpha", "overlap", "eligible", "chosen"]
    parts = [
        result.selection[shared].assign(
            group=name,
            group_alpha=result.groups[name].path.alphas,
            n_genes=result.selection[f"n_{name}"],
            gap=result.selection[f"gap_{name}"],
        )
        for name in result.groups
    ]
    columns = ["alpha", "group", "group_alpha", "n_genes", "gap", "overlap", "eligible", "chosen"]
    return pd.concat(parts).sort_values(["alpha", "group"], kind="stable")[columns]


def _cross(group: str, cross: CrossTable) -> pd.DataFrame:
    """Return one row for each module and label."""
    modules = [name for name in cross.counts.index if name != MARGIN]
    labels = [name for name in cross.counts.columns if name != MARGIN]
    m, k = len(modules), len(labels)
    return pd.DataFrame(
        {
            "labels": cross.name,
            "group": group,
            "module": np.repeat(modules, k),
            "label": np.tile(labels, m),
            "n_genes": cross.counts.loc[modules, labels].to_numpy().ravel(),
            "module_size": np.repeat(cross.counts.loc[modules, MARGIN].to_numpy(), k),
            "label_size": np.tile(cross.counts.loc[MARGIN, labels].to_numpy(), m),
            "p": cross.p_values.loc[modules, labels].to_numpy().ravel(),
        }
    )


def _edges(group: GroupResult) -> pd.DataFrame:
    """Return pairs of active genes whose correlation the penalty does not outweigh."""
    genes = pd.Index(group.genes["gene"])
    R = group.correlation(genes).to_numpy(dtype=float)
    i, j = np.nonzero(np.triu(np.abs(R) >= group.solution.alpha, 1))
    modules = group.genes["module"].astype(str).to_numpy()
    return pd.DataFrame(
        {
            "source": genes[i],
            "target": genes[j],
            "correlation": R[i, j],
            "group": group.name,
            "module": np.where(modules[i] == modules[j], modules[i], ""),
        }
    )
