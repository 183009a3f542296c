"""The subproblem of Online-P, solved by splitting in a metric of its own, with few decompositions.

The entries of X span ten orders of magnitude, and the curvature of ‖X‖²_{r,r} goes with |x|^{r−2}: no single step size
serves all of them. In the metric ρ Σ (x_ij/(s_i s_j))², with s_i a power of the expected X_ii, the curvature of most
entries is within a small factor of ρ. A congruence X ↦ X/(s sᵀ) keeps the cone of positive semidefinite matrices, so
that its projection is still one decomposition; the trace goes to the side of the norms, where it shifts the diagonal,
and X ⪯ I, which holds in all but a few directions anyway, gets a multiplier of low rank:

    Y = prox of λ‖·‖₁ + ‖·‖²_{r,r}/(2√t) with tr Y = d,   X = (2Y − z + (S − PPᵀ)/ρ)₊,   z ← z + X − Y,

all in that metric, with Anderson acceleration. Between decompositions the positive part is taken to first order
(:class:`fantope.problem.near_projection.NearProjection`).

The step of PPᵀ has no proof of convergence. Where it does not lead to a certificate, the iteration goes on in the plain
metric: s = 1, the trace and X ⪯ I on the side of the projection, which is then that on the Fantope and taken exactly,
so that convergence is that of the Douglas-Rachford splitting.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fantope.eigen import Eigenspace
from fantope.kernels.online_p import pack_difference, reflect, scaled_product, unpack
from fantope.online.anderson import Anderson
from fantope.online.subproblem import SLACK, Certified, Subproblem, assemble
from fantope.problem.certificate import dual_bound
from fantope.problem.near_projection import NearProjection
from fantope.problem.projection import project
from fantope.prox.squared_lr import lr_norm, solve_norm
from fantope.typing import Array

MEMORY = 20  # of the acceleration
STEP = 3.0  # ρ as a multiple of the median curvature
FLOOR = 1e-4  # of the mean: an expected X_ii below it counts as this much
OFF = 1.0  # median of |log(Y_ii/expected)| beyond which the metric is set anew, …
REVIEWS = (2, 4, 8, 16, 32, 64)  # … after so many decompositions
RAMP = 2  # so many steps more to first order after each decomposition than after the one before, …
INNER = 12  # … this many at most, …
FALL = 0.05  # … or until the residual has fallen by this factor
ROUGH = 1e-4  # residual above which a decomposition may be in single precision
LOST = 1e3  # a residual this many times the least one is not coming back
GIVE_UP = 300  # iterations in a metric of its own, …
REST = 3  # … after which this many subproblems are left to the plain one
PLAIN_STEP = 2.0  # ρ of the plain metric, as a multiple of tr S
NORM_TOL = 10.0  # of ‖Y‖_{r,r}, as a multiple of the residual
LIFT_STEP = 0.25  # of the multiplier of X ⪯ I, as a multiple of the step that would remove the excess at once
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
    """

    Y: Array
    D: Array
    theta: float
    lift: Array
    norm: float
    plain: int = 0

    @classmethod
    def cold(cls, problem: Subproblem) -> Warm:
        """Start from the multiple of S that has the right trace; S must not be zero."""
        S, d = problem.S, problem.n_components
        Y = S * (d / S.trace())
        norm = lr_norm(Y, problem.r)
        slope = norm ** (2.0 - problem.r) / math.sqrt(problem.t) * np.abs(Y) ** (problem.r - 1.0)
        D = np.sign(Y) * (problem.alpha + slope)
        return cls(Y, D, float(np.vdot(S - D, Y)) / d, np.zeros((len(S), d)), norm)


def solve_subproblem(
    problem: Subproblem, warm: Warm, expected: Array, tolerance: float, *, max_iter: int = 2000
) -> Certified:
    """Solve to a certified gap of ``tolerance``; ``warm`` is updated in place.

    ``expected`` is a guess of the diagonal of X: it sets the metric. A bad one costs iterations, nothing else.
    """
    d, p = problem.n_components, len(problem.S)
    begin = replace(warm)
    run = Splitting(problem, warm, None if warm.plain else expected)
    warm.plain = max(warm.plain - 1, 0)
    best: Certified | None = None
    dual: Array | None = None
    bound, look_at, at_last, enough, since, decompositions = math.inf, math.inf, math.inf, 0.0, INNER, 0
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        if not run.plain and (run.lost or n_iter > GIVE_UP):
            run, warm.plain = Splitting(problem, begin, None), REST
            look_at, at_last, enough, since = math.inf, math.inf, 0.0, INNER
        exact = run.plain or since >= INNER or run.size <= max(FALL * at_last, enough) or n_iter == max_iter
        decompositions += exact
        since = max(INNER - RAMP * decompositions, 0) if exact else since + 1
        run.evaluate(exact)
        if exact and not run.lost:
            at_last = run.size
            if run.size <= look_at or n_iter == max_iter:
                M, penalty, hoped, X = run.estimate()
                # What is left falls at least as the residual does.
                enough = run.size * min(tolerance / max(hoped, 1e-300), 0.9)
                look_at = max(1.5 * enough, 0.1 * run.size)
                if hoped <= (1.0 - 1.5 * SLACK) * tolerance or n_iter == max_iter:
                    found = _nearest(problem, X, tolerance)
                    if best is None or found.objective > best.objective:
                        best = found
                    start = np.vstack([found.vectors, 1e-3 * np.random.default_rng(0).standard_normal((3, p))])
                    proven = dual_bound(M, d, start, SLACK * tolerance, best.objective) + penalty
                    if proven < bound:
                        bound, dual = proven, problem.S - M
                    if bound - best.objective <= tolerance:
                        break
            if not run.plain and decompositions in REVIEWS and run.off() > OFF:
                run.leave(warm)
                run = Splitting(problem, warm, np.maximum(warm.Y.diagonal(), 0.0))
                look_at, since = math.inf, INNER
                continue
        if not run.lost:
            run.advance()
    if run.lost:
        vars(warm).update(vars(begin))
    else:
        run.leave(warm)
    if best is None:
        best = _nearest(problem, begin.Y.copy(), tolerance)
    return replace(best, bound=bound, dual=dual, n_iter=n_iter)


class Splitting:
    """The iteration in one metric: arrays X, Y, z and G stand for x_ij/(s_i s_j)."""

    def __init__(self, problem: Subproblem, warm: Warm, expected: Array | None) -> None:
        p, d = warm.lift.shape
        self.problem, self.expected, self.norm, self.plain = problem, expected, warm.norm, expected is None
        if expected is None:
            self.scale, self.rho = np.ones(p), PLAIN_STEP * float(problem.S.trace())
        else:
            self.scale, self.rho = _metric(problem, warm, expected)
        self.units = np.outer(self.scale, self.scale)
        self.linear = problem.S * self.units / self.rho
        theta, self.lift = (0.0, np.zeros((p, d))) if self.plain else (warm.theta, warm.lift)
        self.z = warm.Y / self.units + (warm.D + theta * np.eye(p)) * self.units / self.rho
        self.shift = theta / self.rho
        self.X, self.Y, self.G = np.empty((p, p)), np.empty((p, p)), np.empty((p, p))
        self.projection, self.mixer = NearProjection(float(d) if self.plain else None), Anderson(MEMORY)
        self.leading: Array | None = None  # nearly the leading eigenvectors of X, as rows
        self.rest = 0  # steps for which X ⪯ I need not be looked at
        self.small = 1.0 / float(self.scale.max()) ** 4
        self.n_packed = p * (p + 1) // 2
        self.state = np.empty(self.n_packed + p * d)
        pack_difference(self.z, np.zeros((p, p)), self.state)
        self.size, self.lost = math.inf, False  # of X − Y; whether it has grown beyond use
        self.least = math.inf

    def evaluate(self, exact: bool) -> None:
        """Compute Y, X and their difference at z; X by a decomposition or to first order around the last one."""
        problem, rho = self.problem, self.rho
        self.norm, self.shift, _ = solve_norm(
            self.z,
            self.Y,
            1.0 / (rho * math.sqrt(problem.t)),
            problem.r,
            problem.alpha / rho,
            self.norm,
            min(max((1e-3 if self.plain else NORM_TOL) * self.size, 1e-13), 1e-3),
            self.scale,
            None if self.plain else float(problem.n_components),
            self.shift,
        )
        reflect(self.Y, self.z, self.linear, self.lift * (self.scale / math.sqrt(rho))[:, None], self.G)
        if not self.plain and not math.isfinite(float(self.G.sum())):
            self.lost = True
            return
        rough = not self.plain and self.size > ROUGH
        self.X = self.projection.exact(self.G, rough) if exact else self.projection.near(self.G)
        self.residual = np.empty_like(self.state)
        pack_difference(self.X, self.Y, self.residual)
        self.size = float(np.linalg.norm(self.residual[: self.n_packed]))
        self.least = min(self.least, self.size)
        self.lost = not (self.plain or self.size <= LOST * self.least)

    def advance(self) -> None:
        """Go on to the next z and P."""
        self.state[self.n_packed :] = LIFT_SCALE * self.lift.ravel()
        self.residual[self.n_packed :] = LIFT_SCALE * (self._lifted() - self.lift).ravel()
        self.state = self.mixer.next(self.state, self.residual)
        unpack(self.state, self.z)
        self.lift = self.state[self.n_packed :].reshape(self.lift.shape) / LIFT_SCALE

    def _lifted(self) -> Array:
        """Return P after a step of PPᵀ towards where X ⪯ I holds."""
        if self.plain or (not self.lift.any() and float(np.vdot(self.X, self.X)) <= self.small):
            return self.lift  # no eigenvalue of X is above 1
        if self.rest > 0:
            self.rest -= 1
            return self.lift
        s, d = self.scale, self.problem.n_components
        rows, rounds = self.leading, 2
        if rows is None:
            rows, rounds = np.random.default_rng(0).standard_normal((d + 1, len(s))), 20
        image, top = np.empty_like(rows), rows[0] / np.linalg.norm(rows[0])
        step = LIFT_STEP * self.rho / float((s * top) @ (s * top)) ** 2
        for _ in range(rounds):
            scaled_product(self.X, s, rows, image)
            image += (rows @ self.lift) @ self.lift.T / step
            rows, previous = np.ascontiguousarray(np.linalg.qr(image.T)[0].T), rows
        values, C = np.linalg.eigh(previous @ image.T)
        self.leading = C[:, ::-1].T @ rows
        self.rest = REST_FROM_TOP if values[-1] < FAR_BELOW else 0
        if rounds > 2:
            return self.lift  # only now is the direction known that the step depends on
        new = (C[:, :0:-1].T @ previous).T * np.sqrt(step * np.maximum(values[:0:-1] - 1.0, 0.0))
        # P is known up to a rotation: the one nearest to the last P, so that P changes as smoothly as PPᵀ does.
        left, _, right = np.linalg.svd(new.T @ self.lift)
        return np.asarray(new @ (left @ right))

    def estimate(self) -> tuple[Array, float, float, Array]:
        """Return S − D, its penalty, the gap up to rounding, and X scaled to trace d; none of it in the metric.

        S − D = θI − ρG₋ + PPᵀ, whose d largest eigenvalues add up to at most dθ + ‖P‖². In the plain metric it is ρ
        times what the projection took off, so that X is a leading face of it.
        """
        problem, d = self.problem, self.problem.n_components
        M = self.rho * (self.G - self.X) / self.units + self.lift @ self.lift.T
        M.flat[:: len(M) + 1] += self.rho * self.shift
        M, penalty = problem.split(problem.S - M)
        X = self.X * self.units
        trace = float(X.trace())
        X *= d / trace if trace > 0.0 else 1.0
        leading = float(np.vdot(M, X)) if self.plain else d * self.rho * self.shift + float((self.lift**2).sum())
        return M, penalty, leading + penalty - problem.objective(X), X

    def off(self) -> float:
        """Return how far the diagonal of Y is from the one expected, as a factor's logarithm."""
        assert self.expected is not None
        found = np.maximum(self.Y.diagonal() * self.scale**2, FLOOR * self.expected.mean())
        return float(np.median(np.abs(np.log(found / np.maximum(self.expected, FLOOR * self.expected.mean())))))

    def leave(self, warm: Warm) -> None:
        """Write where the iteration is into ``warm``."""
        warm.Y, warm.theta, warm.lift, warm.norm = self.Y * self.units, self.rho * self.shift, self.lift, self.norm
        warm.D = (self.z - self.Y) * self.rho / self.units
        warm.D.flat[:: len(warm.D) + 1] -= warm.theta
        if self.plain:
            warm.theta, warm.lift = self.rho * self.projection.shift, np.zeros_like(self.lift)
            excess = self.projection.excess
            warm.lift[:, : excess.shape[1]] = math.sqrt(self.rho) * excess


def _metric(problem: Subproblem, warm: Warm, expected: Array) -> tuple[Array, float]:
    """Return the s_i, and ρ."""
    scale = np.maximum(expected / expected.mean(), FLOOR) ** ((2.0 - problem.r) / 4.0)
    size = np.abs(warm.Y)
    every = 1 + np.count_nonzero(size) // 50_000  # so many non-zeros tell the median
    row, column = np.nonzero(size)
    row, column = row[::every], column[::every]
    curvature = size[row, column] ** (problem.r - 2.0) * (scale[row] * scale[column]) ** 2
    curvature *= (problem.r - 1.0) * warm.norm ** (2.0 - problem.r) / math.sqrt(problem.t)
    return scale, STEP * float(np.median(curvature))


def _nearest(problem: Subproblem, X: Array, tolerance: float) -> Certified:
    """Return the point of the Fantope next to X, with no bound yet."""
    vectors, weights = project(X, problem.n_components, Eigenspace(), 0.0)
    assemble(vectors, weights, X)
    return Certified(X, vectors, weights, problem.objective(X), math.inf, tolerance, 0)
