"""A small co-expression analysis that tests of figures, files and the report share."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from fantope.coexpression import Coexpression, analyse

SCRIPT = "<script>document.title='owned'</script>"  # names that must stay text wherever they are shown
ODD = 'A&B "$x$"'
SETTINGS = {"n_components": 3, "alphas": [0.85, 0.8, 0.75, 0.7], "min_genes": 20, "max_genes": 80, "permutations": 20}


def expression(n_genes: int = 90, *, seed: int = 0, groups: tuple[str, ...] = ("control", "case")):
    """Return samples × genes, and groups: two families of genes in all groups, a third in the last only."""
    rng = np.random.default_rng(seed)
    genes = [SCRIPT, ODD, *(f"G{j}" for j in range(2, n_genes))]
    blocks = []
    for group in groups:
        X = rng.standard_normal((30, n_genes))
        for start, stop in ((0, 16), (16, 30), (30, 42)):
            if start == 30 and group != groups[-1]:
                continue
            X[:, start:stop] = 0.96 * rng.standard_normal((30, 1)) + 0.28 * X[:, start:stop]
        blocks.append(pd.DataFrame(6 + X, columns=genes, index=[f"{group}{k}" for k in range(30)]))
    table = pd.concat(blocks)
    return table, pd.Series(np.repeat(groups, 30), index=table.index)


def labels(table: pd.DataFrame) -> pd.Series:
    """Return WGCNA-like colours of the first genes, and of two that the data lack."""
    colours = ["turquoise"] * 16 + ["<b>blue</b>"] * 14 + ["brown"] * 12
    return pd.Series([*colours, "grey", "grey"], index=[*table.columns[:42], "ABSENT1", "ABSENT2"])


@cache
def two_groups() -> Coexpression:
    """Return the analysis of two groups that differ."""
    table, groups = expression()
    return analyse(table, groups, labels={"colours": labels(table)}, **SETTINGS)


@cache
def one_group() -> Coexpression:
    """Return the analysis of one group alone."""
    table, _ = expression(groups=("all",))
    return analyse(table, **SETTINGS)


@cache
def equal_groups() -> Coexpression:
    """Return the analysis of groups that come from the same distribution."""
    table, groups = expression(seed=3, groups=("left", "right"))
    table, groups = table[groups == "right"], None
    rng = np.random.default_rng(1)
    table = pd.concat([table, table + 0.2 * rng.standard_normal(table.shape)], ignore_index=True)
    table.index = [f"s{k}" for k in range(len(table))]
    halves = np.where(rng.permutation(len(table)) % 2, "left", "right")
    return analyse(table, halves, **SETTINGS)
