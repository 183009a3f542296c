"""Exact decomposition: what can be split off or dropped before any solver starts, without changing the optimum.

Let the penalty be Σ w_ij|X_ij| and G the graph with an edge where |S_ij| > w_ij, i ≠ j. Setting X to zero between its
connected components keeps X in the Fantope and does not lower the objective (each dropped entry contributes
S_ij X_ij − w_ij|X_ij| ≤ 0), so some optimal X is block-diagonal on the components. An isolated variable contributes
(S_ii − w_ii) x_ii with 0 ≤ x_ii ≤ 1: only the d isolated ones with the largest S_ii − w_ii can matter. A variable with
an infinite w_ii has x_ii = 0, hence no part in X.

The rule found in other implementations drops an isolated variable when d variables *of any kind* have a larger
diagonal. That is wrong: in a component one direction may be enough, see ``tests/problem/test_decomposition.py``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from fantope.kernels.scan import component_labels as dense_labels
from fantope.kernels.scan import unite
from fantope.operators import Covariance, DataCovariance, DenseCovariance
from fantope.operators.graph import ThresholdGraph, labels_of
from fantope.penalties import Concave, Entrywise, Penalty, Smooth, Structured
from fantope.problem.deferred import DeferredProblem
from fantope.problem.dual import LiftedDual, ReducedDual
from fantope.problem.problem import Problem
from fantope.problem.soft_graph import soft_graph
from fantope.problem.wide import WideProblem
from fantope.typing import Array, IntArray

FEW = 400  # variables up to which all pairs are compared at once: no kernel is compiled for a first, small answer
STRIP = 512  # rows compared at a time
DENSE_UP_TO = 5000  # variables, for penalties that need S whole
DEFERRED_FROM = 1000  # variables from which S is not formed before it is needed, if it has few samples
ARRAYS = 3  # of m × m numbers for m kept variables: S, S − U and its Cholesky factor
LARGEST_DENSE = 3 * 2**30  # bytes of these; beyond, S is asked for by blocks, and S − U is sparse
MOST_PAIRS = 50_000_000  # of the thresholded graph: 8 bytes each, and 24 while they are gathered
BYTES_A_PAIR = 60  # of memory that a machine must have, the solver's own arrays included


@dataclass(frozen=True)
class Decomposition:
    """The reduced problem and the way back.

    Attributes
    ----------
    problem : Problem
        Over the kept variables; entries between components are zero.
    kept : (m,) array
        The kept variables, ascending.
    labels : (p,) array
        Component of each variable.
    posed : Posed
        The problem that was decomposed.
    """

    problem: Problem
    kept: IntArray
    labels: IntArray
    posed: Posed

    def lift_dual(self, reduced: ReducedDual) -> LiftedDual:
        """Return the dual point of the full problem."""
        position = np.full(self.posed.S.size, -1, dtype=np.intp)
        position[self.kept] = np.arange(len(self.kept))
        return LiftedDual(self.posed.S, self.posed.own, self.labels, position, reduced)


@dataclass(frozen=True)
class Posed:
    """A penalty on all variables, and the problem that is solved for it: what is linear in it is a part of S.

    Attributes
    ----------
    penalty : Penalty
    S : Covariance
        S, or S − ρL.
    own : Entrywise or Structured
        What remains of the penalty.
    """

    penalty: Penalty
    S: Covariance
    own: Entrywise | Structured

    def scaled(self, alpha: float) -> Posed:
        """Return the same with another alpha."""
        return Posed(self.penalty.scaled(alpha), self.S, self.own.scaled(alpha))


def pose(S: Covariance, penalty: Penalty) -> Posed:
    """Return the problem that is solved for a penalty."""
    if isinstance(penalty, Entrywise):
        return Posed(penalty, S, penalty)
    if S.size > DENSE_UP_TO:
        raise ValueError(
            f"alpha must be a number or a penalty with one weight for each entry where S has more than {DENSE_UP_TO:,} "
            f"variables, got {type(penalty).__name__} and {S.size:,}; choose fewer variables first."
        )
    every = np.arange(S.size)
    whole = penalty.restrict(every)
    if isinstance(whole, Smooth):
        rougher = DenseCovariance(S.block(every, every) - whole.rho * whole.roughness(S.size))
        return Posed(whole, rougher, whole.entrywise(S.size))
    if not isinstance(whole, Structured):
        raise ValueError(f"alpha must be a number or one of fantope.penalties, got {type(penalty).__name__}.")
    return Posed(whole, S if isinstance(S, DenseCovariance) else DenseCovariance(S.block(every, every)), whole)


def decompose(
    S: Covariance, n_components: int, penalty: Penalty, labels: IntArray | None = None, posed: Posed | None = None
) -> Decomposition:
    """Keep the variables that can matter, and cut what cannot connect them.

    ``labels`` are the components and ``posed`` is the problem, if they are known already. Structured penalties are not
    decomposed.
    """
    posed = pose(S, penalty) if posed is None else posed
    S, own = posed.S, posed.own
    if isinstance(own, Structured):
        assert isinstance(S, DenseCovariance)
        return Decomposition(Problem(S.S, n_components, own), np.arange(S.size), np.zeros(S.size, np.intp), posed)
    penalty = own
    labels = component_labels(S, penalty) if labels is None else labels
    gain = S.diagonal() - penalty.diagonal(np.arange(S.size))
    allowed = gain > -np.inf
    if int(allowed.sum()) < n_components:
        raise ValueError(
            f"weights must leave at least {n_components} variables, as many as n_components, but forbid all except "
            f"{int(allowed.sum())}; an infinite weight on the diagonal forbids a variable."
        )
    sizes = np.bincount(labels)
    connected = sizes[labels] > 1
    isolated = np.flatnonzero(~connected & allowed)
    best = isolated[np.argsort(-gain[isolated], kind="stable")[:n_components]]
    kept = np.sort(np.concatenate([np.flatnonzero(connected & allowed), best]))
    own = penalty.restrict(kept)
    if len(sizes) == 1 and len(kept) == S.size and isinstance(S, DenseCovariance):
        return Decomposition(Problem(S.S, n_components, own), kept, labels, posed)
    factor = S.factor(kept) if isinstance(S, DataCovariance) and len(kept) >= DEFERRED_FROM else None
    wide = wide_problem(S, kept, labels, n_components, penalty, factor)
    if wide is not None:
        return Decomposition(wide, kept, labels, posed)
    if factor is not None:
        deferred = DeferredProblem(S, kept, labels[kept], n_components, own, factor)
        return Decomposition(deferred, kept, labels, posed)
    block = S.block(kept, kept)
    block[labels[kept][:, None] != labels[kept]] = 0.0
    return Decomposition(Problem(block, n_components, own, labels[kept]), kept, labels, posed)


def component_labels(S: Covariance, penalty: Entrywise, graph: ThresholdGraph | None = None) -> IntArray:
    """Return the connected component of each variable in the graph |S_ij| > w_ij, i ≠ j.

    One scan of S at the threshold that most pairs have, and a look at the pairs that have their own. A ``graph`` made
    by :func:`common_graph` for the same penalty with a smaller alpha saves the scan.
    """
    special = penalty.rows
    if not len(special):
        return S.component_labels(penalty.common) if graph is None else graph.component_labels(penalty.common)
    if S.size <= FEW:
        every = np.arange(S.size)
        edges = np.abs(S.block(every, every)) > penalty.limits(every, every)
        return dense_labels(edges.astype(np.float64), 0.0)
    if len(special) == S.size:
        labels = np.arange(S.size)
    else:
        graph = common_graph(S, penalty) if graph is None else graph
        labels = graph.component_labels(penalty.common)
    parents = np.arange(S.size)
    first = np.unique(labels, return_index=True)[1]
    unite(parents, np.arange(S.size), first[labels])
    for start in range(0, len(special), STRIP):
        strip = special[start : start + STRIP]
        r, c = np.nonzero(np.abs(S.block(strip, special)) > penalty.limits(strip, special))
        unite(parents, strip[r], special[c])
    return labels_of(parents)


def common_graph(S: Covariance, penalty: Entrywise) -> ThresholdGraph:
    """Return what the pairs without a w_ij of their own connect, at this alpha and every larger one."""
    return S.graph(penalty.common, apart=penalty.rows) if len(penalty.rows) else S.graph(penalty.common)


def largest_alpha(S: Covariance, penalty: Penalty | Concave) -> float:
    """Return the largest |S_ij|/weight, i ≠ j, where the weight, w_ij for alpha = 1, is not zero.

    For a structured penalty, where it says that a path begins. A concave one leaves nothing but isolated variables if
    the ℓ₁ problem does that it starts from.
    """
    if isinstance(penalty, Concave):
        share = 1.0 if penalty.start is not None else penalty.scaled(1.0).start_alpha(S.size)
        return S.largest_off_diagonal() / share
    posed = pose(S, penalty)
    S, penalty = posed.S, posed.own
    if isinstance(penalty, Structured):
        return penalty.largest_alpha(S.block(np.arange(S.size), np.arange(S.size)))
    special, unit = penalty.rows, penalty.scaled(1.0)
    if not len(special):
        return S.largest_off_diagonal()
    largest = S.largest_off_diagonal(apart=special) if len(special) < S.size else 0.0
    for start in range(0, len(special), STRIP):
        strip = special[start : start + STRIP]
        size = np.abs(S.block(strip, special))
        size[np.arange(len(strip)), start + np.arange(len(strip))] = 0.0
        weights = np.broadcast_to(unit.limits(strip, special), size.shape)
        ratios = np.divide(size, weights, out=np.zeros_like(size), where=weights > 0.0)
        largest = max(largest, float(ratios.max()))
    return largest


def wide_problem(
    S: Covariance, kept: IntArray, labels: IntArray, n_components: int, penalty: Entrywise, factor: Array | None = None
) -> WideProblem | None:
    """Return the problem without its m × m array where that is large, None where it is to be formed.

    What fits neither way is refused at once: it would only fail, or bring the machine to a halt, after minutes of work.
    """
    needed, there = ARRAYS * 8.0 * len(kept) ** 2, _physical_memory()
    if needed <= min(LARGEST_DENSE, there):
        return None
    most = min(MOST_PAIRS, there / BYTES_A_PAIR)
    graph, fits = soft_graph(S, penalty, kept, labels, most)
    if graph is not None:
        return WideProblem(S, kept, labels[kept], n_components, penalty.restrict(kept), factor, graph)
    if needed <= there:
        return None
    raise MemoryError(
        f"alpha must be larger on this machine: at {penalty.alpha:g}, {len(kept):,} of {S.size:,} variables have a "
        f"partner above it, in more than the {most:,.0f} pairs that fit in memory; raise alpha to about "
        f"{_rounded_up(fits):g}."
    )


def _rounded_up(value: float) -> float:
    """Return the next number with three digits."""
    unit = 10.0 ** (np.floor(np.log10(value)) - 2)
    return float(np.ceil(value / unit) * unit)


def _physical_memory() -> float:
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, ValueError, OSError):  # not known on every system
        return float("inf")
