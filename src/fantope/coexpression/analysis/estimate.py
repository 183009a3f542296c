"""How long an analysis will take and how much memory, estimated from its sizes and the speed of this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np

from fantope.coexpression.analysis.permutation import LEADING

SCANS = 3  # of the data for each group
SOLVES, DECOMPOSITIONS = 20, 20  # of a group on its way down alpha, and decompositions in each of them
TEST = 5  # decompositions for a permutation with a problem to solve
SURELY = 4  # the most that it takes, as a multiple of the least (12,625 probes: 70 s of processor time)
LIBRARIES, WORKING = 0.5e9, 4000  # bytes, and variables of which three arrays are formed


def estimated_cost(
    n_samples: Sequence[int], n_genes: int, largest: int, permutations: int, scan: Callable[[], object]
) -> str:
    """Return a sentence on time and memory; ``scan``, of the data of one group, is timed, and so is a decomposition.

    Parameters
    ----------
    n_samples : sequence of int
        Of each group.
    n_genes : int
    largest : int
        Genes that a group may use.
    permutations : int
    scan : callable
    """
    began = time.perf_counter()
    scan()
    scanned = time.perf_counter()
    A = np.random.default_rng(0).standard_normal((largest, largest))
    np.linalg.eigh(A + A.T)
    once = time.perf_counter() - scanned
    pairs = len(list(combinations(n_samples, 2)))
    least = len(n_samples) * (SCANS * (scanned - began) + SOLVES * DECOMPOSITIONS * once)
    least += pairs * min(permutations, LEADING) * TEST * once
    memory = LIBRARIES + 10 * 8 * sum(n_samples) * n_genes + 3 * 8 * min(n_genes, WORKING) ** 2
    return (
        f"{n_genes:,} genes, {' and '.join(map(str, n_samples))} samples: {minutes(least)} to "
        f"{minutes(SURELY * least)} and up to {memory / 1e9:.1f} GB; if interrupted, the same command goes on"
    )


def minutes(seconds: float) -> str:
    """Return a rough time."""
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{max(round(seconds, -1), 10):.0f} s"
