"""Exact decomposition: what can be split off or dropped before any solver starts, without changing the optimum.

Let G be the graph with an edge where |S_ij| > alpha, i ≠ j. Setting X to zero between its connected components
keeps X in the Fantope and does not lower the objective (each dropped entry contributes
S_ij X_ij − alpha|X_ij| ≤ 0), so some optimal X is block-diagonal on the components. An isolated variable
contributes (S_ii − alpha) x_ii with 0 ≤ x_ii ≤ 1: only the d isolated ones with the largest S_ii can matter.

The rule found in other implementations drops an isolated variable when d variables *of any kind* have a larger
diagonal. That is wrong: in a component one direction may be enough, see ``tests/problem/test_decomposition.py``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from fantope.operators import Covariance, DenseCovariance
from fantope.problem.dual import LiftedDual, ReducedDual
from fantope.problem.problem import Problem
from fantope.typing import IntArray

ARRAYS = 3  # of m × m numbers for m kept variables: S, S − U and its Cholesky factor


@dataclass(frozen=True)
class Decomposition:
    """The reduced problem and the way back.

    Attributes
    ----------
    problem : Problem
        Over the kept variables; entries between components are zero.
    kept : (m,) array
        The kept variables, rising.
    labels : (p,) array
        Component of each variable.
    """

    problem: Problem
    kept: IntArray
    labels: IntArray

    def lift_dual(self, S: Covariance, reduced: ReducedDual) -> LiftedDual:
        """Return the dual point of the full problem."""
        position = np.full(S.size, -1, dtype=np.intp)
        position[self.kept] = np.arange(len(self.kept))
        return LiftedDual(S, self.problem.alpha, self.labels, position, reduced)


def decompose(S: Covariance, n_components: int, alpha: float, labels: IntArray | None = None) -> Decomposition:
    """Keep the variables that can matter, and cut what cannot connect them.

    ``labels`` are the components if they are known already.
    """
    labels = S.component_labels(alpha) if labels is None else labels
    sizes = np.bincount(labels)
    connected = sizes[labels] > 1
    isolated = np.flatnonzero(~connected)
    best = isolated[np.argsort(-S.diagonal()[isolated], kind="stable")[:n_components]]
    kept = np.sort(np.concatenate([np.flatnonzero(connected), best]))
    if len(sizes) == 1 and isinstance(S, DenseCovariance):
        return Decomposition(Problem(S.S, n_components, alpha), kept, labels)
    _check_memory(len(kept), S.size, alpha)
    block = S.block(kept, kept)
    block[labels[kept][:, None] != labels[kept]] = 0.0
    return Decomposition(Problem(block, n_components, alpha, labels[kept]), kept, labels)


def _check_memory(kept: int, size: int, alpha: float) -> None:
    """Refuse at once what would only fail, or bring the machine to a halt, after minutes of work."""
    needed, there = ARRAYS * 8 * kept**2 / 2**30, _physical_memory() / 2**30
    if needed > there:
        raise MemoryError(
            f"alpha must be larger on this machine: at {alpha:g}, {kept:,} of {size:,} variables have a partner above "
            f"it, and the problem over them needs {needed:.1f} GB of the {there:.1f} GB of memory here; raise alpha."
        )


def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not known on every system
        return float("inf")
