"""What an analysis of co-expression found: one object that tables, figures and the report are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fantope.coexpression.analysis.correlation import Correlation, matrix, rewrite
from fantope.path import Path
from fantope.solvers.result import Solution

MARGIN = "size"  # last row and column of a cross table


@dataclass(frozen=True, eq=False)
class CrossTable:
    """Our modules against somebody else's labels of the same genes."""

    name: str
    """Of the other labelling."""
    counts: pd.DataFrame
    """Modules (rows) by labels (columns): numbers of genes, with the margins 'size' as last row and column."""
    p_values: pd.DataFrame
    """Hypergeometric tail of each cell, over all analysed genes that carry a label."""
    adjusted_rand: float
    purity: pd.DataFrame
    """One row a module: module, n_labelled, label (its most frequent), purity (that label's share)."""
    cohesion: pd.DataFrame
    """One row a module of either method: method, module, n_genes, mean_correlation, mean_absolute_correlation.

    Sets of genes that overlap have none."""
    enrichment: pd.DataFrame
    """Module and label with genes in common: module, label, n_common, n_module, n_label, fold, p, fdr, genes."""
    unknown: int
    """Labelled genes that the analysis does not have."""


@dataclass(frozen=True, eq=False)
class GroupResult:
    """One group of samples: its path, its active set, its modules."""

    name: str
    expression: pd.DataFrame
    """Samples × the genes that any group uses at the chosen alpha (the columns are the same in all groups)."""
    path: Path
    solution: Solution
    """The path's solution at the chosen alpha."""
    genes: pd.DataFrame
    """One row a gene of the active set: gene, module, leverage, kme, hub_rank, specific, proven ("in", "out" or
    "undecided", see :meth:`Solution.verdicts <fantope.Solution.verdicts>`), remark ("control probe", "identical to …"
    or nothing), pc1 … pcd (loadings), sparse1 … sparsed (the same subspace in its sparse basis)."""
    modules: pd.DataFrame
    """One row a module: module, n_genes, mean_correlation, explained_variance, hubs (names joined by ', '), component
    (of the sparse basis, on which most of it lies), component_share."""
    eigengenes: pd.DataFrame
    """Samples × modules."""
    choice: pd.DataFrame
    """How the number of modules was chosen: k, silhouette, smallest (module), chosen; one row when it was given."""
    cross_tables: tuple[CrossTable, ...] = ()
    traits: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Eigengenes against traits of the samples: module, trait, measure, n, estimate, low, high, p, fdr."""
    components: pd.DataFrame = field(default_factory=pd.DataFrame)
    """One row a component of the sparse basis: component, explained_variance, share, n_genes (with their largest
    loading there), module (that has most of it), module_share."""
    method: Correlation = "pearson"
    """Which correlation the analysis used."""

    def correlation(self, genes: pd.Index) -> pd.DataFrame:
        """Correlations of these genes in this group (they must be among ``expression``'s columns)."""
        unknown = [gene for gene in genes if gene not in self.expression.columns]
        if unknown:
            raise ValueError(
                f"genes must be among those that some group uses, got {unknown[0]!r}"
                f"{f' and {len(unknown) - 1} more' if len(unknown) > 1 else ''}; see the columns of expression."
            )
        R = matrix(rewrite(self.expression[list(genes)].to_numpy(dtype=np.float64), self.method))
        return pd.DataFrame(R, index=genes, columns=genes)


@dataclass(frozen=True, eq=False)
class Differential:
    """Two groups compared: genes, modules, and the correlation structure as a whole.

    What is tested was found in a random half of each group's samples, the discovery half; every number here is of the
    other half, the test half. So genes and modules are not quite those of the whole groups.
    """

    first: str
    second: str
    genes: pd.DataFrame
    """gene, specific_to, module, mean_first, mean_second, change (second − first), p, fdr.

    The means are of the gene's correlations with the other genes of its modules. By ascending p.
    ``specific_to`` (empty if active in both) and ``module`` are those of the discovery halves."""
    modules: pd.DataFrame
    """group (whose module), module, n_genes, mean_first, mean_second, change (second − first), p, fdr, found_again.

    A module of a discovery half has the name of the whole group's module that it shares most genes with; found_again
    is the share, genes in both over genes in either."""
    statistic: float
    """Sparse leading eigenvalue of the difference of the correlation matrices."""
    p_value: float
    null: NDArray[np.float64]
    """The statistic under permutations of the samples: 200, or as many as it takes until 20 reach the observed one."""
    leading_genes: pd.DataFrame
    """gene, loading: where the difference sits."""
    n_permutations: int
    alpha: float
    """Penalty of the sparse leading eigenvalue."""
    larger_in: str
    """The group whose correlations are the larger ones where the difference sits."""
    n_test: tuple[int, int]
    """Samples of the first and the second group that the test used."""


@dataclass(frozen=True, eq=False)
class Coexpression:
    """The whole analysis."""

    gene_names: pd.Index
    """All analysed genes, after filters; every certificate is over all of them."""
    alpha: float
    selection: pd.DataFrame
    """One row an alpha: alpha, n_<group>…, overlap, eligible, chosen, gap_<group>…"""
    groups: Mapping[str, GroupResult]
    common: pd.Index
    """Genes active in every group."""
    specific: Mapping[str, pd.Index]
    """Genes active in one group only."""
    differential: tuple[Differential, ...]
    parameters: Mapping[str, Any]
    preservation: pd.DataFrame = field(default_factory=pd.DataFrame)
    """Modules in other samples: group, module, tested_in, n_genes, density, density_by_chance, z_density, connectivity,
    z_connectivity, z, p. See :func:`~fantope.coexpression.analysis.annotation.preservation`."""
    notes: tuple[str, ...] = field(default=())
    """Sentences on what was done to the data: genes left out, duplicates merged, covariates removed; and what should be
    known of it: control probes, rows that are the same."""
    remarks: Mapping[str, str] = field(default_factory=dict)
    """What is to be said of a gene: "control probe", "identical to …", "nearly identical to …"."""
