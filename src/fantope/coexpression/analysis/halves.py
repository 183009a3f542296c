"""One half of the samples to find genes and modules, the other to test them.

Genes that are chosen because they are correlated in one group and not in the other differ between the groups in the
samples that chose them, whether or not the groups differ. Permuting the same samples does not undo that: the p-values
would be too small. So what is tested is chosen in the discovery half of each group alone, and the test never saw it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from fantope.coexpression.analysis.modules import Modules
from fantope.typing import IntArray

SMALLEST_HALF = 10  # samples; a group needs twice as many to be tested
# A discovery half proposes what to test, and no certificate of it is shown: a wide gap and somewhat fewer genes than
# the whole group has take a fifth of the time.
TOL = 0.03
ENOUGH = 0.8


@dataclass(frozen=True, eq=False)
class Discovery:
    """What the discovery half of a group found.

    Attributes
    ----------
    genes : (m,) array
        Positions of the genes in use, among all analysed genes.
    modules : Modules
        Their modules.
    names : tuple of str
        Of each module, after the module of the whole group that it shares most genes with.
    shares : tuple of float
        Genes in common over genes in either.
    test : array
        Rows of the group's samples that the discovery did not see.
    """

    genes: IntArray
    modules: Modules
    names: tuple[str, ...]
    shares: tuple[float, ...]
    test: IntArray


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


def match(genes: IntArray, modules: Modules, whole_genes: IntArray, whole: Modules) -> tuple[list[str], list[float]]:
    """Name each module after the one of the whole group that it shares most with, one to one.

    Returns
    -------
    names : list of str
        A module without a partner keeps a name of its own, "new 1", …
    shares : list of float
        Genes in common over genes in either; 0 without a partner.
    """
    share = np.zeros((len(modules.names), len(whole.names)))
    for i in range(len(modules.names)):
        one = genes[modules.labels == i]
        for j in range(len(whole.names)):
            other = whole_genes[whole.labels == j]
            share[i, j] = len(np.intersect1d(one, other)) / len(np.union1d(one, other))
    partner = dict(zip(*(side.tolist() for side in linear_sum_assignment(-share)), strict=True))
    names, shares, new = [], [], 0
    for i in range(len(modules.names)):
        best = partner.get(i)
        if best is not None and share[i, best] > 0.0:
            names.append(whole.names[best])
            shares.append(float(share[i, best]))
        else:
            new += 1
            names.append(f"new {new}")
            shares.append(0.0)
    return names, shares
