"""The dual rows of variables outside the active set (math: docs/guarantees.md, "Extending a dual point")."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

NEWTON_STEPS = 25


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _residual(s, clipped, V, alpha, ridge, y, F):  # type: ignore[no-untyped-def]
    """F = Vᵀ(u(y) − s) + ridge·y with u(y) = clip(clipped + Vy, ±alpha); returns its largest entry."""
    k = V.shape[1]
    for a in range(k):
        F[a] = ridge * y[a]
    for i in range(s.shape[0]):
        z = clipped[i]
        for a in range(k):
            z += V[i, a] * y[a]
        u = min(max(z, -alpha), alpha) - s[i]
        for a in range(k):
            F[a] += V[i, a] * u
    largest = 0.0
    for a in range(k):
        largest = max(largest, abs(F[a]))
    return largest


@njit(cache=True, nogil=True, parallel=True)  # type: ignore[untyped-decorator]
def extend_dual(S_rows, V, alpha, ridge, slack, coupling):  # type: ignore[no-untyped-def]
    """For each row s of ``S_rows`` find u in [−alpha, alpha] near clip(s) with Vᵀu ≈ Vᵀs; write s − u.

    u minimises ½‖u − clip(s)‖² + ‖Vᵀ(s − u)‖²/(2·ridge) over the box. Its dual has one unknown per column of V:
    u = clip(clip(s) + Vy) with Vᵀ(u − s) + ridge·y = 0, which a damped semismooth Newton iteration solves.
    ``slack`` receives s − u and ``coupling`` the norm of Vᵀ(s − u), zero where the row is feasible.
    """
    n, m = S_rows.shape
    k = V.shape[1]
    for b in prange(n):
        s = S_rows[b]
        clipped = np.empty(m)
        for i in range(m):
            clipped[i] = min(max(s[i], -alpha), alpha)
        y = np.zeros(k)
        trial = np.zeros(k)
        F = np.zeros(k)
        size = _residual(s, clipped, V, alpha, ridge, y, F)
        for _ in range(NEWTON_STEPS):
            if size <= 1e-11 * (1.0 + alpha):
                break
            H = np.zeros((k, k))
            for a in range(k):
                H[a, a] = ridge
            for i in range(m):
                z = clipped[i]
                for a in range(k):
                    z += V[i, a] * y[a]
                if -alpha < z < alpha:
                    for a in range(k):
                        for c in range(a + 1):
                            H[a, c] += V[i, a] * V[i, c]
            for a in range(k):  # Cholesky in place, then two triangular solves: k is the rank of X, a few
                for c in range(a + 1):
                    t = H[a, c]
                    for q in range(c):
                        t -= H[a, q] * H[c, q]
                    if a == c:
                        H[a, a] = np.sqrt(max(t, 1e-300))
                    else:
                        H[a, c] = t / H[c, c]
            for a in range(k):
                t = F[a]
                for q in range(a):
                    t -= H[a, q] * F[q]
                F[a] = t / H[a, a]
            for a in range(k - 1, -1, -1):
                t = F[a]
                for q in range(a + 1, k):
                    t -= H[q, a] * F[q]
                F[a] = t / H[a, a]
            direction = F.copy()
            step = 1.0
            for _halving in range(6):
                for a in range(k):
                    trial[a] = y[a] - step * direction[a]
                new = _residual(s, clipped, V, alpha, ridge, trial, F)
                if new < size:
                    break
                step *= 0.5
            for a in range(k):
                y[a] = trial[a]
            size = new
        total = np.zeros(k)
        for i in range(m):
            z = clipped[i]
            for a in range(k):
                z += V[i, a] * y[a]
            slack[b, i] = s[i] - min(max(z, -alpha), alpha)
            for a in range(k):
                total[a] += V[i, a] * slack[b, i]
        coupling[b] = np.sqrt((total * total).sum())
