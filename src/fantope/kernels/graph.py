"""Connected components of the graph {|S_ij| > alpha, i ≠ j}, read straight from the dense matrix."""

from __future__ import annotations

import numpy as np

from fantope.typing import Array, IntArray


def component_labels(S: Array, alpha: float) -> IntArray:
    """Label the components by their smallest variable's order; breadth first, each row is read at most once.

    In a dense graph the first few rows reach every variable and the search stops there, which building a
    sparse graph first could not do.
    """
    labels = np.full(len(S), -1, dtype=np.intp)
    unseen = np.arange(len(S))
    label = -1
    while len(unseen):
        label += 1
        labels[unseen[0]] = label
        queue, unseen = [unseen[:1]], unseen[1:]
        while queue:
            for row in queue.pop():
                if not len(unseen):
                    return labels
                near = np.abs(S[row].take(unseen)) > alpha
                if near.any():
                    labels[unseen[near]] = label
                    queue.append(unseen[near])
                    unseen = unseen[~near]
    return labels
