"""A bound of φ_d(S − U) from the active set A where the other variables P are many, and below a level together.

If M_PP ⪯ βI for M = S − U and β < τ, then τI − M_PP ⪰ (τ − β)I, and by Schur's complement M is at most
E = M_AA + M_AP M_PA/(τ − β) on A and τI on P: its eigenvalues are bounded by those of E and copies of τ. Unlike
dominance this needs no sparse M_PP, and unlike a factorisation of τI − M little accuracy: β is far below τ, so a
Cholesky factor in single precision shows M_PP ⪯ βI, in half the time and half the memory.

Its rounding is known after the fact. A factor L that was computed has A + Δ = LLᵀ with |Δ| ≤ γ|L||Lᵀ|,
γ = (m + 1)u/(1 − (m + 1)u) (Higham, Accuracy and Stability of Numerical Algorithms, theorem 10.3), so ‖Δ‖ is at most
γ times the largest row sum of |L||Lᵀ|, two products with a vector. On the paper's model of 3,200 variables that is
0.2 % of τ, where the bound a priori, γ times the trace, would be larger than τ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.blas import strmv
from scipy.linalg.lapack import spotrf

from fantope.eigen import all_blas_threads
from fantope.eigen.rough import roughly_leading
from fantope.problem.bounds import UNIT, leading_eigenvalue_bounds
from fantope.problem.dominance import RITZ_STEPS, ROOM, spread
from fantope.problem.projection import Factors
from fantope.problem.slack import SplitSlack
from fantope.problem.soft_graph import SoftMatrix
from fantope.typing import Array

SINGLE = 2.0**-24  # unit roundoff
RANGE = 1e-12, 1e12  # of the level: far beyond it squares leave single precision
SHARES = 0.4, 0.2  # of the way from the largest eigenvalue of M_PP, roughly, to τ: the levels that are tried
OTHERS_VECTORS, OTHERS_STEPS = 8, 4  # by which that eigenvalue is estimated
USED = 0.9  # of what the bound may still lose: what E may cost, as far as Ritz values show


def levelled_bounds(M: SplitSlack, X: Factors, count: int, slack: float, below: float, accepted: float) -> Array | None:
    """Return ``count`` numbers u₁ ≥ u₂ ≥ … with λ_i(S − U) ≤ u_i, rigorously; None if their sum would not be accepted.

    ``slack`` and ``below`` are those of :func:`~fantope.problem.bounds.leading_eigenvalue_bounds`.
    """
    coupling, start = M.T @ M.T.T, spread(X, M.active)
    theta = roughly_leading(M.M_AA, count, start, RITZ_STEPS)[0]
    room = accepted - float(theta.sum())
    tau = float(theta[-1]) + ROOM * room / count
    lowest = float(roughly_leading(_Others(M), OTHERS_VECTORS, np.zeros((0, len(M))), OTHERS_STEPS)[0][0])
    if room <= 0.0 or lowest >= tau:
        return None
    for share in SHARES:
        level = lowest + share * (tau - lowest)
        lifted = roughly_leading(M.M_AA + coupling / (tau - level), count, start, RITZ_STEPS)[0]
        if lifted.sum() <= accepted - (1.0 - USED) * room:
            break
    else:
        return None
    level = proven_level(M, level)
    if not level < tau:
        return None
    weight = (1.0 + 8 * UNIT) / (tau - level)
    # Of products, each of as many terms as there are other variables, and of M's entries.
    rounding = 4 * (len(M) + 2) * UNIT * float(np.linalg.norm(M.M_AA) + weight * coupling.trace())
    found = leading_eigenvalue_bounds(M.M_AA + weight * coupling, count, start, slack, below) + rounding
    return np.asarray(np.sort(np.append(found, [tau] * count))[::-1][:count])


@dataclass(frozen=True)
class _Others:
    """M_PP, with zeros on the active set."""

    M: SplitSlack

    def __len__(self) -> int:
        return len(self.M)

    def __matmul__(self, V: Array) -> Array:
        mine = np.where(self.M.outside[:, None], V, 0.0)
        found = self.M.graph.product(mine) + self.M.diagonal[:, None] * mine
        return np.where(self.M.outside[:, None], found, 0.0)


def proven_level(M: SplitSlack, level: float) -> float:
    """Return a number that M_PP is below, a little above ``level``; infinite if there is no such factor."""
    assert isinstance(M.graph, SoftMatrix)
    N, m = M.graph.values, len(M)
    room = np.where(M.outside, level - M.diagonal, level)
    if not (RANGE[0] < level < RANGE[1] and room.min() > 0.0):
        return np.inf
    A = np.negative(N)
    A[M.active] = 0.0
    A[:, M.active] = 0.0
    A.flat[:: m + 1] = room
    # Both triangles are the same, so the transpose is the column-major array that LAPACK overwrites without a copy.
    with all_blas_threads(m):
        L, info = spotrf(A.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        return np.inf
    np.abs(L, out=L)
    ones = np.ones(m, dtype=np.float32)
    sums = float(strmv(L, strmv(L, ones, lower=1, trans=1), lower=1).max())
    gamma = (m + 1) * SINGLE / (1.0 - (m + 1) * SINGLE)
    factor = gamma * (1.0 + 4.0 * gamma) * sums  # sums of numbers of one sign, and of twice as many terms
    with np.errstate(over="ignore"):  # infinite, which shows nothing
        norm = float(np.sqrt(np.einsum("ij,ij->i", N, N).sum(dtype=np.float64)))
    entries = 2.0 * SINGLE * norm * (1.0 + 4.0 * gamma) + SINGLE * float(room.max())
    tiny = float(np.finfo(np.float32).tiny)
    underflow = m * m * tiny + m * SINGLE * np.sqrt(tiny)  # in the factor; of squares in the norm
    return float(level + factor + entries + underflow + 8 * UNIT * level)
