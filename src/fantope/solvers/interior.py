"""A primal-dual interior-point method for few variables, for what splitting methods take thousands of iterations for.

With B = S clipped to the box, M = S − B, U = B + V and X = P − N off the diagonal (P, N ≥ 0), the optima are the points
with

    M − V − θI + Z₁ − Z₂ = 0,   tr X = d,   X, I − X, Z₁, Z₂ ⪰ 0,   l ≤ V ≤ h,
    X Z₁ = 0,   (I − X) Z₂ = 0,   P (h − V) = 0,   N (V − l) = 0.

Newton's method on these equations with μ in place of 0, in Nesterov and Todd's scaling, with Mehrotra's predictor and
corrector, takes 6 to 15 steps to a gap of 1e-4 and up to 16 to 1e-8, whatever the data are: signs with alpha within
1e-8 of every |S_ij|, 11ᵀ and noise of 1e-13. V is inside the box all the time. Because S − B is what is left of S,
digits of an optimum that is tiny beside S are not lost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import connected_components

from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.solvers.base import Candidate, Start
from fantope.solvers.interior_system import Entries, System
from fantope.solvers.spectral import primal_candidate
from fantope.typing import AnyArray, Array

SIGNS = np.array([1.0, -1.0])  # of X in X and I − X, and in P and N
CENTRE = 4  # power of the share that the predictor leaves (3, the usual one, needs more steps)
CORRECTIONS, LONGER = 3, 0.02  # each must make the steps longer: with none there are 1.7 times as many steps
ACCURATE = 0.01  # of the products, for p residuals of M − V − θI + Z₁ − Z₂; what is left is part of the next step
SHORT = 0.1  # a step that calls for one to the centre first
PATIENCE = 5  # steps that do not halve the products: rounding decides
THIN = 1e-100  # of the scale: an interval of V that is none
AT_ZERO = 0.9  # of the box: where U is farther inside, X is zero


@dataclass
class InteriorState:
    """The iterate, in units of ``scale``."""

    X: Array
    Z: Array  # (2, p, p)
    parts: Array  # (2, k): P and N on the entries that have a weight
    v: Array  # (k,): V on them
    theta: float
    M: Array
    B: Array
    edges: Array  # (2, k): h and −l
    entries: Entries  # of X that need not be zero
    limited: AnyArray  # which of them have a weight
    scale: float
    precision: int = 0
    least: float = np.inf  # products so far, and for how many steps they may stay there
    patience: int = PATIENCE
    exhausted: bool = False
    step_size: None = None

    def V(self) -> Array:
        """Return V: where X must be zero, it is what the equation leaves."""
        rows, cols, values = self.entries.rows, self.entries.cols, np.zeros(len(self.limited))
        values[self.limited] = self.v
        V: Array = self.Z[0] - self.Z[1]
        V[rows, cols] = V[cols, rows] = values
        return V

    def residual(self) -> Array:
        """Return what is missing in the equation."""
        return np.asarray(self.M - self.V() - self.theta * np.eye(len(self.M)) + self.Z[0] - self.Z[1])

    def split(self, problem: Problem) -> tuple[Array, Array]:
        """Return X and U."""
        return self.X, problem.box.clip(self.B + self.scale * self.V())


@dataclass(frozen=True)
class Scaled:
    """The iterate in Nesterov and Todd's scaling, G⁻¹XG⁻ᵀ = GᵀZG = Λ, and the system for Newton's directions there."""

    state: InteriorState
    G: Array  # (2, p, p), like all matrices here: for X and for I − X
    inverse: Array
    values: Array  # (2, p): Λ
    slack: Array  # (2, k): h − V and V − l
    D: Array  # (k,): of a change of X, the change of V
    A: Array
    system: System

    @classmethod
    def of(cls, state: InteriorState) -> Scaled:
        """Scale; raises LinAlgError where rounding has put X at the edge."""
        X = np.stack([state.X, np.eye(len(state.X)) - state.X])
        L, R = (np.asarray(np.linalg.cholesky(A), dtype=np.float64) for A in (X, state.Z))
        left, values, right = np.linalg.svd(_transposed(R) @ L)
        root = np.sqrt(values)[:, None, :]
        inverse = _transposed(R @ left / root)
        slack = state.edges - SIGNS[:, None] * state.v
        D = 1.0 / (state.parts / slack).sum(axis=0)
        weight = np.zeros(len(state.limited))
        weight[state.limited] = D
        A = _transposed(inverse) @ inverse
        system = System(state.entries, A, weight, state.precision)
        return cls(state, L @ _transposed(right) / root, inverse, values, slack, D, A, system)

    @property
    def point(self) -> Array:
        """Λ as matrices."""
        return self.values[:, None, :] * np.eye(self.values.shape[1])

    def products(self, step: Direction | None = None) -> float:
        """Return ⟨X, Z⟩ and all the other products that are to vanish, after the longest step."""
        state, point = self.state, self.point
        if step is None:
            return float(np.vdot(point, point) + 2.0 * np.vdot(state.parts, self.slack))
        matrices = np.vdot(point + step.primal * step.scaled_X, point + step.dual * step.scaled_Z)
        parts, slack = state.parts + step.primal * step.parts, self.slack + step.dual * step.slack
        return float(matrices + 2.0 * np.vdot(parts, slack))

    def direction(self, mu: float, last: Direction | None = None) -> Direction:
        """Return Newton's direction for products of μ, with the second-order terms that ``last`` leaves."""
        state, entries, eye = self.state, self.state.entries, np.eye(len(self.state.X))
        goal, short = mu * eye - self.point**2, mu - state.parts * self.slack
        if last is not None:
            both = last.scaled_X @ last.scaled_Z
            goal, short = goal - 0.5 * (both + _transposed(both)), short - last.parts * last.slack
        goal = 2.0 * goal / (self.values[:, :, None] + self.values[:, None, :])
        aim = _transposed(self.inverse) @ goal @ self.inverse
        R = entries.take(state.residual() + aim[0] - aim[1])
        ahead = SIGNS @ (short / self.slack)
        R[state.limited] += np.sqrt(2.0) * self.D * ahead
        guess = np.zeros_like(R) if last is None else entries.take(last.X)
        x, theta = self.system.solve(R, guess, ACCURATE / len(eye) * self.products())
        X = SIGNS[:, None, None] * entries.spread(x, len(eye))
        Z = aim - self.A @ X @ self.A
        v = self.D * (np.sqrt(0.5) * x[state.limited] - ahead)
        slack = -SIGNS[:, None] * v
        parts = (short - state.parts * slack) / self.slack
        scaled_X, scaled_Z = self.inverse @ X @ _transposed(self.inverse), _transposed(self.G) @ Z @ self.G
        primal, dual = (
            1.0 / max(1.0, -self._lowest(scaled), -float(np.min(change / value, initial=0.0)))
            for scaled, change, value in ((scaled_X, parts, state.parts), (scaled_Z, slack, self.slack))
        )
        return Direction(X[0], Z, parts, v, slack, theta, scaled_X, scaled_Z, primal, dual)

    def _lowest(self, scaled: Array) -> float:
        root = np.sqrt(self.values)
        return float(np.linalg.eigvalsh(scaled / (root[:, :, None] * root[:, None, :]))[:, 0].min())


@dataclass(frozen=True)
class Direction:
    """A change of the iterate."""

    X: Array
    Z: Array
    parts: Array
    v: Array
    slack: Array
    theta: float
    scaled_X: Array
    scaled_Z: Array
    primal: float  # the longest steps that do not leave the cones, at most 1
    dual: float


@dataclass(frozen=True)
class Interior:
    """One predictor and corrector in each iteration."""

    name: str = "interior"
    max_iter: int = 60
    check_every: int = 1

    def init(self, problem: Problem, start: Start | None, tol: float) -> InteriorState:
        """Begin at the centre of the Fantope, whatever ``start`` is: the method does not gain by another point."""
        p, d, limits = problem.size, problem.n_components, np.broadcast_to(problem.limits, problem.S.shape)
        B = problem.box.clip(problem.S.copy())
        np.fill_diagonal(B, limits.diagonal())  # where X is not negative
        M = problem.S - B
        # Variables that are dear on the diagonal do not set the scale.
        sizes = np.abs(M - np.diag(M.diagonal())).max(), 1e-6 * np.abs(M).max(), 1e-300
        scale = float(max(sizes))
        M = M / scale
        labels = connected_components(M != 0.0, directed=False)[1]
        rows, cols = np.nonzero(np.tril((labels[:, None] == labels) & np.isfinite(limits)))
        limited = (rows != cols) & (limits[rows, cols] > THIN * scale)
        box, centre = limits[rows, cols][limited], B[rows, cols][limited]
        edges = np.stack([box - centre, box + centre]) / scale
        inside = np.minimum(0.5 * edges.sum(axis=0), 1.0)
        v = np.clip(0.0, inside - edges[1], edges[0] - inside)
        # P (h − V) = N (V − l) = c, so that X has the sign that is cheap where the other one is dear.
        inverse = 1.0 / (edges - SIGNS[:, None] * v)
        entries, signs = Entries(rows, cols), np.zeros(len(rows))
        signs[limited] = np.sqrt(2.0) * SIGNS @ inverse
        sign = entries.spread(signs, p)
        c = min(d, p - d) / p / max(3.0, 2.0 * float(np.abs(sign).sum(axis=1).max()))
        state = InteriorState(
            X=d / p * np.eye(p) + c * sign,
            Z=np.zeros((2, p, p)),
            parts=c * inverse,
            v=v,
            theta=0.0,
            M=M,
            B=B,
            edges=edges,
            entries=entries,
            limited=limited,
            scale=scale,
        )
        values, W = np.linalg.eigh(M - state.V())
        state.theta = float(values[-d - 1 : p - d + 1].mean())
        away = np.maximum(-SIGNS[:, None] * (values - state.theta), 0.0) + max(1.0, 0.1 * float(np.abs(values).max()))
        state.Z = W * away[:, None, :] @ W.T
        return state

    def step(self, problem: Problem, state: InteriorState, budget: int) -> int:
        """One step, until μ is as small as rounding allows."""
        try:
            self._move(state)
        except np.linalg.LinAlgError:  # X or Z is at the edge
            state.exhausted = True
        return 1

    @staticmethod
    def _move(state: InteriorState) -> None:
        """Aim at products as small as the way to zero can be expected to reach, and go almost to the edge."""
        now = Scaled.of(state)
        total, first = now.products(), now.direction(0.0)
        count = 2 * len(state.X) + 2 * state.parts.size
        mu = (now.products(first) / total) ** CENTRE * total / count
        found = now.direction(mu, first)
        for _ in range(CORRECTIONS):
            again = now.direction(mu, found)
            if again.primal + again.dual < found.primal + found.dual + LONGER:
                break
            found = again
        if min(found.primal, found.dual) < SHORT:
            found = now.direction(total / count)
        state.patience = PATIENCE if total < 0.5 * state.least else state.patience - 1
        state.least, state.exhausted = min(total, state.least), state.patience == 0
        near = 0.8 + 0.15 * min(found.primal, found.dual)
        primal, dual = near * found.primal, near * found.dual
        state.X = state.X + primal * found.X
        state.parts = state.parts + primal * found.parts
        state.Z = state.Z + dual * 0.5 * (found.Z + _transposed(found.Z))
        state.v, state.theta = state.v + dual * found.v, state.theta + dual * found.theta
        state.precision = now.system.precision

    def candidate(self, problem: Problem, state: InteriorState) -> Candidate:
        """X, or X with zeros where U is inside the box, whichever is better; and U."""
        X, U = state.split(problem)
        values, W = np.linalg.eigh(X)
        weights = values * (problem.n_components / values.sum())
        inside = np.abs(U) < AT_ZERO * np.asarray(problem.limits)
        np.fill_diagonal(inside, False)
        sparse = np.where(inside, 0.0, X)
        found, vectors = problem.repair(sparse), np.ascontiguousarray(W.T)
        point = primal_candidate(problem, found, vectors, np.clip(weights, 0.0, 1.0), np.inf)
        if problem.forbids:  # eigenvectors alone would not keep the zeros
            other = problem.repair(X)
            if point is None or (other is not None and problem.objective(other) > problem.objective(point)):
                point = other
        return Candidate(point, DenseDual(U, problem.box), problem.size)


def _transposed(A: Array) -> Array:
    return A.transpose(0, 2, 1)
