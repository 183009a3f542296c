"""Branch and bound: sets of supports, split by whether one variable is in use, the one with the largest bound first."""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass, field, replace

import numpy as np

from fantope.cardinality.envelope import penalised
from fantope.cardinality.relaxation import Node, Relaxation
from fantope.cardinality.supports import largest, search, value, value_above
from fantope.typing import Array, IntArray

STEPS = 4  # towards a smaller bound at each node; the root has had its own
EXACT = 1e-9  # relative: a smaller gap is rounding


@dataclass
class Search:
    """What is known so far, and what is still to be looked at."""

    relaxation: Relaxation
    support: IntArray  # the best so far
    lower: float  # its value
    tol: float  # relative gap that is asked for
    closed: float = -np.inf  # upper bound of the values of all supports that are not in an open node
    n_nodes: int = 0  # nodes that were split
    _open: list[tuple[float, int, Node]] = field(default_factory=list)
    _count: int = 0

    @property
    def upper(self) -> float:
        """An upper bound of the best value."""
        return max(self.lower, self.closed, -self._open[0][0] if self._open else -np.inf)

    @property
    def enough(self) -> float:
        """The bound at which a node is of no interest."""
        return self.lower + max(self.tol, EXACT) * abs(self.lower)

    def run(self, root: Node, max_nodes: int, time_limit: float) -> None:
        """Split nodes until no bound is above ``enough``, or a limit is reached."""
        end = time.monotonic() + time_limit
        self._add(root)
        while self._open and self.upper > self.enough and self.n_nodes < max_nodes and time.monotonic() < end:
            _, _, node = heapq.heappop(self._open)
            self.n_nodes += 1
            j = self._variable(node)
            here, there = node.inside.copy(), node.outside.copy()
            here[j] = there[j] = True
            self._add(self._with(replace(node, inside=here)))
            self._add(self._bounded(replace(node, outside=there)))

    def _variable(self, node: Node) -> int:
        """Return the free variable with the largest leverage: without it the bound falls most."""
        free = node.free
        return int(free[np.argmax(node.solution.projection.diagonal()[free])])

    def _with(self, node: Node) -> Node:
        """Bound a node in which one more variable is in use: without a solve if its weight alone says enough."""
        cost = self.relaxation.cost(node.z, node.inside, node.outside)
        return self._tightened(replace(node, upper=min(node.upper, penalised(node.solution.dual_bound, cost))))

    def _bounded(self, node: Node) -> Node:
        if self._decided(node):
            return node
        tried = self.relaxation.moved(node, node.z, 1e-4)
        return self._tightened(tried if tried.upper < node.upper else replace(tried, upper=node.upper))

    def _tightened(self, node: Node) -> Node:
        if self._decided(node):
            return node
        node = self.relaxation.tightened(node, self.lower, self.enough, STEPS)
        self._try(node)
        fixed = self.relaxation.fixed(node, self.enough)
        if len(fixed.free) < len(node.free):
            self.closed = max(self.closed, self.enough)
        return fixed

    def _decided(self, node: Node) -> bool:
        inside, allowed = int(node.inside.sum()), int((~node.outside).sum())
        return inside >= self.relaxation.k or allowed <= self.relaxation.k

    def _try(self, node: Node) -> None:
        """Look for a better support near the node's solution."""
        scores: Array = node.solution.projection.diagonal()
        scores[node.outside] = -np.inf
        start = largest(scores, self.relaxation.k, np.flatnonzero(node.inside))
        self.offer(search(self.relaxation.S, self.relaxation.k, self.relaxation.n_components, [start]))

    def offer(self, support: IntArray) -> None:
        """Keep a support if it is better than the best so far."""
        found = value(self.relaxation.S, support, self.relaxation.n_components)
        if found > self.lower:
            self.support, self.lower = support, found

    def _add(self, node: Node) -> None:
        """Put a node aside if it can hold something better; else count it as closed."""
        k, d = self.relaxation.k, self.relaxation.n_components
        inside, allowed = np.flatnonzero(node.inside), np.flatnonzero(~node.outside)
        if len(inside) > k or len(allowed) < k:
            return  # only supports that variables were fixed against: they are closed at ``enough``
        if len(inside) == k or len(allowed) == k:
            support = inside if len(inside) == k else allowed
            self.offer(support)
            self.closed = max(self.closed, min(node.upper, value_above(self.relaxation.S, support, d)))
        elif node.upper <= self.enough:
            self.closed = max(self.closed, node.upper)
        else:
            self._count += 1
            heapq.heappush(self._open, (-node.upper, self._count, node))
