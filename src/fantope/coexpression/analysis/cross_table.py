"""Modules against another labelling of the same genes: WGCNA colours, GO sets, anything with one label a gene."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import hypergeom
from sklearn.metrics import adjusted_rand_score

from fantope.coexpression.analysis.annotation import enrichment
from fantope.coexpression.analysis.correlation import mean_correlations
from fantope.coexpression.analysis.result import MARGIN, CrossTable
from fantope.errors import listed
from fantope.typing import Array

OURS = "fantope"


def cross_table(name: str, labels: pd.Series[str], modules: pd.Series[str], genes: pd.Index, Z: Array) -> CrossTable:
    """Compare modules with labels.

    Parameters
    ----------
    name : str
        Of the other labelling.
    labels : Series
        Label of each gene, by name; a gene with several, as gene sets give it, has a row for each. Genes that the
        analysis does not have are counted and ignored.
    modules : Series
        Module of each gene of the active set, by name.
    genes : Index
        All analysed genes.
    Z : (n, p) array
        Rewritten columns of all analysed genes, for the correlations within modules.

    Returns
    -------
    CrossTable
        Of the labels only those that share a gene with a module; sizes are over all analysed genes. The adjusted Rand
        index is NaN if a gene has several labels: they are no partition.
    """
    labels = labels.dropna().astype(str)
    check_labels(name, labels, genes)
    known = labels[labels.index.isin(genes)]
    known = known[~pd.MultiIndex.from_arrays([known.index, known]).duplicated()]
    sets = known.index.has_duplicates  # as gene sets do: then a gene counts once for each of its labels
    sizes = known.value_counts()
    both = modules[modules.index.isin(known.index)]
    pairs = known[known.index.isin(both.index)]
    inner = pd.crosstab(both[pairs.index].to_numpy(), pairs.to_numpy())
    order = sorted(modules.unique(), key=_number)
    columns = [label for label in sizes.index if label in inner.columns]
    inner = inner.reindex(index=order, columns=columns, fill_value=0)
    labelled = both.value_counts().reindex(order, fill_value=0)
    counts = inner.copy()
    counts[MARGIN] = modules.value_counts().reindex(order)
    counts.loc[MARGIN] = [*sizes[columns], len(modules)]
    return CrossTable(
        name=name,
        counts=counts.astype(int).rename_axis(index="module", columns="label"),
        p_values=_tails(inner, sizes, labelled, known.index.nunique()),
        adjusted_rand=float(adjusted_rand_score(known[both.index], both)) if len(both) and not sets else float("nan"),
        purity=_purity(inner, labelled),
        cohesion=_cohesion(name, known[:0] if sets else known, modules, genes, Z),
        enrichment=enrichment(known, modules, genes),
        unknown=int(labels.index.nunique() - known.index.nunique()),
    )


def check_labels(name: str, labels: pd.Series[Any], genes: pd.Index) -> None:
    """Refuse labels that have no gene in common with the analysis."""
    if not labels.dropna().index.isin(genes).any():
        raise ValueError(
            f"labels {name!r} name no analysed gene: they have {listed(labels.index)}, the analysis has "
            f"{listed(genes)}; see whether both use the same kind of names."
        )


def _number(module: str) -> tuple[int, str]:
    digits = module.lstrip("M")
    return (int(digits), module) if digits.isdigit() else (0, module)


def _tails(inner: pd.DataFrame, sizes: pd.Series[int], labelled: pd.Series[int], population: int) -> pd.DataFrame:
    """Return P(at least as many in common) if a module's labelled genes were drawn from all labelled genes."""
    drawn = labelled.to_numpy()[:, None]
    marked = sizes[inner.columns].to_numpy()[None, :]
    tails = hypergeom.sf(inner.to_numpy() - 1, population, marked, drawn)
    return pd.DataFrame(tails, index=inner.index, columns=inner.columns).rename_axis(index="module", columns="label")


def _purity(inner: pd.DataFrame, labelled: pd.Series[int]) -> pd.DataFrame:
    if not inner.shape[1]:
        label, share = [""] * len(inner), np.full(len(inner), np.nan)
    else:
        best = inner.to_numpy().argmax(axis=1)
        label = [str(inner.columns[k]) if n else "" for k, n in zip(best, labelled, strict=True)]
        share = np.where(labelled > 0, inner.to_numpy().max(axis=1) / np.maximum(labelled, 1), np.nan)
    return pd.DataFrame({"module": inner.index, "n_labelled": labelled.to_numpy(), "label": label, "purity": share})


def _cohesion(name: str, known: pd.Series[str], modules: pd.Series[str], genes: pd.Index, Z: Array) -> pd.DataFrame:
    """Return correlations within the modules of either method, theirs in full."""
    rows = []
    for method, partition in ((OURS, modules), (name, known)):
        for module in sorted(partition.unique(), key=_number):
            members = genes.get_indexer(partition.index[partition == module])
            mean, absolute = mean_correlations(Z[:, members])
            rows.append((method, module, len(members), mean, absolute))
    return pd.DataFrame(rows, columns=["method", "module", "n_genes", "mean_correlation", "mean_absolute_correlation"])
