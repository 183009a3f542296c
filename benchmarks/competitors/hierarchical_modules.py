"""Modules in the way of WGCNA: soft-thresholded correlations, topological overlap, average linkage, a cut tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

NAME = "hierarchical clustering of topological overlap"
POWER = 12  # the usual one for signed networks


def tree(X: NDArray[np.float64], power: float = POWER) -> NDArray[np.float64]:
    """Return the average-linkage tree of 1 − topological overlap.

    Adjacency a = ((1 + r)/2)^power with zero diagonal, connectivity k = Σ a, and
    overlap (Σ_u a_iu a_uj + a_ij) / (min(k_i, k_j) + 1 − a_ij).
    """
    A = ((1.0 + np.corrcoef(X, rowvar=False)) / 2.0) ** power
    np.fill_diagonal(A, 0.0)
    k = A.sum(axis=0)
    distance = 1.0 - (A @ A + A) / (np.minimum(k[:, None], k) + 1.0 - A)
    np.fill_diagonal(distance, 0.0)
    return np.asarray(linkage(squareform(np.clip(0.5 * (distance + distance.T), 0.0, None), checks=False), "average"))


def cut(links: NDArray[np.float64], height: float, smallest: int) -> NDArray[np.intp]:
    """Return a label for each variable; −1 where its cluster has fewer than ``smallest``."""
    labels = fcluster(links, height, "distance") - 1
    sizes = np.bincount(labels)
    return np.where(sizes[labels] >= smallest, labels, -1)
