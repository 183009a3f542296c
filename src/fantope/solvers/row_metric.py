"""ADMM-FPS in a metric that follows the rows of X, for the long last phase of a run.

Where X uses few of the variables, its entries span many orders of magnitude, and so do the steps that the dual point
has to take beside them: with one ρ for all, U drifts to its optimum over thousands of iterations. In the metric
ρ Σ (x_ij/(s_i s_j))², with s_i a power of X_ii, the rows that X hardly uses have a ρ of their own, far larger.

A congruence X ↦ X/(s sᵀ) keeps the cone of positive semidefinite matrices, so that its projection is still one
decomposition; the rest of the Fantope has multipliers, θ for the trace and N = PPᵀ of low rank for X ⪯ I:

    X ← (Y − W + (S − θI − N)/ρ)₊,   Y ← prox_{Ω/ρ}(X + W) with tr Y = d,   W ← W + X − Y,

all in that metric, with few decompositions as in :mod:`fantope.solvers.near_admm`. The step of N has no proof of
convergence, and needs none: what comes out is completed and certified elsewhere, and a run that gets lost here goes on
where it was.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy.linalg.blas import dsymm, dsyrk

from fantope.eigen.lapack import orthonormal
from fantope.eigen.rough import roughly_leading
from fantope.kernels.near import mirror, misfit, near_pass
from fantope.problem.dual import DenseDual
from fantope.problem.near_projection import NearCone
from fantope.problem.problem import Problem
from fantope.typing import Array

POWER = 0.25  # s_i = X_ii to this power: 0.15 took four times the iterations on the paper's model, 0.35 as many
FLOOR = 1e-3  # of the largest X_ii: what a row has at least (1e-2 took four times the iterations, 1e-4 a half more)
FEW = 0.5  # of the rows are above the floor at most: where X used more, it took up to three times as long
SOFTER = 0.3  # of the plain ρ, for the rows that X uses
RELAX = 1.3  # with 1.6 the dual point is less steady
MOST = 12  # iterations that one decomposition may serve: with 50 the dual point took twice as many
GOOD, BAD = 0.3, 0.5  # ‖X by derivative − X‖ over ‖X − Y‖ for a decomposition to serve longer, or less long
RENEWAL = 0.05  # the same: residual of leading eigenvectors that may take the place of a decomposition (0.2: unsteady)
FALL = 0.05  # of ‖X − Y‖ since the decomposition: the derivative leads no further
LOST = 30.0  # times the least ‖X − Y‖: it will not come back
LOOK = 3  # block products for those of S − U to begin with: cheaper, and no worse, than accurate ones
ROUNDS = 2  # of subspace iteration for the largest eigenvalues of X


def uneven(leverage: Array) -> bool:
    """Return whether X, of which this is the diagonal, uses so few of its rows that a metric should follow them."""
    largest = float(leverage.max())
    return largest > 0.0 and float(np.mean(leverage > FLOOR * largest)) <= FEW


@dataclass
class RowMetric:
    """The iteration in one metric. Arrays are in its units, x_ij/(s_i s_j), and symmetric by their lower triangles."""

    Z: Array  # Y + W, without what the trace adds to W
    limits: Array  # s_i s_j times those of the box
    linear: Array  # S/ρ
    scale: Array  # s
    rho: float
    theta: float  # multiplier of the trace over ρ, …
    P: Array  # … and that of X ⪯ I is PPᵀ
    leading: Array  # roughly the leading eigenvectors of X as columns, in its own units
    total: int  # d
    cone: NearCone = field(default_factory=NearCone)
    base: Array | None = None  # ``linear`` less what was decomposed, and the change since
    change: Array | None = None
    serves: int = 2
    iteration: int = 0
    residual: float = np.inf  # ‖X − Y‖
    estimate: float = np.inf  # how far X is below the bound of the dual point that it is best for
    least: float = np.inf
    halved: float = np.inf  # the estimate when it last had fallen by half, …
    halved_at: int = 0  # … and when that was
    scratch: Array = field(init=False)
    sums: Array = field(init=False)  # of W since the decomposition, …
    served: int = 0  # … and how many

    def __post_init__(self) -> None:
        self.scratch, self.sums = np.empty((2, *self.Z.shape)), np.zeros_like(self.Z)

    @classmethod
    def begin(cls, problem: Problem, Y: Array, U: Array, rho: float, leading: Array) -> RowMetric:
        """Go on from a sparse iterate, a dual point, the ρ of the plain metric and about the range of X, as rows."""
        d = problem.n_components
        leverage = np.maximum(Y.diagonal(), 0.0)
        s = np.maximum(leverage / leverage.max(), FLOOR) ** POWER
        s /= np.exp(leverage @ np.log(s) / leverage.sum())
        units = np.outer(s, s)
        rho = SOFTER * rho
        M = DenseDual(U.copy(), problem.box).slack(problem.S)
        values, rows = roughly_leading(M, d + 1, leading, LOOK)
        P = rows[:d].T * np.sqrt(np.maximum(values[:d] - values[d - 1], 0.0))
        return cls(
            Y / units + U * units / rho,
            units * problem.limits,
            problem.S * units / rho,
            s,
            rho,
            float(values[d - 1]) / rho,
            s[:, None] * P / np.sqrt(rho),
            rows.T.copy(),
            d,
        )

    @property
    def lost(self) -> bool:
        """Whether the iteration has come to nothing."""
        return not self.residual <= LOST * self.least

    def stuck(self, patience: int) -> bool:
        """Whether the estimate has not halved within so many iterations."""
        if self.estimate <= 0.5 * self.halved:
            self.halved, self.halved_at = self.estimate, self.iteration
        return self.iteration - self.halved_at > patience

    def split(self) -> tuple[Array, Array]:
        """Return Y and U, in their own units."""
        mirror(self.Z)
        edge, units = self.limits / self.rho, np.outer(self.scale, self.scale)
        W = np.clip(self.Z, -edge, edge)
        return (self.Z - W) * units, W * self.rho / units

    def mean(self) -> Array:
        """Return the mean of U over the iterations since the decomposition, by its lower triangle."""
        return self.sums * (self.rho / self.served) / np.outer(self.scale, self.scale)

    def serve(self, budget: int) -> int:
        """One decomposition and the iterations that it serves; return how many."""
        self._decompose()
        first, n = self.residual, 1
        while n < min(self.serves, budget) and FALL * first < self.residual <= 2.0 * first:
            assert self.change is not None
            self._advance(np.asarray(self.cone.near(self.change)))
            n += 1
        return n

    def _decompose(self) -> None:
        predicted = None if self.change is None else self.cone.near(self.change)
        edge = self.limits / self.rho
        W = np.clip(self.Z, -edge, edge)
        G = self.linear + self.Z - 2.0 * W
        G.flat[:: len(G) + 1] -= self.theta * self.scale**2
        G -= self.P @ self.P.T
        X = np.asarray(self.cone.renewed(G, False, RENEWAL * self.residual))
        if predicted is not None:
            off = float(np.linalg.norm(np.tril(predicted - X))) * np.sqrt(2.0)
            if off > BAD * self.residual:
                self.serves = max(self.serves // 2, 1)
            elif off < GOOD * self.residual:
                self.serves = min(self.serves + 1 + self.serves // 2, MOST)
        self.base = self.linear - G
        U = self.base + X - self.P @ self.P.T
        U.flat[:: len(G) + 1] -= self.theta * self.scale**2
        self.estimate = misfit(X, self.rho * U, self.limits, self.scratch)
        self.change = np.zeros_like(G)
        self.served, self.sums[:] = 0, 0.0
        self._advance(X)

    def _advance(self, X: Array) -> None:
        assert self.base is not None and self.change is not None
        X = self._capped(X)
        edge = self.limits.diagonal() / self.rho
        sums = near_pass(self.Z, self.base, X, self.limits, 1 / self.rho, RELAX, self.change, self.sums)
        square, x = float(sums[0]), X.diagonal()
        # The diagonal once more, with the multiplier that gives Y its trace.
        z, weight = self.Z.diagonal().copy(), self.scale**2
        square -= float(np.square(x - z + np.clip(z, -edge, edge)).sum())
        shift = _shift(z - edge, weight, self.total)
        z -= shift * weight
        self.theta += shift
        w = np.clip(z, -edge, edge)
        self.Z.flat[:: len(z) + 1] = z
        self.change.flat[:: len(z) + 1] = z - 2.0 * w - self.theta * weight + self.base.diagonal()
        self.change = np.asarray(dsyrk(-1.0, self.P, beta=1.0, c=self.change.T, overwrite_c=True).T)
        self.residual = float(np.sqrt(max(square + np.square(x - z + w).sum(), 0.0)))
        self.least = min(self.least, self.residual)
        self.iteration += 1
        self.served += 1

    def _capped(self, X: Array) -> Array:
        """Move N to where X ⪯ I, and X with it, to first order.

        N ← c(X + N/c − I)₊ in X's own units, with the c that removes the excess at once, where N is alone.
        """
        s, d = self.scale[:, None], self.total
        top = s * self.leading[:, :1]
        step = 1.0 / float(np.vdot(top, top)) ** 2
        lift = self.P / s  # in X's own units, over √ρ
        V = self.leading
        for _ in range(ROUNDS):
            image = s * dsymm(1.0, X.T, s * V) + lift @ (lift.T @ V) / step
            V, last = orthonormal(image), V
        values, turn = np.linalg.eigh(last.T @ image)
        new = (last @ turn)[:, ::-1][:, :d] * np.sqrt(step * np.maximum(values[::-1][:d] - 1.0, 0.0))
        self.leading = V
        P = s * new
        old, now = self.cone.inside(self.P), self.cone.inside(P)
        self.P = P
        C = np.array(X.T, order="F")
        C = dsyrk(1.0, old, beta=1.0, c=C, overwrite_c=True)
        return np.asarray(dsyrk(-1.0, now, beta=1.0, c=C, overwrite_c=True).T)


def _shift(values: Array, weight: Array, total: float) -> float:
    """Return δ with Σ weight·max(values − δ·weight, 0) = total."""
    ratio = values / weight
    order = np.argsort(-ratio)
    sums = np.cumsum((weight * values)[order]) - total
    deltas = sums / np.cumsum(np.square(weight)[order])
    k = int(np.count_nonzero(deltas < ratio[order]))
    return float(deltas[max(k, 1) - 1])
