"""The dual rows of variables outside the active set (math: docs/guarantees.md, "Extending a dual point")."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from fantope.kernels.entry import at

NEWTON_STEPS = 50  # a handful is usual: the function is piecewise quadratic, and Newton ends where its piece does
SEARCH_STEPS = 40


@njit(cache=True, nogil=True)
def _residual(s, clipped, V, limits, b, ridge, y, F):  # type: ignore[no-untyped-def]
    """F = Vᵀ(u(y) − s) + ridge·y with u(y) = clip(clipped + Vy) to row ``b`` of the box; returns its largest entry."""
    k = V.shape[1]
    for a in range(k):
        F[a] = ridge * y[a]
    for i in range(s.shape[0]):
        z = clipped[i]
        for a in range(k):
            z += V[i, a] * y[a]
        limit = at(limits, b, i)
        u = min(max(z, -limit), limit) - s[i]
        for a in range(k):
            F[a] += V[i, a] * u
    largest = 0.0
    for a in range(k):
        largest = max(largest, abs(F[a]))
    return largest


@njit(cache=True, nogil=True)
def _newton_direction(clipped, V, limits, b, ridge, y, F, H, direction):  # type: ignore[no-untyped-def]
    """Solve H·direction = F, H = ridge·I + Σ v_i v_iᵀ over the entries of u that can move."""
    k = V.shape[1]
    for a in range(k):
        for c in range(k):
            H[a, c] = ridge if a == c else 0.0
    for i in range(clipped.shape[0]):
        z = clipped[i]
        for a in range(k):
            z += V[i, a] * y[a]
        limit = at(limits, b, i)
        if -limit <= z <= limit:  # the edge counts as free: at the start every entry of s outside the box is there
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
            t -= H[a, q] * direction[q]
        direction[a] = t / H[a, a]
    for a in range(k - 1, -1, -1):
        t = direction[a]
        for q in range(a + 1, k):
            t -= H[q, a] * direction[q]
        direction[a] = t / H[a, a]


@njit(cache=True, nogil=True)
def _solve_row(s, clipped, V, limits, b, ridge):  # type: ignore[no-untyped-def]
    """Return y with Vᵀ(u(y) − s) + ridge·y = 0: the gradient of a convex function, so a line search makes it safe."""
    k = V.shape[1]
    y, trial, F, F_trial, direction = np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k), np.zeros(k)
    H = np.zeros((k, k))
    scale = 0.0
    for i in range(s.shape[0]):
        scale = max(scale, abs(s[i]))
        if at(limits, b, i) < np.inf:
            scale = max(scale, at(limits, b, i))
    size = _residual(s, clipped, V, limits, b, ridge, y, F)
    for _ in range(NEWTON_STEPS):
        if size <= 1e-11 * scale:
            break
        _newton_direction(clipped, V, limits, b, ridge, y, F, H, direction)
        slope = 0.0
        for a in range(k):
            slope += direction[a] * F[a]
        # Along −direction the slope rises from −slope; take the first point found where it is nearly flat or still
        # falling at the full step. Where H is almost singular the full step is far too long: shrink by tenths first.
        low, high, t = 0.0, np.inf, 1.0
        for _search in range(SEARCH_STEPS):
            for a in range(k):
                trial[a] = y[a] - t * direction[a]
            size = _residual(s, clipped, V, limits, b, ridge, trial, F_trial)
            found = 0.0
            for a in range(k):
                found += direction[a] * F_trial[a]
            if abs(found) <= 0.5 * slope or (found > 0.0 and high == np.inf):
                break
            if found > 0.0:
                low = t
            else:
                high = t
            t = 0.1 * high if low == 0.0 else 0.5 * (low + high)
        y[:] = trial
        F[:] = F_trial
    return y


@njit(cache=True, nogil=True, parallel=True)
def extend_dual(S_rows, V, limits, ridge, slack, coupling):  # type: ignore[no-untyped-def]
    """For each row s of ``S_rows`` find u in the box ±limits near clip(s) with Vᵀu ≈ Vᵀs; write s − u.

    ``limits`` is a number, or an array of the shape of ``S_rows``.
    u minimises ½‖u − clip(s)‖² + ‖Vᵀ(s − u)‖²/(2·ridge) over the box. Its dual has one unknown per column of V:
    u = clip(clip(s) + Vy) with Vᵀ(u − s) + ridge·y = 0, which a semismooth Newton iteration with a line search solves.
    ``slack`` receives s − u and ``coupling`` the norm of Vᵀ(s − u), zero where the row is feasible.
    """
    n, m = S_rows.shape
    k = V.shape[1]
    for b in prange(n):
        s = S_rows[b]
        clipped = np.empty(m)
        for i in range(m):
            clipped[i] = min(max(s[i], -at(limits, b, i)), at(limits, b, i))
        y = _solve_row(s, clipped, V, limits, b, ridge)
        total = np.zeros(k)
        for i in range(m):
            z = clipped[i]
            for a in range(k):
                z += V[i, a] * y[a]
            slack[b, i] = s[i] - min(max(z, -at(limits, b, i)), at(limits, b, i))
            for a in range(k):
                total[a] += V[i, a] * slack[b, i]
        coupling[b] = np.sqrt((total * total).sum())
