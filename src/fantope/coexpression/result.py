"""What an analysis of co-expression found: one object that tables, figures and the report are made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from fantope.path import Path
    from fantope.solvers.result import Solution


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
    """One row a module of either method: method, module, n_genes, mean_correlation, mean_absolute_correlation."""
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
    """One row a gene of the active set: gene, module, leverage, kme, hub_rank, specific, pc1 … pcd (loadings)."""
    modules: pd.DataFrame
    """One row a module: module, n_genes, mean_correlation, explained_variance, hubs (names joined by ', ')."""
    eigengenes: pd.DataFrame
    """Samples × modules."""
    choice: pd.DataFrame
    """How the number of modules was chosen: k, silhouette, chosen; one row when it was given."""
    cross_tables: tuple[CrossTable, ...] = ()

    def correlation(self, genes: pd.Index) -> pd.DataFrame:
        """Correlations of these genes in this group (they must be among ``expression``'s columns)."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class Differential:
    """Two groups compared: genes, modules, and the correlation structure as a whole."""

    first: str
    second: str
    genes: pd.DataFrame
    """gene, specific_to, module, change (mean |difference of correlation| to the other tested genes), p, fdr."""
    modules: pd.DataFrame
    """group (whose module), module, n_genes, mean_first, mean_second, change, p, fdr."""
    statistic: float
    """Sparse leading eigenvalue of the difference of the correlation matrices."""
    p_value: float
    null: NDArray[np.float64]
    """The statistic under permutations of the samples."""
    leading_genes: pd.DataFrame
    """gene, loading: where the difference sits."""
    n_permutations: int


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
    notes: tuple[str, ...] = field(default=())
    """Sentences on what was done to the data: genes left out, duplicates merged, covariates removed."""
