"""Which genes a picture of correlations shows, in which order, and how their correlations are spread."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

    from fantope.coexpression.analysis.result import Coexpression

MOST = 1000  # genes in one picture: more are finer than a screen's pixels and would make the report heavy
SAMPLE = 20_000  # correlations that a density is estimated from; more do not change the curve
Floats = NDArray[np.float64]


def by_module(genes: pd.DataFrame, most: int | None = MOST) -> pd.DataFrame:
    """Return the genes of an active set, module by module, hubs first; at most ``most``, those of largest leverage."""
    kept = genes if most is None else genes.nlargest(most, "leverage")
    order = kept.assign(number=kept["module"].map(_natural)).sort_values(["number", "hub_rank"], kind="stable")
    return order.drop(columns="number").reset_index(drop=True).assign(band=lambda table: table["module"].astype(str))


def by_specificity(result: Coexpression, first: str, second: str) -> pd.DataFrame:
    """Return the genes that one of two groups uses and the other does not, by group and module.

    All genes of both groups if fewer than two are specific: with none to show, what they share is shown.
    """
    import pandas as pd

    mine, other = (result.groups[name].genes for name in (first, second))
    only = [
        mine[~mine["gene"].isin(other["gene"])].assign(specific_to=first),
        other[~other["gene"].isin(mine["gene"])].assign(specific_to=second),
    ]
    if sum(map(len, only)) < 2:
        return by_module(pd.concat([mine, only[1]], ignore_index=True)).assign(specific_to="")
    parts = [by_module(part) for part in only if len(part)]
    table = pd.concat(parts, ignore_index=True).iloc[:MOST]
    if len(parts) > 1:
        table["band"] = table["specific_to"] + " " + table["band"]
    return table


def _natural(module: object) -> tuple[int, str]:
    """Return a key under which M10 comes after M9."""
    digits = re.search(r"\d+", str(module))
    return (int(digits.group()) if digits else 10**9, str(module))


def bands(table: pd.DataFrame) -> list[tuple[str, int, int]]:
    """Return name, start and stop of each run of one ``band``.

    Examples
    --------
    >>> import pandas as pd
    >>> bands(pd.DataFrame({"band": ["M1", "M1", "M2"]}))
    [('M1', 0, 2), ('M2', 2, 3)]
    """
    found, start = [], 0
    for name, members in groupby(table["band"]):
        stop = start + sum(1 for _ in members)
        found.append((str(name), start, stop))
        start = stop
    return found


def loadings(table: pd.DataFrame, basis: str = "sparse") -> Floats:
    """Return the (genes, d) loadings in a basis, "sparse" or "pc": the columns of that name and a number."""
    chosen = [name for name in table if re.fullmatch(rf"{basis}\d+", str(name))]
    return np.asarray(table[chosen].to_numpy(dtype=float))


def densities(matrices: Sequence[pd.DataFrame]) -> tuple[Floats, list[Floats]]:
    """Return a grid over [−1, 1] and, on it, the density of each matrix's correlations off the diagonal."""
    from scipy.stats import gaussian_kde

    grid = np.linspace(-1.0, 1.0, 201)
    curves = []
    for matrix in matrices:
        values = matrix.to_numpy(dtype=float)[np.triu_indices(len(matrix), 1)]
        values = values[np.isfinite(values)]
        values = values[:: max(1, len(values) // SAMPLE)]
        # Fewer than three values, or equal ones, have no density to speak of.
        spread = len(values) > 2 and float(np.ptp(values)) > 1e-9
        curves.append(np.asarray(gaussian_kde(values)(grid)) if spread else np.zeros_like(grid))
    return grid, curves
