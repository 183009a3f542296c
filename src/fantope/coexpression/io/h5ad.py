"""The result of a co-expression analysis as AnnData, where scanpy looks for things."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fantope.coexpression.analysis.result import Coexpression
from fantope.coexpression.io.tables import plain_names
from fantope.coexpression.view import loadings
from fantope.errors import need


def write_h5ad(file: Path, result: Coexpression) -> None:
    """Write samples × genes that any group uses.

    ``X`` is the prepared expression. ``obs["group"]`` is the sample's group and ``var["module_<group>"]`` the gene's
    module, ``var["proven_<group>"]`` what the certificate proves of it ("in", "out" or "undecided"; also of genes that
    only other groups use). ``varm["spca_<group>"]`` are the loadings, ``obsm["X_spca_<group>"]`` the scores on them,
    each gene scaled within the sample's own group: ``scanpy.pl.embedding(adata, "spca_<group>", color="group")`` works;
    ``sparse_spca_<group>`` is the same in the sparse basis, one module a component where the data have it.
    ``obsm["eigengenes_<group>"]`` are the eigengenes, NaN for the samples of other groups. ``uns["fantope"]`` has
    parameters and the table that alpha was chosen from.
    """
    anndata = need("anndata", "expression")
    groups = list(result.groups.values())
    whole = pd.concat([group.expression for group in groups])
    scaled = pd.concat([_scaled(group.expression) for group in groups]).to_numpy(dtype=float)
    repeated = np.repeat([group.name for group in groups], [len(group.expression) for group in groups])
    obs = pd.DataFrame({"group": pd.Categorical(repeated)}, index=whole.index.astype(str))
    var = pd.DataFrame(index=whole.columns.astype(str))
    varm, obsm = {}, {}
    plain = plain_names(list(result.groups))  # a slash in a key would make a folder of HDF5
    for group in groups:
        name = plain[group.name]
        table = group.genes.set_index("gene").reindex(whole.columns)
        var[f"module_{name}"] = pd.Categorical(table["module"])
        var[f"kme_{name}"] = table["kme"].to_numpy(dtype=float)
        var[f"proven_{name}"] = pd.Categorical(group.solution.verdicts()[result.gene_names.get_indexer(whole.columns)])
        for key, basis in (("spca", "pc"), ("sparse_spca", "sparse")):
            weights = loadings(table, basis)
            weights[np.isnan(weights)] = 0.0
            varm[f"{key}_{name}"] = weights
            obsm[f"X_{key}_{name}"] = scaled @ weights
        obsm[f"eigengenes_{name}"] = group.eigengenes.reindex(whole.index).set_axis(obs.index)
    data = anndata.AnnData(whole.to_numpy(dtype=float), obs=obs, var=var, varm=varm, obsm=obsm)
    renamed = {f"{kind}_{group}": f"{kind}_{name}" for group, name in plain.items() for kind in ("n", "gap", "alpha")}
    data.uns["fantope"] = {
        "alpha": float(result.alpha),
        "parameters": {name: _plain(value) for name, value in result.parameters.items() if value is not None},
        "selection": result.selection.rename(columns=renamed).reset_index(drop=True),
        "notes": np.array([str(note) for note in result.notes], dtype=object),
    }
    with warnings.catch_warnings():
        # About its own future defaults.
        warnings.simplefilter("ignore", FutureWarning)
        data.write_h5ad(file, compression="gzip")


def _scaled(table: Any) -> Any:
    centred = table - table.mean()
    return centred / centred.std(ddof=0).replace(0.0, 1.0)


def _plain(value: Any) -> Any:
    """Return what HDF5 can hold."""
    if isinstance(value, list | tuple):
        return np.array(value, dtype=object if any(isinstance(each, str) for each in value) else float)
    return value if isinstance(value, bool | int | float | str) else str(value)
