"""Tools on AnnData in scanpy's way: results are written into the object, under names that scanpy's plots know."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fantope.checks import is_sparse
from fantope.coexpression import Coexpression, analyse
from fantope.coexpression.view import loadings as loadings_of
from fantope.operators import covariance
from fantope.path import solve_for_size
from fantope.solvers import Solution, solve

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["coexpression_modules", "sparse_pca"]


def sparse_pca(
    adata: AnnData,
    n_comps: int = 5,
    *,
    alpha: float | None = None,
    n_genes: int = 200,
    kind: Literal["covariance", "correlation"] = "correlation",
    layer: str | None = None,
    mask_var: Any = None,
    key_added: str | None = None,
    tol: float = 1e-3,
) -> Solution:
    """Find sparse principal components and write them where scanpy looks for them.

    Parameters
    ----------
    adata : AnnData
        Changed in place: ``obsm["X_spca"]`` (scores), ``varm["SPCs"]`` (loadings, genes × components),
        ``varm["SPCs_sparse"]`` (the same subspace in its sparse basis: see :meth:`Solution.loadings
        <fantope.Solution.loadings>`), ``var["spca"]`` (whether a gene is in use), ``var["spca_proven"]`` (what the
        certificate proves of it: "in" use in every optimum, "out", "undecided") and ``uns["spca"]`` (variance,
        variance_ratio, params with alpha, gap and status). ``scanpy.pl.embedding(adata, basis="spca")`` draws the
        scores.
    n_comps : int, default 5
    alpha : float, optional
        Penalty. By default the one that puts about ``n_genes`` genes to use.
    n_genes : int, default 200
        Read only where ``alpha`` is not given.
    kind : {"covariance", "correlation"}
    layer : str, optional
        Instead of ``adata.X``.
    mask_var : str or array of bool, optional
        Genes to use: a column of ``adata.var``, for example "highly_variable", or one value a gene. Others get no
        loading.
    key_added : str, optional
        Name to use instead of ``X_spca``, ``SPCs`` and ``spca``, for all of them; the others end in ``_sparse`` and
        ``_proven``.
    tol : float, default 1e-3
        Relative duality gap.

    Returns
    -------
    Solution
        Of the genes that were used; ``verify()`` checks its certificate.

    Examples
    --------
    >>> import anndata, fantope
    >>> sim = fantope.simulate(100, 60, sizes=(8, 6))
    >>> adata = anndata.AnnData(sim.Z)
    >>> _ = fantope.tl.sparse_pca(adata, 2, alpha=0.4)
    >>> adata.obsm["X_spca"].shape, adata.varm["SPCs"].shape, adata.uns["spca"]["n_genes"]
    ((100, 2), (60, 2), 13)
    """
    mask = _mask(adata, mask_var)
    part = adata if mask.all() else adata[:, mask]
    S = covariance(part, kind=kind, layer=layer)
    if alpha is None:
        solution = solve_for_size(S, n_comps, min(n_genes, S.size), tol=tol)
    else:
        solution = solve(S, n_comps, alpha, tol=tol)
    used = np.flatnonzero(mask)[solution.support]
    values = adata.X if layer is None else adata.layers[layer]
    columns = values[:, used]
    dense = np.asarray(columns.toarray() if is_sparse(columns) else columns, dtype=np.float64)
    V = solution.components[:, solution.support]
    loadings, sparse = np.zeros((2, adata.n_vars, solution.n_components))
    loadings[used] = V.T
    sparse[mask] = solution.loadings("sparse")
    in_use = np.zeros(adata.n_vars, dtype=bool)
    in_use[used] = True
    proven = np.full(adata.n_vars, None, dtype=object)
    proven[mask] = solution.verdicts()
    scores, varm, uns = (key_added,) * 3 if key_added else ("X_spca", "SPCs", "spca")
    adata.obsm[scores] = (dense - S.mean[solution.support]) / S.scale[solution.support] @ V.T
    adata.varm[varm] = loadings
    adata.varm[f"{varm}_sparse"] = sparse
    adata.var[uns] = in_use
    adata.var[f"{uns}_proven"] = pd.Categorical(proven)
    adata.uns[uns] = {
        "variance": solution.explained_variance,
        "variance_ratio": solution.explained_variance / float(S.diagonal().sum()),
        "n_genes": len(used),
        "params": {
            "alpha": float(solution.alpha),
            "kind": kind,
            "layer": layer or "",
            "gap": float(solution.gap),
            "status": solution.status.name,
        },
    }
    return solution


def coexpression_modules(
    adata: AnnData,
    groupby: str | None = None,
    *,
    layer: str | None = None,
    key_added: str = "coexpression",
    **options: Any,
) -> Coexpression:
    """Run :func:`fantope.coexpression.analyse` on AnnData and write modules and eigengenes into it.

    Parameters
    ----------
    adata : AnnData
        Changed in place. For each group g: ``var["coexpression_<g>"]`` (module of each gene, missing where it has
        none), ``var["coexpression_<g>_proven"]`` ("in", "out" or "undecided"; missing for genes that were left out),
        ``varm["coexpression_<g>"]`` (loadings in the sparse basis), ``obsm["X_coexpression_<g>"]`` (eigengenes, a
        DataFrame; missing for samples of other groups); and ``uns["coexpression"]`` (alpha, and the tables
        of selection, modules and notes).
    groupby : str, optional
        Column of ``adata.obs`` with the groups; by default all samples are one group, called "all".
    layer : str, optional
        Instead of ``adata.X``.
    key_added : str, default "coexpression"
        Name to use instead.
    **options
        Of :func:`fantope.coexpression.analyse`.

    Returns
    -------
    Coexpression

    Examples
    --------
    >>> import anndata, fantope
    >>> sim = fantope.simulate(100, 60, sizes=(12, 9))
    >>> adata = anndata.AnnData(sim.Z)
    >>> _ = fantope.tl.coexpression_modules(adata, n_components=2, alphas=[0.3, 0.2], min_genes=5, max_genes=40)
    >>> adata.var["coexpression_all"].value_counts().tolist()[:2]
    [12, 9]
    """
    if groupby is not None and groupby not in adata.obs:
        known = ", ".join(map(repr, adata.obs.columns)) or "none"
        raise ValueError(f"groupby must be one of the columns of adata.obs ({known}), got {groupby!r}.")
    groups = None if groupby is None else adata.obs[groupby].astype(object)
    found = analyse(adata.to_df(layer), groups, **options)
    modules = {}
    for name, group in found.groups.items():
        assigned = group.genes.set_index("gene")["module"]
        adata.var[f"{key_added}_{name}"] = assigned.reindex(adata.var_names).astype("category")
        proven = pd.Series(group.solution.verdicts(), found.gene_names)
        adata.var[f"{key_added}_{name}_proven"] = proven.reindex(adata.var_names).astype("category")
        sparse = pd.DataFrame(loadings_of(group.genes), index=group.genes["gene"])
        adata.varm[f"{key_added}_{name}"] = sparse.reindex(adata.var_names, fill_value=0.0).to_numpy()
        adata.obsm[f"X_{key_added}_{name}"] = group.eigengenes.reindex(adata.obs_names)
        modules[name] = group.modules
    adata.uns[key_added] = {
        "alpha": found.alpha,
        "selection": found.selection,
        "modules": modules,
        "notes": list(found.notes),
    }
    return found


def _mask(adata: AnnData, mask_var: Any) -> NDArray[np.bool_]:
    """Return which genes to use."""
    if mask_var is None:
        return np.ones(adata.n_vars, dtype=bool)
    if isinstance(mask_var, str):
        if mask_var not in adata.var:
            known = ", ".join(map(repr, adata.var.columns)) or "none"
            raise ValueError(f"mask_var must be one of the columns of adata.var ({known}), got {mask_var!r}.")
        mask_var = adata.var[mask_var]
    mask = np.asarray(mask_var)
    if mask.dtype != bool or mask.shape != (adata.n_vars,):
        raise ValueError(
            f"mask_var must hold one boolean for each of the {adata.n_vars} genes, got {mask.dtype} of shape "
            f"{mask.shape}."
        )
    return mask
