"""What should be known of names before a module is believed: control probes, and rows that say the same twice."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.sparse.csgraph import connected_components

from fantope.errors import listed
from fantope.typing import Array, IntArray

SAME = 0.999  # correlation, in every group, from which two genes in use are called nearly identical
# Affymetrix, ERCC and SIRV spikes (ERCC1 and the like are genes), Agilent, Illumina, and leftovers of counting.
CONTROLS = re.compile(
    r"AFFX[-_.]|ERCC[-_.]\d{5}|SIRV\d|.*spike|\([+-]\)|DarkCorner|GE_BrightCorner"
    r"|.*(negative|positive|labeling)[ _-]?control|__(no_feature|ambiguous|too_low|not_aligned|alignment)"
    r"|N_(unmapped|multimapping|noFeature|ambiguous)",
    re.IGNORECASE,
)


def remarks(expression: pd.DataFrame, used: IntArray, groups: Iterable[Array]) -> tuple[dict[str, str], list[str]]:
    """Point out control probes and duplicated rows by gene and in sentences; nothing is left out.

    Parameters
    ----------
    expression : DataFrame of samples × all analysed genes
    used : (m,) array of int
        Genes that some group uses.
    groups : iterable of (n, p) arrays
        Rewritten columns of each group.

    Examples
    --------
    >>> table = pd.DataFrame({"ERCC1": [1.0, 2, 4], "ERCC-00002": [1.0, 3, 2], "A": [2.0, 1, 1], "B": [2.0, 1, 1]})
    >>> found, notes = remarks(table, np.array([0]), [])
    >>> found
    {'ERCC-00002': 'control probe', 'A': "identical to 'B'", 'B': "identical to 'A'"}
    >>> notes[0]
    "1 analysed name looks like a control probe, 0 of them in use: 'ERCC-00002'; leave it out if it should not count."
    """
    names = expression.columns.astype(str)
    active = set(names[used])
    controls = [name for name in names if CONTROLS.match(name)]
    controls.sort(key=lambda name: name not in active)  # those in use first: the sentence names a few
    equal = _equal(expression)
    twins = [members for members in _alike(names[used], used, groups) if not any(set(members) <= set(e) for e in equal)]
    found = dict.fromkeys(controls, "control probe")
    notes = []
    if controls:
        one, inside = len(controls) == 1, sum(name in active for name in controls)
        notes.append(
            f"{len(controls):,} analysed name{' looks like a control probe' if one else 's look like control probes'}, "
            f"{inside:,} of them in use: {listed(controls)}; leave {'it' if one else 'them'} out if "
            f"{'it' if one else 'they'} should not count."
        )
    for word, sets in (("identical", equal), ("nearly identical", twins)):
        for members in sets:
            for name in members:
                found.setdefault(name, f"{word} to {listed([other for other in members if other != name])}")
        if sets:
            where = "analysed" if word == "identical" else "in use"
            notes.append(
                f"{sum(map(len, sets)):,} genes {where} have {word} values, in {len(sets):,} "
                f"set{'s' if len(sets) > 1 else ''}, as probes of one gene may have: {listed(sets[0])}"
                f"{', …' if len(sets) > 1 else ''}; such genes are a module whatever the biology."
            )
    return found, notes


def _equal(expression: pd.DataFrame) -> list[list[str]]:
    """Return the sets of genes with the same values in every sample."""
    rows: dict[bytes, list[str]] = {}
    for name, row in zip(expression.columns, np.ascontiguousarray(expression.to_numpy().T), strict=True):
        rows.setdefault(row.tobytes(), []).append(str(name))
    return [members for members in rows.values() if len(members) > 1]


def _alike(names: pd.Index, used: IntArray, groups: Iterable[Array]) -> list[list[str]]:
    """Return the sets of genes in use that are joined by correlations of nearly 1 in every group."""
    near = np.ones((len(used), len(used)), dtype=bool)
    for Z in groups:
        near &= Z[:, used].T @ Z[:, used] >= SAME
    np.fill_diagonal(near, val=False)
    _, labels = connected_components(near, directed=False)
    joined = np.flatnonzero(near.any(axis=0))
    return [[str(name) for name in names[joined[labels[joined] == k]]] for k in np.unique(labels[joined])]
