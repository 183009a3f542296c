"""The dual rows of variables outside the active set (math: docs/guarantees.md, "Extending a dual point").

All rows at once, by products of matrices: up to twice as fast as a compiled loop over rows, which took 10 s to compile.
"""

from __future__ import annotations

import numpy as np

from fantope.typing import AnyArray, Array

NEWTON_STEPS = 50  # and as many of a line search; a handful is usual: Newton ends where its piece of the function does
SURE_AFTER = 4  # steps, after which rows that cannot be feasible are looked for
AT_ONCE = 2**18  # entries of S in work at a time


def extend_dual(
    S_rows: Array,
    V: Array,
    limits: float | Array,
    ridge: float,
    slack: Array,
    coupling: Array,
    steps: int = NEWTON_STEPS,
    enough: float = 0.0,
    visible: float = np.inf,
) -> None:
    """For each row s of ``S_rows`` find u in the box ±limits near clip(s) with Vᵀu ≈ Vᵀs; write s − u.

    ``limits`` is a number, or an array of the shape of ``S_rows``.
    u minimises ½‖u − clip(s)‖² + ‖Vᵀ(s − u)‖²/(2·ridge) over the box. Its dual has one unknown per column of V:
    u = clip(clip(s) + Vy) with Vᵀ(u − s) + ridge·y = 0, which a semismooth Newton iteration with a line search solves.
    ``slack`` receives s − u and ``coupling`` the norm of Vᵀ(s − u), zero where the row is feasible. Rows that are not
    may take all ``steps``; stopped early, u is in the box as well. A coupling of ``enough`` is as good as none,
    and a row that provably has one of ``visible``, whatever u is, is left as it is.
    """
    first, second = np.tril_indices(V.shape[1])
    products = V[:, first] * V[:, second]
    count = max(AT_ONCE // max(len(V), 1), 1)
    for start in range(0, len(S_rows), count):
        rows = slice(start, start + count)
        row = _Rows(S_rows[rows], V, limits if isinstance(limits, float) else limits[rows], ridge)
        u = row.dual(_solve(row, products, steps, enough, visible))
        np.subtract(row.s, u, out=slack[rows])
        coupling[rows] = np.linalg.norm(slack[rows] @ V, axis=1)


class _Rows:
    """F(y) = Vᵀ(u(y) − s) + ridge·y for several rows s, with u(y) = clip(clip(s) + Vy)."""

    def __init__(self, s: Array, V: Array, limits: float | Array, ridge: float, clipped: Array | None = None) -> None:
        self.s, self.V, self.limits, self.ridge = s, V, limits, ridge
        self.clipped = np.clip(s, np.negative(limits), limits) if clipped is None else clipped

    def take(self, chosen: AnyArray) -> _Rows:
        """Return some of the rows."""
        limits = self.limits if isinstance(self.limits, float) else self.limits[chosen]
        return _Rows(self.s[chosen], self.V, limits, self.ridge, self.clipped[chosen])

    def scale(self) -> Array:
        """Return the largest number in each row, infinite limits aside."""
        limits = np.where(np.isinf(self.limits), 0.0, self.limits)
        return np.asarray(np.maximum(np.abs(self.s), limits).max(axis=1, initial=0.0))

    def dual(self, y: Array) -> Array:
        """Return u(y)."""
        z = y @ self.V.T
        z += self.clipped
        return np.clip(z, np.negative(self.limits), self.limits, out=z)

    def residual(self, y: Array) -> Array:
        """Return F(y)."""
        u = self.dual(y)
        u -= self.s
        return np.asarray(u @ self.V + self.ridge * y)

    def free(self, y: Array) -> Array:
        """Return 1 where u can move: the edge counts, at the start every entry of s outside the box is there."""
        z = y @ self.V.T
        z += self.clipped
        return np.asarray(np.abs(z, out=z) <= self.limits, dtype=np.float64)

    def least_coupling(self, y: Array) -> Array:
        """Return a lower bound of ‖Vᵀ(s − u)‖ for all u in the box, positive where y separates Vᵀs from all Vᵀu."""
        z = y @ self.V.T
        with np.errstate(invalid="ignore"):  # 0·∞, which bounds nothing
            apart = (z * self.s).sum(axis=1) - (np.abs(z) * self.limits).sum(axis=1)
        return np.asarray(np.nan_to_num(apart, nan=-np.inf) / np.maximum(np.linalg.norm(y, axis=1), 1e-300))


def _solve(row: _Rows, products: Array, steps: int, enough: float, visible: float) -> Array:
    """Return y with F(y) = 0: the gradient of a convex function, so a line search makes it safe."""
    k = row.V.shape[1]
    first, second = np.tril_indices(k)
    y = np.zeros((len(row.s), k))
    F = (row.clipped - row.s) @ row.V
    left = np.arange(len(y))
    small = np.maximum(1e-11 * row.scale()[:, None], enough * np.linalg.norm(row.V, axis=0))
    H = np.empty((len(y), k, k))
    for step in range(steps):
        going = (np.abs(F) > small[left]).any(axis=1)
        if step >= SURE_AFTER:
            going &= row.least_coupling(y[left]) < visible
        if not going.any():
            break
        if not going.all():
            left, F, row = left[going], F[going], row.take(going)
        H = H[: len(left)]
        # At the start all entries are free.
        H[:, first, second] = H[:, second, first] = row.free(y[left]) @ products if step else products.sum(axis=0)
        H[:, range(k), range(k)] += row.ridge
        direction = np.asarray(np.linalg.solve(H, F[:, :, None])[:, :, 0], dtype=np.float64)
        y[left], F = _search(row, y[left], F, direction, steps)
    return y


def _search(row: _Rows, y: Array, F: Array, direction: Array, steps: int) -> tuple[Array, Array]:
    """Return y − t·direction and F there, t such that the slope along it is nearly flat or still falling at t = 1.

    Where H is almost singular the full step is far too long: it is shrunk by tenths first.
    """
    slope = (direction * F).sum(axis=1)
    trial = y - direction
    found = row.residual(trial)
    steep = (direction * found).sum(axis=1)
    left = np.flatnonzero((np.abs(steep) > 0.5 * slope) & (steep <= 0.0))
    low, high, t = np.zeros(len(y)), np.full(len(y), np.inf), np.ones(len(y))
    steep = steep[left]
    for _ in range(steps - 1):
        if not len(left):
            break
        ahead = steep > 0.0
        low[left[ahead]], high[left[~ahead]] = t[left[ahead]], t[left[~ahead]]
        t[left] = np.where(low[left] == 0.0, 0.1 * high[left], 0.5 * (low[left] + high[left]))
        trial[left] = y[left] - t[left, None] * direction[left]
        found[left] = row.take(left).residual(trial[left])
        steep = (direction[left] * found[left]).sum(axis=1)
        off = np.abs(steep) > 0.5 * slope[left]
        left, steep = left[off], steep[off]
    return trial, found
