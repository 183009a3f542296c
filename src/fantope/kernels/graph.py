"""Connected components of the graph {|S_ij| > alpha, i ≠ j}, read straight from the dense matrix."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def component_labels(S, alpha):  # type: ignore[no-untyped-def]
    """Label the components by their smallest variable's order; breadth first, each row is read at most once.

    In a dense graph the first few rows reach every variable and the search stops there, which building a
    sparse graph first could not do.
    """
    p = S.shape[0]
    labels = np.full(p, -1, np.int64)
    unseen = np.arange(p)
    n_unseen = p
    queue = np.empty(p, np.int64)
    label = 0
    for start in range(p):
        if labels[start] >= 0:
            continue
        labels[start] = label
        queue[0] = start
        head, tail = 0, 1
        while head < tail and n_unseen > 0:
            row = queue[head]
            head += 1
            left = 0
            for position in range(n_unseen):
                j = unseen[position]
                if labels[j] >= 0:
                    continue
                if abs(S[row, j]) > alpha:
                    labels[j] = label
                    queue[tail] = j
                    tail += 1
                else:
                    unseen[left] = j
                    left += 1
            n_unseen = left
        label += 1
    return labels
