"""The solution path of a group, certified over all genes, no further than it can be of use."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fantope.coexpression.analysis.modules import genes_in_use
from fantope.coexpression.analysis.store import Store, kept
from fantope.errors import InputError
from fantope.events import Event, Listener
from fantope.io.fingerprint import code_fingerprint, fingerprint
from fantope.io.solutions import pack, unpack
from fantope.operators import DataCovariance
from fantope.path.walk import Walk
from fantope.solvers import Solution
from fantope.solvers.result import Record
from fantope.typing import Array

AHEAD = 8  # alphas that one scan of the data serves: fewer scans against longer ones for penalties never reached


class GroupPath:
    """Solutions of one group by descending alpha, each from the store or from its predecessor.

    The data that S is made from are a part of the keys.
    """

    def __init__(
        self, S: DataCovariance, data: Array, n_components: int, alphas: Sequence[float], store: Store | None = None
    ) -> None:
        self.S, self.alphas, self.n_samples = S, alphas, len(data)
        self._walk = Walk(S, n_components, 1.0)
        self._tols: list[float] = []  # of all solves so far: each starts from the one before it
        self._store = store
        if store is not None:
            self._key = fingerprint(data, n_components, code_fingerprint(__name__))

    @property
    def solutions(self) -> list[Solution]:
        """Those so far."""
        return self._walk.solutions

    def advance(self, tol: float, callback: Callable[[Record], object] | None = None) -> Solution:
        """Solve for the next alpha to a relative gap."""
        number = len(self.solutions)
        alpha, ahead = self.alphas[number], self.alphas[min(number + AHEAD, len(self.alphas)) - 1]
        return self._kept(number, tol, lambda: self._walk.solve(alpha, ahead=ahead, tol=tol, callback=callback))

    def refine(self, tol: float, callback: Callable[[Record], object] | None = None) -> Solution:
        """Solve again for the last alpha, to a smaller gap."""
        last = self.solutions[-1]
        if last.gap > tol:
            number = len(self.solutions) - 1
            self._kept(number, tol, lambda: self._walk.solve(last.alpha, ahead=last.alpha, tol=tol, callback=callback))
            del self.solutions[-2]  # which the walk has started from
        return self.solutions[-1]

    def _kept(self, number: int, tol: float, solve: Callable[[], Solution]) -> Solution:
        """Return the solution from the store, or solve and keep it."""
        self._tols.append(tol)
        if self._store is None:
            return solve()
        key = f"solution-{fingerprint(self._key, self.alphas[: number + 1], self._tols)}-{self.alphas[number]:.10g}"
        found = kept(self._store, key, lambda state: unpack(state, self.S))
        if found is None:
            found = solve()
            self._store.put(key, pack(found))
        else:
            self.solutions.append(found)
        return found


def first_of_size(path: GroupPath, size: int, tol: float, progress: Listener) -> Solution:
    """Return the first solution, by descending alpha, with at least ``size`` genes; the last one if there is none."""
    for k, alpha in enumerate(path.alphas, start=1):
        genes = len(genes_in_use(path.advance(tol)))
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
