"""What a bracket says about each variable: bounds of the leverage X*_jj that hold for every optimal X*.

Let M = S − U and L the objective of a feasible point. Every optimal X* has ⟨M, X*⟩ ≥ ⟨S, X*⟩ − Ω(X*) ≥ L. Let
λ₁ ≥ λ₂ ≥ … be the eigenvalues of M, Π_r the projection on its r leading eigenvectors, and ε = φ_d(M) − L. Since
0 ⪯ X* ⪯ I and tr X* = d,

    tr (I − Π_r)X*  ≤  ε/(λ_d − λ_{r+1})   for r ≥ d,        tr Π_r(I − X*)  ≤  ε/(λ_r − λ_{d+1})   for r ≤ d.

Of all 0 ⪯ X ⪯ I with tr (I − Π)X ≤ sin²φ, none has X_jj larger than cos²(θ − φ) with cos²θ = Π_jj (1 if φ ≥ θ): the
leading eigenvector is turned towards e_j as far as is allowed. That gives the upper bounds, and with I − X in place of
X the lower ones; each is the best over r. The dual problem in one scalar, min over t ≥ 0 of φ_d(e_j e_jᵀ + tM) − tL,
has the same solution where M has two distinct eigenvalues; several r do for more of them what t does, in closed form.

A variable without edges is a problem of its own that only shares the trace: it adds (S_jj − w_jj)x, the others
V(d − x), concave in the trace. If a unit vector on unused variables adds more than S_jj − w_jj + g to the objective, g
the width of the bracket, then V(d + 1) − V(d) > S_jj − w_jj, and no optimum has x > 0: the upper bound is exactly zero.
"""

from __future__ import annotations

import numpy as np

from fantope.eigen import Eigenspace
from fantope.operators.base import Covariance
from fantope.penalties import Entrywise, Penalty
from fantope.problem.bounds import UNIT, claimed_eigenvalue_bounds
from fantope.problem.decomposition import wide_problem
from fantope.problem.dominance import dominating
from fantope.problem.dual import ExtendedDual, LiftedDual
from fantope.problem.projection import Factors
from fantope.typing import Array, IntArray

EXTRA = 12  # eigenvectors beyond d: what lies below them counts as one level
MOST_UNUSED = 5000  # variables among which a vector is looked for
GROUPS = (2, 3, 5, 8, 13)  # variables of vectors that are tried for what they would add
LARGEST_CORE = 2000  # variables in the matrix that bounds all others, where these are too many for an array
DENSE_UP_TO = 600  # variables: up to here all eigenvectors are computed and used


def leverage_bounds(
    S: Covariance, dual: LiftedDual, X: Factors, n_components: int, objective: float
) -> tuple[Array, Array]:
    """Return (p,) lower and upper bounds of X*_jj for every optimal X*, safe against rounding.

    ``X`` is a feasible point, where leading eigenvectors are looked for, and ``objective`` its own.
    """
    d, p = n_components, S.size
    kept = np.flatnonzero(dual.position >= 0)
    found = _levels_of_all(S, dual, d, X, kept, objective)
    if found is None:
        return np.zeros(p), np.ones(p)
    levels, V = found
    scale = float(np.abs(levels).max())
    rest = _level_of_dropped(S, dual)
    # What is left out at the edge of the d leading ones: from here on only differences of levels matter.
    room = float(levels[:d].sum()) - objective + 8 * d * UNIT * (scale + abs(objective))
    upper, lower = np.ones(p), np.zeros(p)
    share = np.cumsum(V**2, axis=0)  # Π_r's diagonal in row r − 1
    blur = 64 * (len(kept) + 1) * UNIT  # of leverages: V is orthonormal up to rounding
    outside = np.maximum(levels, rest.max(initial=-np.inf))  # the largest level without the r leading ones
    for r in range(d, len(levels)):
        phi = _angle(room, float(levels[d - 1] - outside[r]))
        upper[kept] = np.minimum(upper[kept], _turned(share[r - 1] + blur, phi))
    for r in range(1, d + 1):
        phi = _angle(room, float(levels[r - 1] - outside[d])) if len(levels) > d else 0.5 * np.pi
        lower[kept] = np.maximum(lower[kept], 1.0 - _turned(1.0 - share[r - 1] + blur, phi))
    dropped = dual.position < 0
    with np.errstate(divide="ignore"):
        below = np.maximum(levels[d - 1] - rest, 0.0)
        shares = np.minimum(np.where(below > 0.0, room / below, 1.0), 1.0)
    unused = np.setdiff1d(np.arange(len(kept)), np.searchsorted(kept, X.rows))
    gain = _gain(S, dual.penalty, kept[unused][:MOST_UNUSED])
    shares[rest < gain - room - 1e-12 * scale] = 0.0
    upper[dropped] = shares
    return np.clip(lower, 0.0, 1.0), np.clip(upper, 0.0, 1.0)


def _levels_of_all(
    S: Covariance, dual: LiftedDual, d: int, X: Factors, kept: IntArray, objective: float
) -> tuple[Array, Array] | None:
    """Return levels and vectors over the ``kept`` variables, as :func:`_levels` does; None if there are none."""
    own, penalty, wide = dual.reduced, dual.penalty, None
    if isinstance(own, ExtendedDual) and isinstance(penalty, Entrywise):
        wide = wide_problem(S, kept, dual.labels, d, penalty)
    if wide is None:
        M = S.block(kept, kept) - dual.block(kept, kept)
        M[dual.labels[kept][:, None] != dual.labels[kept]] = 0.0
        return _levels(M, d, X, kept, objective)
    assert isinstance(own, ExtendedDual)
    inside = Factors(np.searchsorted(kept, X.rows), X.vectors, X.weights)
    found = dominating(wide.slack(own), inside, d, EXTRA, LARGEST_CORE)
    if found is None:
        return None
    core, E, tau = found
    order = np.argsort(core)
    core, E = core[order], np.ascontiguousarray(E[np.ix_(order, order)])
    levels, vectors = _levels(E, d, X, kept[core], objective)
    V = np.zeros((min(len(levels), d + EXTRA), len(kept)))
    V[:, core] = vectors[: len(V)]
    return np.maximum(levels[: len(V)], tau), V


def _levels(M: Array, d: int, X: Factors, kept: IntArray, objective: float) -> tuple[Array, Array]:
    """Return b₁ ≥ … ≥ b_R and orthonormal rows V such that M ⪯ Σ b_i v_i v_iᵀ + b_R(I − VᵀV), proven."""
    m = len(M)
    if m <= DENSE_UP_TO:
        values, vectors = np.linalg.eigh(M)
        # Exact for a matrix within a small multiple of m·u·‖M‖ of M.
        return values[::-1] + 20 * m * UNIT * float(np.linalg.norm(M)), np.ascontiguousarray(vectors.T[::-1])
    start = 1e-3 * np.random.default_rng(0).standard_normal((max(len(X.weights), d + EXTRA) + 3, m))
    start[: len(X.weights)] = 0.0
    start[: len(X.weights), np.searchsorted(kept, X.rows)] = X.vectors
    count = min(d + EXTRA, m)
    theta, V = Eigenspace(start).leading(M, lambda _: count, relative=1e-7)
    eta = max(0.02 * abs(float(theta[:d].sum()) - objective) / d, 1e-12 * float(np.abs(theta).max()))
    while True:
        found = claimed_eigenvalue_bounds(M, theta, V, eta)
        if found is not None:
            return found, V
        eta *= 4.0


def _level_of_dropped(S: Covariance, dual: LiftedDual) -> Array:
    """Return the eigenvalues of M of variables without edges that were dropped; −∞ for those that are forbidden."""
    dropped = np.flatnonzero(dual.position < 0)
    if not len(dropped):
        return np.zeros(0)
    limits = dual.penalty.diagonal(dropped)  # type: ignore[union-attr]  # the other penalties drop nothing
    return np.asarray(S.diagonal()[dropped] - limits)


def _gain(S: Covariance, penalty: Penalty, rows: IntArray) -> float:
    """Return what some unit vector y on ``rows`` adds to the objective, yᵀSy − Σ w_ij|y_i y_j|."""
    if len(rows) < 2 or not isinstance(penalty, Entrywise):
        return -np.inf
    block, best = S.block(rows, rows), -np.inf
    limits = np.broadcast_to(penalty.limits(rows, rows), block.shape)
    pairs = np.abs(block) - limits
    np.fill_diagonal(pairs, -np.inf)
    leader = int(np.argmax(pairs.max(axis=1)))
    for k in GROUPS:  # the best pair, and larger groups around it
        chosen = np.append(np.argsort(-pairs[leader], kind="stable")[: k - 1], leader)
        y = np.linalg.eigh(block[np.ix_(chosen, chosen)])[1][:, -1]
        size = np.abs(y)
        value = y @ block[np.ix_(chosen, chosen)] @ y - size @ limits[np.ix_(chosen, chosen)] @ size
        best = max(best, float(value) if np.isfinite(value) else -np.inf)
    return best


def _angle(room: float, step: float) -> float:
    """Return φ with sin²φ = room/step, π/2 where that says nothing."""
    if not step > 0.0 or room >= step:
        return 0.5 * float(np.pi)
    return float(np.arcsin(np.sqrt(max(room, 0.0) / step)))


def _turned(share: Array, phi: float) -> Array:
    """Return cos²(θ − φ), at most 1, where cos²θ is ``share``."""
    theta = np.arccos(np.sqrt(np.clip(share, 0.0, 1.0)))
    return np.asarray(np.cos(np.maximum(theta - phi, 0.0)) ** 2)
