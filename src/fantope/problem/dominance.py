"""A bound of φ_d(S − U) from a small matrix: the variables outside an active set are dominated, not factorised.

Let K be the active set and what else is taken into the core, P the other variables, M = S − U and T = M_KP. Among the
variables that are not active M is S soft-thresholded, hence sparse. For any τ and x > 0 with w = (τI − |M_PP|)x > 0,
the diagonal of M_PP taken with its sign,

    τI − M_PP ⪰ diag(w/x)        (2|y_i y_j| ≤ y_i² x_j/x_i + y_j² x_i/x_j),

so that by Schur's complement M ⪯ E on K and τI on P with E = M_KK + T diag(x/w) Tᵀ: the eigenvalues of M are bounded by
those of E, which has as many rows as the core, and copies of τ. Measured on kidney normals (alpha 0.95 to 0.92, 510 to
1,617 variables kept, 200 to 430 active) that is within 2e-4 of φ_d(M) with the active set for a core, and no
factorisation of all variables is needed. Where P is not dominated, the variables with the largest x, and where the
bound is too large, those that lift it most, are taken into the core.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse

from fantope.eigen.rough import roughly_leading
from fantope.problem.bounds import UNIT, leading_eigenvalue_bounds
from fantope.problem.projection import Factors
from fantope.problem.slack import SplitSlack
from fantope.typing import AnyArray, Array, IntArray

STEPS = 200  # of the iteration for x; where it needs more, P is nearly as strong as K, and the bound of no use
REACHED = 0.9  # of w that the iteration aims at
RITZ_STEPS = 8  # block products for the d-th eigenvalue of M_KK: τ may be any number
ROOM = 0.25  # of what a bound may still lose that τ is allowed to cost
DENSE_SHARE = 0.05  # of entries that are not zero: beyond it rows are multiplied as dense ones, …
STRIP = 4096  # … by as many columns at a time (kidney, 13,822 variables, alpha 0.32: a certificate in 20 s, not 80)
LEAST_GROWTH, GROWTH = 100, 2  # variables added to a core: at least this many, and one for every GROWTH that it has


@dataclass(frozen=True)
class Core:
    """M on a core K, and between K and the other variables: dense rows of A, sparse ones of the rest of K."""

    M: SplitSlack
    more: IntArray  # K without A
    rows: scipy.sparse.csr_array  # of ``more``, over all variables

    @classmethod
    def of(cls, M: SplitSlack, more: IntArray) -> Core:
        """Take the active set and ``more`` variables into the core."""
        return cls(M, more, M.soft_rows(more))

    @property
    def members(self) -> IntArray:
        """K: the active set, then the others."""
        return np.concatenate([self.M.active, self.more])

    @property
    def others(self) -> AnyArray:
        """Which variables are in P."""
        found = self.M.outside.copy()
        found[self.more] = False
        return found

    def matrix(self) -> Array:
        """Return M_KK."""
        M, a = self.M, len(self.M.active)
        found = np.zeros((a + len(self.more),) * 2)
        found[:a, :a] = M.M_AA
        column = np.searchsorted(M.near, self.more)
        known = np.flatnonzero(np.isin(self.more, M.near))
        found[:a, a + known] = M.T[:, column[known]]
        found[a:, :a] = found[:a, a:].T
        found[a:, a:] = self.rows[:, self.more].toarray()
        found.flat[a * (len(found) + 1) :: len(found) + 1] = M.diagonal[self.more]
        return found

    def couplings(self) -> Array:
        """Return the squared norms of the columns of T, for all variables: zero outside P."""
        found = np.zeros(len(self.M))
        found[self.M.near] = np.einsum("ij,ij->j", self.M.T, self.M.T)
        if len(self.more):
            found += np.asarray((self.rows * self.rows).sum(axis=0)).ravel()
        return np.where(self.others, found, 0.0)

    def rounding(self, K: Array, weights: Array) -> float:
        """Return that of E: of its products, each of as many terms as there are other variables, and of M's entries."""
        return 4 * (len(self.M) + 2) * UNIT * (float(np.linalg.norm(K)) + float(self.couplings() @ weights))

    def lifted(self, K: Array, weights: Array) -> Array:
        """Add T diag(weights) Tᵀ to K, in place; ``weights`` are zero outside P."""
        M, a = self.M, len(self.M.active)
        half = np.sqrt(weights)
        scaled = M.T * half[M.near]
        K[:a, :a] += scaled @ scaled.T  # of which BLAS computes one half
        if len(self.more) and self.rows.nnz <= DENSE_SHARE * self.rows.shape[0] * self.rows.shape[1]:
            cross = np.asarray(self.rows[:, M.near] @ (scaled * half[M.near]).T)
            K[a:, :a] += cross
            K[:a, a:] += cross.T
            K[a:, a:] += (self.rows * weights[None, :] @ self.rows.T).toarray()
        elif len(self.more):
            for start in range(0, len(M), STRIP):
                strip = np.arange(start, min(start + STRIP, len(M)))
                T = self.rows[:, strip].toarray() * half[strip]
                first, last = np.searchsorted(M.near, [start, start + STRIP])
                cross = T[:, M.near[first:last] - start] @ scaled[:, first:last].T
                K[a:, :a] += cross
                K[:a, a:] += cross.T
                K[a:, a:] += T @ T.T
        return K


def dominated_bounds(
    M: SplitSlack, X: Factors, count: int, slack: float, below: float, accepted: float = np.inf, largest: int = 0
) -> Array | None:
    """Return ``count`` numbers u₁ ≥ u₂ ≥ … with λ_i(S − U) ≤ u_i, rigorously; None if the others are not dominated.

    ``slack`` and ``below`` are those of :func:`~fantope.problem.bounds.leading_eigenvalue_bounds`. The core grows to
    ``largest`` variables while Σu_i is above ``accepted``.
    """
    core, best = _first_core(M, count), None
    while True:
        K, members = core.matrix(), core.members
        start = spread(X, members)
        theta = roughly_leading(K, count, start, RITZ_STEPS)[0]
        tau = float(theta[-1])
        if best is not None and theta.sum() > accepted:  # and so is Σλ_i(S − U), of which K is a part
            return best
        if np.isfinite(accepted):
            tau += ROOM * max(accepted - float(theta.sum()), 0.0) / count
        x, w = dominate(core, tau)
        hard = x
        if w is not None:
            weights = x / w
            rounding = core.rounding(K, weights)
            found = leading_eigenvalue_bounds(core.lifted(K, weights), count, start, slack, below) + rounding
            found = np.sort(np.append(found, [tau] * count))[::-1][:count]
            best = found if best is None or found.sum() < best.sum() else best
            if best.sum() <= accepted:
                return best
            hard = core.couplings() * weights
        larger = _grown(core, hard, largest)
        if larger is None:
            return best
        core = larger


def dominating(
    M: SplitSlack, X: Factors, count: int, levels: int, largest: int
) -> tuple[IntArray, Array, float] | None:
    """Return K, E, rounding added to its diagonal, and τ with S − U ⪯ E on K and τ elsewhere; None if there is none.

    τ is about the eigenvalue ``count + levels`` of E, or if that is too low a larger one, but not beyond ``count``.
    """
    core = _first_core(M, count + levels)
    while True:
        K, members = core.matrix(), core.members
        theta = roughly_leading(K, count + levels, spread(X, members), RITZ_STEPS)[0]
        for tau in theta[[-1, count, count - 1]]:
            hard, w = dominate(core, float(tau))
            if w is not None:
                rounding = core.rounding(K, hard / w)
                E = core.lifted(K, hard / w)
                E.flat[:: len(E) + 1] += rounding
                return members, E, float(tau)
        larger = _grown(core, hard, largest)
        if larger is None:
            return None
        core = larger


def _first_core(M: SplitSlack, count: int) -> Core:
    """Return the active set, or where it has fewer variables than are asked for, the heaviest ones with it."""
    if len(M.active) >= count:
        return Core.of(M, M.active[:0])
    heaviest = np.argsort(-(M.diagonal + M.row_sums()), kind="stable")
    return Core.of(M, np.sort(heaviest[M.outside[heaviest]][: LEAST_GROWTH + count]))


def _grown(core: Core, hard: Array, largest: int) -> Core | None:
    """Take the hardest of the other variables into the core; None if it has ``largest`` variables, or all."""
    size = len(core.members)
    new = np.argsort(-hard, kind="stable")[: min(max(LEAST_GROWTH, size // GROWTH), max(largest - size, 0))]
    new = new[core.others[new]]
    return Core.of(core.M, np.union1d(core.more, new)) if len(new) else None


def spread(X: Factors, members: IntArray) -> Array:
    """Return the eigenvectors of X over ``members``, as rows: where to look for those of M."""
    _, here, there = np.intersect1d(X.rows, members, assume_unique=True, return_indices=True)
    start = np.zeros((len(X.weights), len(members)))
    start[:, there] = X.vectors[:, here]
    return start


def dominate(core: Core, tau: float) -> tuple[Array, Array | None]:
    """Return x and w over all variables, x/w rounded upwards and zero outside P; without w where none is found."""
    M, others = core.M, core.others
    room = np.where(others, tau - M.diagonal, 1.0)
    if not (room > 0.0).all():
        return np.where(others, -room, -np.inf), None
    coupling = np.sqrt(core.couplings())
    # Where a variable is coupled to K its w should be large; elsewhere it is enough that w is positive.
    largest = float(coupling.max(initial=0.0))
    goal = np.where(others, np.maximum(coupling, 1e-3 * largest) if largest > 0.0 else 1.0, 0.0)
    x = goal / room
    terms = M.graph.degree + 4
    for _ in range(STEPS):
        pull = np.where(others, M.graph.product(x, absolute=True), 0.0)
        size = room * x
        w = size - pull - 4 * terms * UNIT * (size + pull)
        if (w >= REACHED * goal).all():
            return x * (1 + 8 * UNIT), np.where(others, w, 1.0)
        x = (goal + pull) / room
        # |M_PP|x ≥ room·x everywhere: its spectral radius is too large for any x (Collatz and Wielandt).
        if not (w > 0.0)[others].any() or not x.max() < 1e12 * goal.max() / room.min():
            break
    return np.where(others, x, -np.inf), None
