"""One half of the samples to find genes and modules, the other to test them.

Genes that are chosen because they are correlated in one group and not in the other differ between the groups in the
samples that chose them, whether or not the groups differ. Permuting the same samples does not undo that: the p-values
would be too small. So what is tested is chosen in the discovery half of each group alone, and the test never saw it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count

import numpy as np
from scipy.optimize import linear_sum_assignment

from fantope.coexpression.analysis.modules import Modules
from fantope.typing import Array, IntArray

SMALLEST_HALF = 10  # samples; a group needs twice as many to be tested
# A discovery half proposes what to test, and no certificate of it is shown: a wide gap and somewhat fewer genes than
# the whole group has take a fifth of the time.
TOL = 0.03
ENOUGH = 0.8


@dataclass(frozen=True, eq=False)
class Discovery:
    """What the discovery half of a group found, and the samples that it did not see."""

    group: str
    genes: IntArray  # positions of the genes in use, among all analysed genes
    modules: Modules  # theirs
    names: tuple[str, ...]  # of each module, after the module of the whole group that it shares most genes with
    shares: tuple[float, ...]  # genes in common over genes in either
    kme: tuple[Array, ...]  # of each module's genes, in the discovery half
    test: Array  # expression in the test half: samples × all analysed genes
    design: Array | None = None  # its covariates that were regressed out


def split(n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the rows of the discovery half (⌊n/2⌋ of them) and of the test half, ascending.

    Examples
    --------
    >>> discovery, test = split(7, np.random.default_rng(0))
    >>> len(discovery), len(test), len(set(discovery) | set(test))
    (3, 4, 7)
    """
    order = rng.permutation(n)
    return np.sort(order[: n // 2]), np.sort(order[n // 2 :])


def match(
    genes: IntArray, modules: Modules, whole_genes: IntArray, whole: Modules
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Name each module after the one of the whole group that it shares most with, one to one.

    Second, the genes in common over the genes in either. A module without a partner has a name of its own, "new 1", …,
    and a share of 0.
    """
    share = np.zeros((len(modules.names), len(whole.names)))
    for i in range(len(modules.names)):
        one = genes[modules.labels == i]
        for j in range(len(whole.names)):
            other = whole_genes[whole.labels == j]
            share[i, j] = len(np.intersect1d(one, other)) / len(np.union1d(one, other))
    partner = dict(zip(*(side.tolist() for side in linear_sum_assignment(-share)), strict=True))
    shares = tuple(float(share[i, partner[i]]) if i in partner else 0.0 for i in range(len(modules.names)))
    new = count(1)
    return tuple(
        whole.names[partner[i]] if found > 0.0 else f"new {next(new)}" for i, found in enumerate(shares)
    ), shares
