"""Upper bounds of the leading eigenvalues of a symmetric matrix that hold in spite of rounding.

An iterative eigensolver approaches eigenvalues from below and can miss some, so its Ritz values prove nothing
about φ_d. Two things do:

* a full LAPACK computation with its backward error added (small matrices);
* a Cholesky factorisation. With Ritz pairs (θ, V), θ_d the d-th value and η > 0, let
  ``N = (θ_d + η)I + V diag(θ_i − θ_d) Vᵀ``. If N − M has a Cholesky factor then M ⪯ N, hence
  λ_i(M) ≤ λ_i(N) = θ_i + η for i ≤ d. Nothing can have been missed, whoever computed V. How small η may be
  is a matter of how good V is (quadratically, when there is a gap below θ_d).

Factorising costs p³/3 operations at full speed: about a fifteenth of a full decomposition.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf

from fantope.eigen import Eigenspace, all_blas_threads, largest_eigenvalues
from fantope.eigen.rough import roughly_leading
from fantope.typing import Array

UNIT = float(np.finfo(np.float64).eps) / 2
STRIP = 128  # rows updated at a time
KRYLOV_STEPS = 0, 3, 8  # for a claim, and where that fails: without a step where the start is Ritz pairs already
SHARP = 0.1  # of the others' share of what a claim may exceed Ritz values by: what converged ones get
# The last small matrix and its leading eigenvalues: a solver looks at them, its run certifies them, and where that run
# is inside another one of all variables they are certified once more.
_LAST: list[tuple[Array, Array]] = [(np.zeros((0, 0)), np.zeros(0))]
DENSE_UP_TO = 400  # variables; eigvalsh costs at most twice a claim that holds, and on flat data several claims fail


def leading_eigenvalue_bounds(
    M: Array,
    count: int,
    start: Array | None = None,
    slack: float = 0.0,
    below: float = -np.inf,
    refill: Callable[[Array], object] | None = None,
) -> Array:
    """Return ``count`` numbers u₁ ≥ u₂ ≥ … with λ_i(M) ≤ u_i, rigorously.

    Parameters
    ----------
    M : (m, m) symmetric array
        Left unchanged, unless ``refill`` is given.
    count : int
    start : (k, m) array, optional
        Approximate leading eigenvectors as rows: a help to be fast, no part of the proof.
    slack : float
        How much the sum of the bounds may exceed the sum of the eigenvalues, where that saves time.
    below : float
        A number that Σu_i cannot go below (a primal value): a twentieth of the distance to it is further
        slack, so that far from the optimum no time goes into digits that do not matter.
    refill : callable, optional
        Writes M's values into the array it is called with: M may then be overwritten, which saves a copy.
    """
    m = len(M)
    count = min(count, m)
    if m <= DENSE_UP_TO:
        return _lapack(M, count)
    missing = count + 3 - (0 if start is None else len(start))
    if missing > 0:
        random = np.random.default_rng(0).standard_normal((missing, m)) / np.sqrt(m)
        start = random if start is None else np.vstack([start, random])
    space = Eigenspace(start)
    for more, effort in ((0, 1e-4), (3, 1e-5)):
        # A start that is an invariant subspace hides what it misses: the second time more vectors must converge.
        theta, V = space.leading(M, _constant(min(count + more, m)), relative=effort)
        theta, V = theta[:count], V[:count]
        allowed = max(slack, 0.05 * (float(theta.sum()) - below) if np.isfinite(below) else 0.0)
        for share in (0.05, 1.0):
            bounds = _cholesky(M if refill else M.copy(), theta, V, share * allowed / count)
            if bounds is not None:
                return bounds
            if refill:
                refill(M)
    return _lapack(M, count)


def bounds_within(
    M: Array, count: int, start: Array, slack: float, below: float, limit: float, refill: Callable[[Array], object]
) -> Array | None:
    """Return bounds of the ``count`` leading eigenvalues of M without waiting for Ritz pairs to converge.

    The Ritz pairs of a few steps of a block Krylov method from ``start``, approximate eigenvectors as rows, are taken
    for a claim that may exceed them by more and more, first so little that Σu_i stays below ``limit``: one
    factorisation each, however many eigenvalues are nearly equal. Beyond the limit a bound decides nothing, and may be
    off by as much as Σu_i is away from ``below``. None if no claim can be shown. M is overwritten; ``refill`` writes
    its values anew.
    """
    for steps in KRYLOV_STEPS:
        theta, V = roughly_leading(M, count, start, steps) if steps else _ritz_pairs(M, count, start)
        total = float(theta.sum())
        room, distance = limit - total, total - below
        claims = [min(slack, 0.5 * room)] if room > 0.0 else []
        if steps == KRYLOV_STEPS[-1]:
            last = [0.95 * room, *(share * distance for share in (0.5, 2.0))]
            claims += [allowed for allowed in last if allowed > max(0.5 * room, slack)]
        residual = np.linalg.norm(M @ V.T - V.T * theta, axis=0) if claims else theta
        for allowed in claims:
            # A pair that is far above the last and well converged needs little: the others may have its share.
            share, above = allowed / count, theta - theta[-1]
            sharp = (above > share) & (residual**2 < SHARP * share * above)
            lift = np.where(sharp, SHARP, 1.0)
            lift *= allowed / lift.sum()
            bounds = _cholesky(M, theta + (lift - lift[-1]), V, float(lift[-1]))
            if bounds is not None:
                return bounds
            refill(M)
    return None


def _ritz_pairs(M: Array, count: int, start: Array) -> tuple[Array, Array]:
    """Return the ``count`` leading Ritz pairs of M in the span of ``start``, orthonormal rows."""
    values, C = np.linalg.eigh(start @ M @ start.T)
    return values[::-1][:count], C[:, ::-1][:, :count].T @ start


def claimed_eigenvalue_bounds(M: Array, theta: Array, V: Array, eta: float) -> Array | None:
    """Return bounds of the leading eigenvalues of M if N − M ⪰ 0 for the N above; None if that cannot be shown.

    ``theta`` (descending) and the rows of ``V`` are a claim; where they come from is of no consequence for the proof.
    """
    return _cholesky(M.copy(), theta, V, eta)


def _constant(wanted: int) -> Callable[[Array], int]:
    return lambda _: wanted


def _lapack(M: Array, count: int) -> Array:
    """LAPACK's eigenvalues are exact for a matrix within a small multiple of m·u·‖M‖ of M."""
    m = len(M)
    last, known = _LAST[0]
    if len(known) == count and np.array_equal(last, M):
        values = known
    else:
        with all_blas_threads(m):
            values = largest_eigenvalues(M, count)
        if m <= DENSE_UP_TO:
            _LAST[0] = M.copy(), values
    error = 20 * m * UNIT * float(np.linalg.norm(M))
    return values + error


def _cholesky(M: Array, theta: Array, V: Array, eta: float) -> Array | None:
    """Prove λ_i(M) ≤ θ_i + η + rounding by factorising N − M in place of M; None if it has no Cholesky factor.

    If the factorisation runs to its end, N − M ⪰ −c with c = γ/(1 − γ)·tr(N − M), γ = (m + 1)u/(1 − (m + 1)u)
    (Higham, Accuracy and Stability of Numerical Algorithms, section 10.1). Rounding in the entries of N − M, and V
    not being exactly orthonormal, add the rest.
    """
    m = len(M)
    low = float(theta[-1])
    excess = theta - low
    size = float(np.linalg.norm(M))
    A = np.negative(M, out=M)
    for i in range(0, m, STRIP):  # a strip at a time: no further m × m array
        A[i : i + STRIP] += (V.T[i : i + STRIP] * excess) @ V
    A.flat[:: m + 1] += low + eta
    trace = float(A.trace())
    # A is symmetric, so its transpose is the column-major array that LAPACK overwrites without a copy.
    with all_blas_threads(m):
        _, info = dpotrf(A.T, lower=1, clean=0, overwrite_a=1)
    if info != 0:
        return None
    gamma = (m + 1) * UNIT / (1 - (m + 1) * UNIT)
    factorisation = 2 * gamma * max(trace, 0.0)
    entries = 8 * UNIT * (size + len(theta) * float(excess.max()) + abs(low) + eta)
    stretch = float(np.linalg.norm(V @ V.T - np.eye(len(theta))))
    result: Array = low + eta + excess * (1 + stretch) + factorisation + entries
    return result
