"""Genes in use, of a solution of sparse PCA of correlations."""

from __future__ import annotations

import numpy as np

from fantope.solvers import Solution
from fantope.typing import IntArray


def genes_in_use(solution: Solution) -> IntArray:
    """Return the genes that share an entry of X with another, ascending.

    The support of X may hold more: where fewer than d groups of genes are correlated above alpha, single genes make up
    its trace. Each has variance 1, so that their order in the table decides which they are. They go with nothing, and
    would be the same in every group.
    """
    entries = np.diff(solution.projection.indptr)
    return solution.support[entries[solution.support] > 1]
