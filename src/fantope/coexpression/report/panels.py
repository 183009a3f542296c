"""A gene's own panel, and the network of a module: numbers for the script."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster.hierarchy import leaves_list, linkage

from fantope.coexpression.analysis.result import Coexpression, GroupResult
from fantope.coexpression.view import by_module
from fantope.typing import Array, IntArray

PARTNERS = 8  # of a gene in each group
GENES = 24  # in the network of a module, with twice as many pairs: more names and lines could not be told apart
STRIP = 64  # genes whose correlations with all others are held at a time


def panels(result: Coexpression) -> dict[str, Any]:
    """Return what is known of each gene in use, and of those that are its partners.

    ``names`` are genes in use, the first ``used`` of them, and then partners and tested genes; ``verdicts`` has a
    letter for each of them and each group; ``groups`` has module, leverage, kME and hub rank of the genes at ``at``;
    ``partners`` has for each gene in use, flat, a gene and its correlation in each group, in thousandths.
    """
    used = result.gene_names.get_indexer(next(iter(result.groups.values())).expression.columns)
    listed = partners(result, used)
    tested = [pair.genes["gene"] for pair in result.differential]
    others = [at for found in listed for at, *_ in found]
    others += [int(at) for genes in tested for at in result.gene_names.get_indexer(pd.Index(genes))]
    every = [*(int(j) for j in used), *sorted(set(others) - {int(j) for j in used})]
    position = {j: k for k, j in enumerate(every)}
    names = [str(result.gene_names[j]) for j in every]
    groups = result.groups.values()
    return {
        "names": names,
        "used": len(used),
        "analysed": len(result.gene_names),
        "verdicts": ["".join(word[0] for word in group.solution.verdicts()[every]) for group in groups],
        "groups": [_members(group, names[: len(used)]) for group in groups],
        "partners": [[value for at, *r in found for value in (position[at], *r)] for found in listed],
        "remarks": {str(k): result.remarks[name] for k, name in enumerate(names) if name in result.remarks},
    }


def partners(result: Coexpression, used: IntArray) -> list[list[tuple[int, ...]]]:
    """Return for each gene in use the analysed genes that it is most correlated with in some group.

    Each comes with its correlation in every group, in thousandths; by the largest of them. Genes that are in no
    picture, because too many are in use, have none.
    """
    groups = list(result.groups.values())
    shown = set(pd.concat([by_module(group.genes)["gene"] for group in groups]))
    found: dict[int, list[tuple[int, ...]]] = {int(j): [] for j in used}
    rows = np.array([j for j in found if result.gene_names[j] in shown], dtype=np.intp)
    everything = np.arange(len(result.gene_names))
    most = min(PARTNERS, len(everything) - 1)
    for start in range(0, len(rows), STRIP):
        strip = rows[start : start + STRIP]
        R = np.stack([group.solution.covariance.block(strip, everything) for group in groups], axis=1)
        R[np.arange(len(strip)), :, strip] = 0.0
        for j, row in zip(strip, R, strict=True):
            nearest = np.unique(np.argpartition(-np.abs(row), most - 1, axis=1)[:, :most])
            order = np.argsort(-np.abs(row[:, nearest]).max(axis=0), kind="stable")
            found[int(j)] = [(int(k), *(int(r) for r in np.rint(1000 * row[:, k]))) for k in nearest[order]]
    return list(found.values())


def _members(group: GroupResult, used: list[str]) -> dict[str, list[Any]]:
    table = group.genes
    return {
        "at": [int(k) for k in pd.Index(used).get_indexer(pd.Index(table["gene"].astype(str)))],
        "module": [str(name) for name in table["module"]],
        "rank": [int(rank) for rank in table["hub_rank"]],
        **{key: [round(float(value), 4) for value in table[key]] for key in ("leverage", "kme")},
    }


def network(group: GroupResult, module: str, used: dict[str, int]) -> dict[str, Any]:
    """Return the strongest pairs of a module: genes in the order in which they stand around a circle, and edges.

    An edge is two places on the circle and a correlation in thousandths. Genes that are alike stand side by side.
    """
    genes = pd.Index(group.genes["gene"][group.genes["module"] == module])
    R = group.correlation(genes).to_numpy(dtype=float)
    pairs = strongest_pairs(R)
    members = np.unique(pairs)
    inner = R[np.ix_(members, members)]
    order = members
    if len(members) > 2:
        distance = 1.0 - np.abs(inner[np.triu_indices(len(members), 1)])
        order = members[leaves_list(linkage(np.maximum(distance, 0.0), "average", optimal_ordering=True))]
    place = {int(j): k for k, j in enumerate(order)}
    edges = [[place[int(i)], place[int(j)], round(1000 * float(R[i, j]))] for i, j in pairs]
    total = len(genes) * (len(genes) - 1) // 2
    return {"module": module, "genes": [used[str(genes[j])] for j in order], "edges": edges, "pairs": total}


def strongest_pairs(R: Array) -> IntArray:
    """Return (k, 2) pairs of largest absolute correlation: two for each gene, on at most ``GENES`` genes.

    Examples
    --------
    >>> strongest_pairs(np.array([[1.0, 0.2, -0.9], [0.2, 1.0, 0.5], [-0.9, 0.5, 1.0]])).tolist()
    [[0, 2], [1, 2], [0, 1]]
    """
    rows, cols = np.triu_indices(len(R), 1)
    order = np.argsort(-np.abs(R[rows, cols]), kind="stable")
    chosen: list[tuple[int, int]] = []
    members: set[int] = set()
    for i, j in zip(rows[order].tolist(), cols[order].tolist(), strict=True):
        if len(members | {i, j}) <= GENES:
            chosen.append((i, j))
            members |= {i, j}
        if len(chosen) == 2 * min(len(R), GENES):
            break
    return np.array(chosen, dtype=np.intp).reshape(-1, 2)
