"""The dual rows of variables outside the active set (math: docs/guarantees.md, "Extending a dual point").

What is done for every entry is compiled, and passes over each row while it is in cache. What is done for each row is
not: with small systems to solve in it the kernel would take four times as long to compile.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from fantope.kernels.build import FAST
from fantope.typing import Array

NEWTON_STEPS = 50  # and as many of a line search; a handful is usual: Newton ends where its piece of the function does
SURE_AFTER = 4  # steps, after which rows that cannot be feasible are looked for
AT_ONCE = 2**20  # numbers in second derivatives in work at a time


def extend_dual(
    S_rows: Array,
    V: Array,
    limits: float | Array,
    ridge: float,
    u: Array,
    steps: int = NEWTON_STEPS,
    enough: float = 0.0,
    visible: float = np.inf,
) -> Array:
    """For each row s of ``S_rows`` write to ``u`` a point in the box ±limits near clip(s) with Vᵀu ≈ Vᵀs.

    ``limits`` is a number, or an array of the shape of ``S_rows``.
    u minimises ½‖u − clip(s)‖² + ‖Vᵀ(s − u)‖²/(2·ridge) over the box. Its dual has one unknown per column of V:
    u = clip(clip(s) + Vy) with F(y) = Vᵀ(u − s) + ridge·y = 0, which a semismooth Newton iteration with a line search
    solves. Returns the norm of Vᵀ(s − u) for each row, zero where the row is feasible. Rows that are not
    may take all ``steps``; stopped early, u is in the box as well. A coupling of ``enough`` is as good as none,
    and a row that provably has one of ``visible``, whatever u is, is left as it is.
    """
    coupling = np.empty(len(S_rows))
    columns = np.ascontiguousarray(V.T)
    gram = columns @ V + ridge * np.eye(len(columns))
    count = max(AT_ONCE // max(len(columns) ** 2, 1), 1)
    for start in range(0, len(S_rows), count):
        strip = slice(start, start + count)
        s, box = S_rows[strip], limits if isinstance(limits, float) else limits[strip]
        common, own = (box, np.empty((0, 0))) if isinstance(box, float) else (0.0, box)
        left, small = np.arange(len(s)), np.maximum(1e-11 * _scale(s, box)[:, None], enough * np.linalg.norm(V, axis=0))
        y, F, direction = (np.zeros(small.shape) for _ in range(3))
        H = np.empty((*y.shape, len(columns)))
        _go(s, columns, gram, common, own, ridge, steps, left, direction, y, F, H, u[strip])
        for step in range(steps):
            going = (np.abs(F[left]) > small[left]).any(axis=1)
            if step >= SURE_AFTER:
                going &= (
                    _least_coupling(s[left], columns, box if isinstance(box, float) else box[left], y[left]) < visible
                )
            if not going.any():
                break
            left = left[going]
            direction[left] = np.linalg.solve(H[left], F[left][:, :, None])[:, :, 0]
            _go(s, columns, gram, common, own, ridge, steps, left, direction, y, F, H, u[strip])
        coupling[strip] = np.linalg.norm(F - ridge * y, axis=1)
    return coupling


def _scale(s: Array, limits: float | Array) -> Array:
    """Return the largest number in each row, infinite limits aside."""
    finite = np.where(np.isinf(limits), 0.0, limits)
    largest = finite.max(axis=1, initial=0.0) if finite.ndim else finite
    return np.asarray(np.maximum(np.maximum(s.max(axis=1, initial=0.0), -s.min(axis=1, initial=0.0)), largest))


def _least_coupling(s: Array, V: Array, limits: float | Array, y: Array) -> Array:
    """Return a lower bound of ‖Vᵀ(s − u)‖ for all u in the box, positive where y separates Vᵀs from all Vᵀu."""
    z = y @ V
    with np.errstate(invalid="ignore"):  # 0·∞, which bounds nothing
        apart = (z * s).sum(axis=1) - (np.abs(z) * limits).sum(axis=1)
    return np.asarray(np.nan_to_num(apart, nan=-np.inf) / np.maximum(np.linalg.norm(y, axis=1), 1e-300))


@njit(cache=True, nogil=True, fastmath=FAST)
def _go(s, V, gram, common, own, ridge, tries, left, direction, y, F, H, u):  # type: ignore[no-untyped-def]
    """Step from y against ``direction`` in the rows that are left; write y, u, F and its derivative H there.

    F is the gradient of a convex function, so a line search makes Newton's steps safe: t is such that the slope along
    the step is nearly flat or still falling at t = 1. Where H is almost singular the full step is far too long: it is
    shrunk by tenths first. The limits are those of ``own``, or ``common`` if that is empty: one build for both.
    """
    k, m = V.shape
    z, edge, fixed, taken = np.empty(m), np.empty(m), np.empty(m, np.int64), np.empty((k, m))
    for r in range(len(left)):
        i = left[r]
        t, low, high, slope = 1.0, 0.0, np.inf, 0.0
        for c in range(k):
            slope += direction[i, c] * F[i, c]
        for j in range(m):
            edge[j] = own[i, j] if len(own) else common
        for attempt in range(tries):
            for j in range(m):
                z[j] = min(max(s[i, j], -edge[j]), edge[j])
            for c in range(k):
                shift = y[i, c] - t * direction[i, c]
                for j in range(m):
                    z[j] += shift * V[c, j]
            for j in range(m):
                u[i, j] = min(max(z[j], -edge[j]), edge[j])
            steep = 0.0
            for c in range(k):
                total = ridge * (y[i, c] - t * direction[i, c])
                for j in range(m):
                    total += V[c, j] * (u[i, j] - s[i, j])
                F[i, c] = total
                steep += direction[i, c] * total
            if abs(steep) <= 0.5 * slope or (t == 1.0 and steep > 0.0):
                break
            if steep > 0.0:
                low = t
            else:
                high = t
            if attempt < tries - 1:
                t = 0.1 * high if low == 0.0 else 0.5 * (low + high)
        # The derivative is Σ v_j v_jᵀ + ridge over the entries that can move: those in the box, its edge included,
        # because there every entry of s outside the box is at the start. Mostly few are beyond it: they are taken out.
        count = 0
        for j in range(m):
            fixed[count] = j
            count += abs(z[j]) > edge[j]
        for c in range(k):
            y[i, c] -= t * direction[i, c]
            for b in range(count):
                taken[c, b] = V[c, fixed[b]]
            for e in range(c + 1):
                total = gram[c, e]
                for b in range(count):
                    total -= taken[c, b] * taken[e, b]
                H[i, c, e] = H[i, e, c] = total
