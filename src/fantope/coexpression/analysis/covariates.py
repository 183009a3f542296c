"""What is known beside expression (batch, age, sex), taken out of it within each group."""

from __future__ import annotations

import numpy as np
import pandas as pd

from fantope.errors import listed
from fantope.typing import Array

# Degrees of freedom that must be left in each group, as many as the smallest group has without covariates.
REMAINING = 4


def regress_out(
    table: pd.DataFrame, labels: pd.Series[str], covariates: pd.DataFrame, notes: list[str]
) -> tuple[pd.DataFrame, dict[str, Array]]:
    """Return the residuals of each gene, group by group, with the gene's mean in the group put back; and the designs.

    Within groups, so that what differs between groups is neither taken out nor used to estimate a slope.
    """
    rows = covariates.reindex(table.index)
    unknown = table.index[~table.index.isin(covariates.index)]
    if len(unknown):
        raise ValueError(
            f"covariates must have a row for every sample, but lack {listed(unknown)}; add them, or leave those "
            "samples out."
        )
    holes = rows.isna().any(axis=0)
    if holes.any():
        where = rows.columns[holes]
        raise ValueError(f"covariates must have no missing values, got some in {listed(where)}; fill or drop them.")
    values = table.to_numpy(copy=True)
    designs = {}
    for name in labels.unique():
        chosen = (labels == name).to_numpy()
        designs[name] = design = _design(rows[chosen])
        rank = int(np.linalg.matrix_rank(design)) if design.shape[1] else 0
        if chosen.sum() - 1 - rank < REMAINING:
            raise ValueError(
                f"covariates must leave at least {REMAINING} degrees of freedom in each group, but group {name!r} has "
                f"{chosen.sum()} samples and they take {rank + 1}; use fewer covariates or levels."
            )
        part = values[chosen]
        mean = part.mean(axis=0)
        slopes = np.linalg.lstsq(design, part - mean, rcond=None)[0]
        values[chosen] = part - design @ slopes
    notes.append(f"Regressed out of each gene within each group: {', '.join(map(str, covariates.columns))}.")
    return pd.DataFrame(values, index=table.index, columns=table.columns), designs


def _design(rows: pd.DataFrame) -> Array:
    """Return centred, scaled columns: numbers as they are, levels as indicators."""
    columns: list[Array] = []
    for name in rows.columns:
        column = rows[name]
        if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
            columns.append(column.to_numpy(dtype=np.float64))
        else:
            levels = column.astype(str)
            columns.extend((levels == level).to_numpy(dtype=np.float64) for level in sorted(levels.unique())[1:])
    design = np.array(columns).T.reshape(len(rows), len(columns))
    design = design - design.mean(axis=0)
    spread = np.linalg.norm(design, axis=0)
    varying = spread > 1e-12 * np.abs(design).max(initial=1.0)
    return np.asarray(design[:, varying] / spread[varying])
