"""The subproblem of Online-P by splitting in a metric of its own: one iteration.

The entries of X span ten orders of magnitude, and the curvature of ‖X‖²_{r,r} goes with |x|^{r−2}: no single step size
serves all of them. In the metric ρ Σ (x_ij/(s_i s_j))², with s_i a power of the expected X_ii, the curvature of most
entries is within a small factor of ρ. A congruence X ↦ X/(s sᵀ) keeps the cone of positive semidefinite matrices, so
that its projection is still one decomposition; the trace goes to the side of the norms, where it shifts the diagonal,
and X ⪯ I, which holds in all but a few directions anyway, gets a multiplier of low rank:

    Y = prox of λ‖·‖₁ + ‖·‖²_{r,r}/(2√t) with tr Y = d,   X = (2Y − z + (S − PPᵀ)/ρ)₊,   z ← z + X − Y,

all in that metric, with Anderson acceleration. Between decompositions the positive part is taken to first order
(:class:`fantope.problem.near_projection.NearProjection`).

The step of PPᵀ has no proof of convergence. In the plain metric s = 1, and the trace and X ⪯ I are on the side of the
projection, which is then that on the Fantope and taken exactly: the Douglas-Rachford splitting, which converges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fantope.kernels.online_p import lift_step, reflect
from fantope.kernels.triangle import diagonal, pack, unpack
from fantope.online.anderson import Anderson
from fantope.online.subproblem import Subproblem
from fantope.problem.near_projection import FantopeProjection, NearProjection
from fantope.prox.squared_lr import lr_norm, solve_norm
from fantope.typing import AnyArray, Array

MEMORY = 10  # of the acceleration
LEAST_STEP, MOST_STEP = 3.0, 300.0  # ρ as a multiple of the median curvature: larger where the dual point lags
EVEN = 3.0  # the dual point's path, as a multiple of Y's, at which the step is left as it is
MOST_CHANGE = 1.5  # of the step, from one subproblem to the next, as a factor
FLOOR = 1e-6  # of the mean: an expected X_ii below it counts as this much
PLAIN_STEP = 2.0  # ρ of the plain metric, as a multiple of tr S
LOST = 1e3  # a residual this many times the least one is not coming back
NORM_TOL = 100.0  # of ‖Y‖_{r,r}, as a multiple of the residual
LIFT_STEP = 0.25  # of the multiplier of X ⪯ I, as a multiple of the step that would remove the excess at once
ROUNDS, FIRST_ROUNDS = 2, 20  # of subspace iteration for the largest eigenvalues of X, and where nothing is known yet
FAR_BELOW, REST_FROM_TOP = 0.8, 5  # below this largest eigenvalue, X is left alone for so many steps
LIFT_SCALE = 1e-2  # of P in the accelerated vector, next to z


@dataclass
class Warm:
    """What one subproblem leaves for the next.

    Attributes
    ----------
    Y, D : (p, p) arrays
        The sparse iterate and a subgradient of the norms at it.
    theta : float
        Multiplier of the trace.
    lift : (p, d) array
        P: PPᵀ is the multiplier of X ⪯ I.
    norm : float
        ‖Y‖_{r,r}.
    plain : int
        For how many subproblems to come the plain metric is taken at once.
    excess : float
        How many times what X loses where Y is not zero the gap of Y, completed, was the last time.
    step : float
        ρ as a multiple of the median curvature.
    """

    Y: Array
    D: Array
    theta: float
    lift: Array
    norm: float
    plain: int = 0
    excess: float = 1.5
    step: float = LEAST_STEP

    @classmethod
    def cold(cls, problem: Subproblem) -> Warm:
        """Start from the multiple of S that has the right trace; S must not be zero."""
        S, d = problem.S, problem.n_components
        Y = S * (d / S.trace())
        norm = lr_norm(Y, problem.r)
        slope = norm ** (2.0 - problem.r) / math.sqrt(problem.t) * np.abs(Y) ** (problem.r - 1.0)
        D = np.sign(Y) * (problem.alpha + slope)
        return cls(Y, D, float(np.vdot(S - D, Y)) / d, np.zeros((len(S), d)), norm)


class Splitting:
    """The iteration in one metric: arrays X, Y, z and G stand for x_ij/(s_i s_j); Y and z are packed triangles.

    X and G are those of the last decomposition.
    """

    def __init__(self, problem: Subproblem, warm: Warm, expected: Array | None) -> None:
        p, d = warm.lift.shape
        self.problem, self.norm, self.plain = problem, warm.norm, expected is None
        self.expected = np.ones(p) if expected is None else expected
        if expected is None:
            self.scale, self.rho = np.ones(p), PLAIN_STEP * float(problem.S.trace())
        else:
            self.scale, self.rho = _metric(problem, warm, expected)
        self.units = np.outer(self.scale, self.scale)
        self.linear = pack(problem.S * self.units / self.rho)
        theta, self.lift = (0.0, np.zeros((p, d))) if self.plain else (warm.theta, warm.lift)
        self.shift = theta / self.rho
        self.n_packed = p * (p + 1) // 2
        z = warm.Y / self.units + (warm.D + theta * np.eye(p)) * self.units / self.rho
        self.state = np.concatenate([pack(z), np.empty(p * d)])  # z and, scaled, P: what is accelerated
        self.Y = np.empty(self.n_packed)
        self.G, self.change = np.empty((p, p)), np.empty((p, p), np.float32)
        self.cone, self.fantope, self.mixer = NearProjection(), FantopeProjection(float(d)), Anderson(MEMORY)
        self.leading: Array | None = None  # nearly the leading eigenvectors of X, as rows
        self.rest = 0  # steps for which X ⪯ I need not be looked at
        self.small = 1.0 / float(self.scale.max()) ** 4
        self.size, self.lost = math.inf, False  # of X − Y; whether it has grown beyond use
        self.least = math.inf
        self.path = math.nan  # of the dual point between decompositions, as a multiple of Y's
        self.last: tuple[Array, Array] | None = None

    @property
    def z(self) -> Array:
        """The iterate."""
        return self.state[: self.n_packed]

    def evaluate(self, exact: bool, precise: bool = True) -> None:
        """Compute Y, X and their difference at z; X by a decomposition or to first order around the last one.

        A decomposition that is not ``precise`` is in single precision, except in the plain metric.
        """
        problem, rho, n = self.problem, self.rho, self.n_packed
        self.norm, self.shift, _ = solve_norm(
            self.z,
            self.Y,
            self.scale,
            1.0 / (rho * math.sqrt(problem.t)),
            problem.r,
            problem.alpha / rho,
            self.norm,
            min(max((1e-3 if self.plain else NORM_TOL) * self.size, 1e-13), 1e-3),
            None if self.plain else float(problem.n_components),
            self.shift,
        )
        if not (self.plain or (0.0 < self.norm < math.inf and math.isfinite(self.shift))):
            self.lost = True
            return
        lift = np.ascontiguousarray(self.lift.T * (self.scale / math.sqrt(rho)))
        self.residual = np.empty_like(self.state)
        if exact or self.plain:
            reflect(self.G, self.Y, self.z, self.linear, lift)
            try:
                self.X = self.fantope.exact(self.G) if self.plain else self.cone.exact(self.G, not precise)
            except FloatingPointError:
                self.lost = True
                return
            np.subtract(pack(self.X), self.Y, out=self.residual[:n])
            if not self.plain:
                self._remember()
        else:
            reflect(self.change, self.Y, self.z, self.from_exact, lift)
            self.cone.near(self.change, self.Y, self.residual[:n])
        self.size = float(np.linalg.norm(self.residual[:n]))
        self.least = min(self.least, self.size)
        self.lost = not (self.plain or self.size <= LOST * self.least)

    def _remember(self) -> None:
        """Keep what later steps to first order start from, and how far the dual point and Y have come since."""
        self.from_exact = self.linear - pack(self.G)
        dual = self.z - self.Y
        if self.last is not None:
            moved = float(np.linalg.norm(self.Y - self.last[0]))
            self.path = float(np.linalg.norm(dual - self.last[1])) / moved if moved > 0.0 else math.nan
        self.last = self.Y.copy(), dual

    def advance(self) -> None:
        """Go on to the next z and P."""
        self.state[self.n_packed :] = LIFT_SCALE * self.lift.ravel()
        self.residual[self.n_packed :] = LIFT_SCALE * (self._lifted() - self.lift).ravel()
        self.state = self.mixer.next(self.state, self.residual)
        self.lift = self.state[self.n_packed :].reshape(self.lift.shape) / LIFT_SCALE

    def _lifted(self) -> Array:
        """Return P after a step of PPᵀ towards where X ⪯ I holds."""
        X_less_Y = self.residual[: self.n_packed]
        if self.plain or (not self.lift.any() and 2.0 * float(np.linalg.norm(self.Y + X_less_Y)) ** 2 <= self.small):
            return self.lift  # no eigenvalue of X is above 1
        if self.rest > 0:
            self.rest -= 1
            return self.lift
        s, d = self.scale, self.problem.n_components
        rows, rounds = self.leading, ROUNDS
        if rows is None:
            rows, rounds = np.random.default_rng(0).standard_normal((d + 1, len(s))), FIRST_ROUNDS
        top = rows[0] / np.linalg.norm(rows[0])
        step = LIFT_STEP * self.rho / float((s * top) @ (s * top)) ** 2
        new, self.leading, largest = lift_step(s, self.Y, X_less_Y, self.lift, step, rows, rounds)
        self.rest = REST_FROM_TOP if largest < FAR_BELOW else 0
        # From nothing known, only now is the direction known that the step depends on.
        return self.lift if rounds > ROUNDS else np.asarray(new)

    @property
    def level(self) -> float:
        """θ, the multiplier of the trace."""
        return self.rho * (self.fantope.shift if self.plain else self.shift)

    @property
    def cap(self) -> Array:
        """P: PPᵀ is the multiplier of X ⪯ I."""
        if not self.plain:
            return self.lift
        cap, excess = np.zeros_like(self.lift), self.fantope.excess
        cap[:, : excess.shape[1]] = math.sqrt(self.rho) * excess
        return cap

    @property
    def null(self) -> AnyArray:
        """Eigenvectors of the last decomposition that X has not, as columns, in single precision."""
        return self.fantope.null if self.plain else self.cone.null

    def off(self) -> float:
        """Return how far the diagonal of Y is from the one expected, as a factor's logarithm."""
        found = np.maximum(diagonal(self.Y, len(self.scale)) * self.scale**2, FLOOR * self.expected.mean())
        return float(np.median(np.abs(np.log(found / np.maximum(self.expected, FLOOR * self.expected.mean())))))

    def leave(self, warm: Warm) -> None:
        """Write where the iteration is into ``warm``."""
        p = len(self.scale)
        warm.Y, warm.theta, warm.lift, warm.norm = unpack(self.Y, p) * self.units, self.level, self.cap, self.norm
        warm.D = unpack(self.z - self.Y, p) * self.rho / self.units
        warm.D.flat[:: len(warm.D) + 1] -= self.rho * self.shift

    def balanced(self, step: float) -> float:
        """Return the step for the next subproblem, after one with this ``step``.

        Where rows of X come and go, the dual point is still on its way when Y has arrived: a larger ρ takes it there in
        fewer iterations.
        """
        if self.plain:
            return LEAST_STEP  # the larger one may be what did not work
        change = math.sqrt(self.path / EVEN) if self.path > 0.0 else 1.0
        return min(max(step * min(max(change, 1.0 / MOST_CHANGE), MOST_CHANGE), LEAST_STEP), MOST_STEP)


def _metric(problem: Subproblem, warm: Warm, expected: Array) -> tuple[Array, float]:
    """Return the s_i, and ρ."""
    scale = np.maximum(expected / expected.mean(), FLOOR) ** ((2.0 - problem.r) / 4.0)
    some = np.flatnonzero(warm.Y)
    some = some[:: 1 + len(some) // 10_000]  # so many non-zeros tell the median
    row, column = np.divmod(some, len(scale))
    curvature = np.abs(warm.Y.ravel()[some]) ** (problem.r - 2.0) * (scale[row] * scale[column]) ** 2
    curvature *= (problem.r - 1.0) * warm.norm ** (2.0 - problem.r) / math.sqrt(problem.t)
    return scale, warm.step * float(np.median(curvature))
