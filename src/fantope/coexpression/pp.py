"""Preparation of AnnData in scanpy's way: the object is changed in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from fantope.checks import is_sparse
from fantope.errors import require

if TYPE_CHECKING:
    from anndata import AnnData

__all__ = ["filter_genes", "log_cpm"]


def log_cpm(adata: AnnData, *, layer: str | None = None) -> None:
    """Turn counts into log₂(1 + counts per million), in place.

    Parameters
    ----------
    adata : AnnData
        ``adata.X``, or the layer, is replaced; sparse stays sparse.
    layer : str, optional
        Instead of ``adata.X``.

    Examples
    --------
    >>> import anndata, fantope, numpy as np
    >>> adata = anndata.AnnData(np.array([[1.0, 999999.0], [0.0, 50.0]]))
    >>> fantope.pp.log_cpm(adata)
    >>> adata.X[:, 0].tolist()
    [1.0, 0.0]
    """
    counts: Any = _values(adata, layer)
    numbers = counts.data if is_sparse(counts) else counts
    if (np.asarray(numbers) < 0).any():
        raise ValueError("log_cpm needs counts of zero or more, got negative values; these are logarithms already.")
    depth = np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()
    if (depth == 0.0).any():
        name = adata.obs_names[int(np.argmax(depth == 0.0))]
        raise ValueError(f"log_cpm needs counts in every sample, got none in {name!r}; leave it out.")
    if is_sparse(counts):
        scaled = scipy.sparse.diags_array(1e6 / depth) @ counts.astype(np.float64)
        result: Any = type(counts)(scaled)
        result.data = np.log2(1.0 + result.data)
    else:
        result = np.log2(1.0 + np.asarray(counts, dtype=np.float64) * (1e6 / depth)[:, None])
    if layer is None:
        adata.X = result
    else:
        adata.layers[layer] = result


def filter_genes(adata: AnnData, *, min_value: float = 0.0, min_share: float = 0.5, layer: str | None = None) -> None:
    """Keep the genes that exceed a value in a share of the samples and that vary, in place.

    Parameters
    ----------
    adata : AnnData
    min_value : float, default 0
        Exclusive. For :func:`log_cpm` data, 1 is one count per million.
    min_share : float, default 0.5
        Of all samples.
    layer : str, optional
        Instead of ``adata.X``.

    Examples
    --------
    >>> import anndata, fantope, numpy as np
    >>> adata = anndata.AnnData(np.array([[1.0, 0.0, 2.0], [3.0, 0.0, 2.0], [2.0, 1.0, 2.0]]))
    >>> fantope.pp.filter_genes(adata)
    >>> list(adata.var_names)
    ['0']
    """
    require(0.0 <= min_share <= 1.0, "min_share", "be a share between 0 and 1", repr(min_share))
    values: Any = _values(adata, layer)
    above = np.asarray((values > min_value).sum(axis=0)).ravel() >= min_share * adata.n_obs
    low, high = (np.asarray(_dense(edge)).ravel() for edge in (values.min(axis=0), values.max(axis=0)))
    adata._inplace_subset_var(above & (high > low))


def _values(adata: AnnData, layer: str | None) -> Any:
    if layer is not None and layer not in adata.layers:
        known = ", ".join(map(repr, adata.layers)) or "none"
        raise ValueError(f"layer must be one of the layers of adata ({known}), got {layer!r}.")
    return adata.X if layer is None else adata.layers[layer]


def _dense(values: Any) -> Any:
    return values.toarray() if is_sparse(values) else values
