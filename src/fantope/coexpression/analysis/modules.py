"""Modules: genes of an active set whose loadings point the same way, with their eigengenes and hubs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import cut_tree, fcluster, linkage
from sklearn.metrics import silhouette_score

from fantope.checks import check_whole
from fantope.coexpression.analysis.correlation import mean_correlations
from fantope.solvers import Solution
from fantope.typing import Array, IntArray

HUBS = 5  # genes named for each module
SAME = 1e-9  # distance below which two directions are the same


@dataclass(frozen=True, eq=False)
class Modules:
    """A partition of an active set."""

    labels: IntArray  # (m,): module of each gene, 0 for the largest
    names: tuple[str, ...]  # M1, M2, …
    choice: pd.DataFrame  # k, silhouette, smallest (genes in the smallest module), chosen


def genes_in_use(solution: Solution) -> IntArray:
    """Return the genes that share an entry of X with another, ascending.

    The support of X may hold more: where fewer than d groups of genes are correlated above alpha, single genes make up
    its trace. Each has variance 1, so that their order in the table decides which they are. They go with nothing, and
    would be the same in every group.
    """
    entries = np.diff(solution.projection.indptr)
    return solution.support[entries[solution.support] > 1]


def loadings_of(solution: Solution) -> Array:
    """Return (m, r) loadings of the m genes in use: X = L Lᵀ on these.

    Where X is a projection these are, up to a rotation that no distance sees, the loadings of its d components, r = d.
    Where it is not, a gene may be in use outside the leading d dimensions, and directions with nearly equal eigenvalues
    are as good as one another: then L has a column for each eigenvalue, weighted with it, and none is cut off.
    """
    factors, rows = solution.factors, np.isin(solution.support, genes_in_use(solution))
    return np.asarray((np.sqrt(factors.weights)[:, None] * factors.vectors[:, rows]).T)


def fewest_genes(n_active: int) -> int:
    """Return how many genes a module has at least where the number of modules is not given: five, or a tenth of few.

    Examples
    --------
    >>> fewest_genes(236), fewest_genes(36), fewest_genes(11)
    (5, 3, 2)
    """
    return min(5, max(n_active // 10, 2))


def find_modules(loadings: Array, n_modules: int | None = None, *, n_components: int | None = None) -> Modules:
    """Cluster genes by the direction of their loadings.

    Row i of the (m, r) loadings says how gene i takes part in the components. Its length is its weight in the subspace
    (the square root of its leverage); its direction says what it goes with. So rows are scaled to length 1 and joined
    by Ward's criterion, which is deterministic and nested: the modules for k + 1 split one of those for k, and a
    sub-module stays inside its module. Signs stay: a gene that falls where the others rise is in another module.

    Without ``n_modules`` the number is the one with the largest mean silhouette among 2 … 2d + 1 (with d components and
    two signs each, about 2d directions can be distinguished), as long as every module has at least five genes (a
    tenth of fewer than 50, or two): the silhouette alone rewards pairs. One component alone has two directions, its
    signs.

    Parameters
    ----------
    loadings : (m, r) array
        No row zero.
    n_modules : int, optional
        More than there are directions are as many as there are.
    n_components : int, optional
        d, by default r.

    Examples
    --------
    >>> found = find_modules(np.array([[0.9, 0.0], [0.2, 0.01], [0.0, 0.3], [0.4, 0.0], [0.02, 0.5]]), 2)
    >>> found.labels.tolist()
    [0, 0, 1, 0, 1]
    """
    m, d = len(loadings), n_components or loadings.shape[1]
    rows = loadings / np.linalg.norm(loadings, axis=1, keepdims=True)
    distinct = _distinct(rows)
    if n_modules is not None:
        candidates = [min(check_whole("n_modules", n_modules, 1), distinct)]
    elif distinct == 1:
        candidates = [1]
    else:
        candidates = [k for k in range(2, 2 * d + 2) if k <= distinct and k < m] or [distinct]
    cuts = [_cut(rows, k) for k in candidates]
    scores = np.array([silhouette_score(rows, cut) if 1 < cut.max() + 1 < m else np.nan for cut in cuts])
    smallest = np.array([np.bincount(cut).min() for cut in cuts])
    best = _best(scores, smallest, fewest_genes(m))
    choice = pd.DataFrame(
        {"k": candidates, "silhouette": scores, "smallest": smallest, "chosen": np.arange(len(cuts)) == best}
    )
    return _ordered(cuts[best], choice)


def _best(scores: Array, smallest: IntArray, fewest: int) -> int:
    if len(scores) == 1:
        return 0
    enough = smallest >= fewest
    # Where no number leaves so many genes in each module, the fewest modules come closest.
    return int(np.nanargmax(np.where(enough, scores, -np.inf))) if enough.any() else 0


def _distinct(rows: Array) -> int:
    """Return how many directions there are."""
    if len(rows) == 1:
        return 1
    return int(fcluster(linkage(rows, "complete"), SAME, "distance").max())


def _cut(rows: Array, k: int) -> IntArray:
    """Return k clusters."""
    if len(rows) == 1 or k == 1:
        return np.zeros(len(rows), dtype=np.intp)
    # Not fcluster: where joins are at the same height it gives fewer clusters than asked for.
    return np.asarray(cut_tree(linkage(rows, "ward"), [k])[:, 0], dtype=np.intp)


def _ordered(labels: IntArray, choice: pd.DataFrame) -> Modules:
    """Return the clusters numbered by descending size, ties by first appearance."""
    _, first, cluster, counts = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    place = np.argsort(np.lexsort((first, -counts)))
    return Modules(place[cluster], tuple(f"M{k + 1}" for k in range(len(counts))), choice)


def eigengene(Z: Array) -> tuple[Array, float]:
    """Return the first left singular vector of rewritten columns, and the share of their variance that it explains.

    It has length 1, and its sign is that of the genes' mean.
    """
    U, s, _ = np.linalg.svd(Z, full_matrices=False)
    vector = U[:, 0]
    # Exactly zero only if the genes cancel, as two opposite ones do; then any sign is as good.
    sign = 1.0 if vector @ Z.sum(axis=1) >= 0.0 else -1.0
    return sign * vector, float(s[0] ** 2 / (s**2).sum())


def describe_modules(
    Z: Array, modules: Modules, genes: pd.Index, samples: pd.Index
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Return what is known of genes, of modules, and the eigengenes, from the rewritten columns of the active set.

    By gene: gene, module, kme (correlation with the module's eigengene), hub_rank (1 for the largest kme in the
    module). By module: module, n_genes, mean_correlation, explained_variance, hubs. Eigengenes: samples × modules,
    scaled to variance 1.
    """
    kme = np.zeros(len(genes))
    rank = np.zeros(len(genes), dtype=np.intp)
    rows, columns = [], {}
    for k, name in enumerate(modules.names):
        members = np.flatnonzero(modules.labels == k)
        vector, explained = eigengene(Z[:, members])
        kme[members] = np.clip(vector @ Z[:, members], -1.0, 1.0)
        order = members[np.argsort(-kme[members], kind="stable")]
        rank[order] = np.arange(1, len(order) + 1)
        columns[name] = vector * np.sqrt(len(Z))
        rows.append(
            {
                "module": name,
                "n_genes": len(members),
                "mean_correlation": mean_correlations(Z[:, members])[0],
                "explained_variance": explained,
                "hubs": ", ".join(str(genes[i]) for i in order[:HUBS]),
            }
        )
    names = np.asarray(modules.names, dtype=object)[modules.labels]
    by_gene = pd.DataFrame({"gene": genes, "module": names, "kme": kme, "hub_rank": rank})
    return by_gene, pd.DataFrame(rows), pd.DataFrame(columns, index=samples)


def describe_components(basis: Array, Z: Array, modules: Modules, n_genes: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return which module each component of a sparse basis holds, and which component each module lies on.

    Parameters
    ----------
    basis : (m, d) array
        Orthonormal columns, or zeros where a component has no gene in use.
    Z : (n, m) array
        Rewritten columns of the active set.
    modules : Modules
    n_genes : int
        Number of analysed genes, which is the variance to be explained.

    Returns
    -------
    components : DataFrame
        component, explained_variance, share (of all variance), n_genes (with their largest loading here), module (that
        has most of it), module_share (of its squared loadings).
    places : DataFrame
        component, component_share, one row a module.
    """
    weights = np.array([(basis[modules.labels == k] ** 2).sum(axis=0) for k in range(len(modules.names))])
    variance = ((Z @ basis) ** 2).sum(axis=0)
    largest = np.abs(basis).argmax(axis=1)
    components = pd.DataFrame(
        {
            "component": np.arange(1, basis.shape[1] + 1),
            "explained_variance": variance,
            "share": variance / n_genes,
            "n_genes": np.bincount(largest, minlength=basis.shape[1]),
            "module": np.asarray(modules.names, dtype=object)[weights.argmax(axis=0)],
            "module_share": weights.max(axis=0) / np.maximum(weights.sum(axis=0), np.finfo(float).tiny),
        }
    )
    # Single genes, which are not in use, may have some for themselves.
    components = components.loc[np.flatnonzero(weights.any(axis=0))]
    # Where X is no projection a module may lie outside the d components altogether.
    total = np.maximum(weights.sum(axis=1), np.finfo(float).tiny)
    places = pd.DataFrame({"component": weights.argmax(axis=1) + 1, "component_share": weights.max(axis=1) / total})
    return components, places
