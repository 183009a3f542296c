"""A tighter bound for k variables: one weight for each variable in place of one alpha for all.

For z ≥ 0 and a projection X of rank d, Cauchy and Schwarz give Σ √(z_i z_j)|X_ij| ≤ √d·Σ z_i over the rows in use. So

    ⟨S, X⟩  ≤  F(z)  =  min {φ_d(S − U) : |U_ij| ≤ √(z_i z_j)} + √d·(sum of the k largest z_i),

with equality in the first step, for d = 1, if √z is proportional to the loadings in use: uneven loadings cost nothing.
F is convex, since √(z_i z_j) is concave; a constant z is the bound of one alpha. Each evaluation is a certified solve
with a weighted ℓ₁ norm, whose X gives a subgradient of F. Where variables are known to be in use, their z_i are counted
in any case; those known not to be are left out of the problem.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from fantope.cardinality.envelope import penalised
from fantope.operators import Covariance
from fantope.penalties import WeightedL1
from fantope.problem.bounds import UNIT
from fantope.problem.simplex import capped_simplex
from fantope.solvers import Solution
from fantope.solvers.solve import solve_to_the_end
from fantope.solvers.validation import smallest_tol
from fantope.typing import Array, BoolArray, IntArray

TIE = 0.01  # relative: weights that close to the k-th largest count as equal to it in a subgradient
STEP = 0.3  # of Polyak's step, whose target, the best value known, lies below the minimum; 1 overshoots (measured)
SMALLEST = 1e-3  # of the largest z
FAILURES = 2  # steps without a gain of GAIN of the gap, one after the other, before it is given up
GAIN = 0.03


@dataclass(frozen=True)
class Node:
    """A set of supports, by what is known of their variables, and an upper bound of their values."""

    inside: BoolArray  # (p,): variables known to be in use
    outside: BoolArray  # (p,): and not to be
    z: Array  # (p,): weights
    solution: Solution  # at these weights
    upper: float

    @property
    def free(self) -> IntArray:
        """Variables of which nothing is known."""
        return np.flatnonzero(~self.inside & ~self.outside)


@dataclass(frozen=True)
class Relaxation:
    """The bound F for one S, d and k."""

    S: Covariance
    n_components: int
    k: int

    def cost(self, z: Array, inside: BoolArray, outside: BoolArray) -> float:
        """Return √d times the largest sum of z over k variables, rounded upwards."""
        top = self.k - int(inside.sum())
        chosen = np.sort(z[~inside & ~outside])[::-1][:top]
        total = float(z[inside].sum() + chosen.sum()) * float(np.sqrt(self.n_components))
        return total * (1 + (2 * self.k + 8) * UNIT)

    def moved(self, node: Node, z: Array, tol: float) -> Node:
        """Return the node with other weights: one solve, started from the node's solution."""
        y = np.sqrt(z)
        weights = np.outer(y, y)
        weights[node.outside] = weights[:, node.outside] = np.inf
        tol = max(tol, smallest_tol(self.S.size))
        found = solve_to_the_end(self.S, self.n_components, WeightedL1(1.0, weights), tol=tol, init=node.solution)
        # The weights are rounded products: a factor 1 + 2u on the sum that the cost bounds.
        upper = penalised(found.dual_bound, self.cost(y**2, node.inside, node.outside))
        return replace(node, z=z, solution=found, upper=upper)

    def subgradient(self, node: Node) -> Array:
        """Return a subgradient of F at the node's weights; of those where weights are equal one that is short."""
        y = np.sqrt(node.z)
        pull = np.asarray(abs(node.solution.projection) @ y) / y
        share = np.where(node.inside, 1.0, 0.0)
        free, top = node.free, self.k - int(node.inside.sum())
        if top > 0:
            level = np.sort(node.z[free])[::-1][min(top, len(free)) - 1]
            above, level_ones = free[node.z[free] > level * (1 + TIE)], free[np.abs(node.z[free] / level - 1) <= TIE]
            share[above] = 1.0
            rest = top - len(above)
            share[level_ones] = capped_simplex(pull[level_ones], rest) if rest < len(level_ones) else 1.0
        result: Array = np.sqrt(self.n_components) * share - pull
        result[node.outside] = 0.0
        return result

    def tightened(self, node: Node, target: float, enough: float, max_steps: int) -> Node:
        """Return the node with a smaller bound, by steps against the subgradient towards ``target``.

        Some support has the value ``target``; a bound below ``enough`` need not be any smaller.
        """
        step, failures = STEP, 0
        if node.solution.alpha == 0.0 and max_steps > 0:  # weights that nothing was solved for yet
            tried = self.moved(node, node.z, 1e-4)
            node = replace(tried, upper=min(tried.upper, node.upper))
        direction = self.subgradient(node)
        for _ in range(max_steps):
            gap = node.upper - target
            size = float(direction @ direction)
            if node.upper <= enough or failures >= FAILURES or size == 0.0:
                break
            z = node.z - step * gap / size * direction
            z = np.maximum(z, SMALLEST * max(float(z.max()), float(node.z.max())))
            tol = min(max(0.03 * gap / max(abs(node.upper), abs(target)), 1e-6), 1e-3)
            tried = self.moved(node, z, tol)
            failures = 0 if tried.upper <= node.upper - GAIN * gap else failures + 1
            if tried.upper < node.upper:
                node, direction = tried, self.subgradient(tried)
            else:
                step *= 0.4
        return node

    def fixed(self, node: Node, enough: float) -> Node:
        """Return the node with what its bound alone says about single variables.

        With i in use its z_i is counted in place of the smallest of the k largest; without it that of the next one in
        place of z_i. Where the bound falls to ``enough``, no support of interest has i in, or out.
        """
        top, free = self.k - int(node.inside.sum()), node.free
        if not 0 < top < len(free):
            return node
        root = float(np.sqrt(self.n_components))
        ordered = np.sort(node.z[free])[::-1]
        margin = 1e-12 * (abs(node.upper) + abs(enough))
        without = node.upper + root * np.minimum(node.z[free] - ordered[top - 1], 0.0) + margin <= enough
        needed = node.upper - root * np.maximum(node.z[free] - ordered[top], 0.0) + margin <= enough
        inside, outside = node.inside.copy(), node.outside.copy()
        outside[free[without]] = True
        inside[free[needed & ~without]] = True
        return replace(node, inside=inside, outside=outside)
