"""Solution paths of all groups over common alphas, certified over all genes, no further than they can be of use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fantope.coexpression.analysis.store import Store, kept
from fantope.errors import InputError
from fantope.events import Event, Listener
from fantope.io.fingerprint import code_fingerprint, fingerprint
from fantope.io.solutions import pack, unpack
from fantope.operators import DataCovariance
from fantope.path import Path
from fantope.path.walk import Walk
from fantope.solvers import Solution
from fantope.typing import Array

AHEAD = 8  # alphas that one scan of the data serves: fewer scans against longer ones for penalties never reached


class GroupPath:
    """Solutions of one group by descending alpha, each from the store or from its predecessor.

    The data that S is made from are a part of the keys.
    """

    def __init__(
        self,
        S: DataCovariance,
        data: Array,
        n_components: int,
        alphas: Sequence[float],
        tol: float,
        store: Store | None = None,
    ) -> None:
        self.alphas = alphas
        self._walk = Walk(S, n_components, tol)
        self._store = store
        if store is not None:
            self._key = fingerprint(data, n_components, tol, code_fingerprint(__name__))

    @property
    def solutions(self) -> list[Solution]:
        """Those so far."""
        return self._walk.solutions

    def advance(self) -> Solution:
        """Solve for the next alpha."""
        number = len(self.solutions)
        alpha, ahead = self.alphas[number], self.alphas[min(number + AHEAD, len(self.alphas)) - 1]
        if self._store is None:
            return self._walk.solve(alpha, ahead=ahead)
        # With all alphas so far: a solution starts from the one before it.
        key = f"solution-{fingerprint(self._key, self.alphas[: number + 1])}-{alpha:.10g}"
        found = kept(self._store, key, lambda state: unpack(state, self._walk.S))
        if found is not None:
            self.solutions.append(found)
        else:
            self._store.put(key, pack(self._walk.solve(alpha, ahead=ahead)))
        return self.solutions[-1]


def solve_groups(paths: Mapping[str, GroupPath], max_genes: int, progress: Listener) -> dict[str, Path]:
    """Solve all groups alpha by alpha, down to the first alpha at which some group uses more than ``max_genes``.

    No alpha below can be chosen, because sets grow as alpha falls, and those are the expensive ones.
    """
    alphas = next(iter(paths.values())).alphas
    for k, alpha in enumerate(alphas):
        largest = 0
        for j, (name, path) in enumerate(paths.items(), start=1):
            size = len(path.advance().support)
            largest = max(largest, size)
            done = k * len(paths) + j
            progress(Event("path", done, len(alphas) * len(paths), name, f"alpha = {alpha:g}, {size} genes"))
        if largest > max_genes:
            break
    return {name: Path(tuple(path.solutions)) for name, path in paths.items()}


def first_of_size(path: GroupPath, size: int, progress: Listener) -> Solution:
    """Return the first solution, by descending alpha, with at least ``size`` genes; the last one if there is none."""
    for k, alpha in enumerate(path.alphas, start=1):
        genes = len(path.advance().support)
        progress(Event("discovery", k, len(path.alphas), "discovery half", f"alpha = {alpha:g}, {genes} genes"))
        if genes >= size:
            break
    return path.solutions[-1]


def grid(alphas: object) -> list[float]:
    """Return distinct penalties, descending; by default 0.99, 0.98, … 0.30, of which only the first are ever solved."""
    if alphas is None:
        return [round(float(alpha), 2) for alpha in np.arange(0.99, 0.295, -0.01)]
    values = np.unique(np.asarray(alphas, dtype=np.float64).ravel())[::-1]
    if not len(values) or not np.isfinite(values).all() or values[-1] <= 0.0 or values[0] >= 1.0:
        expected = "numbers between 0 and 1, since they are compared with correlations"
        raise InputError(argument="alphas", expected=expected, got=repr(alphas))
    return [float(alpha) for alpha in values]
