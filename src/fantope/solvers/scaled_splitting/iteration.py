"""The subproblem of Online-P by splitting in a metric of its own: one iteration.

The entries of X span ten orders of magnitude, and the curvature of ‖X‖²_{r,r} goes with |x|^{r−2}: no single step size
serves all of them. In the metric ρ Σ (x_ij/(s_i s_j))², with s_i a power of the expected X_ii, the curvature of most
entries is within a small factor of ρ. A congruence X ↦ X/(s sᵀ) keeps the cone of positive semidefinite matrices, so
that its projection is still one decomposition; the trace goes to the side of the norms, where it shifts the diagonal,
and X ⪯ I, which holds in all but a few directions anyway, gets a multiplier of low rank:

    Y = prox of λ‖·‖₁ + ‖·‖²_{r,r}/(2√t) with tr Y = d,   X = (2Y − z + (S − PPᵀ)/ρ)₊,   z ← z + X − Y,

all in that metric, with Anderson acceleration. Between decompositions the positive part is taken to first order.

The step of PPᵀ has no proof of convergence. In the plain metric s = 1, and the trace and X ⪯ I are on the side of the
projection, which is then that on the Fantope and taken exactly: the Douglas-Rachford splitting, which converges.
"""

from __future__ import annotations

import math

import numpy as np

from fantope.kernels.scaled_splitting.passes import dual_matrix, losses, prox_slopes, reflect
from fantope.kernels.triangle import diagonal, pack, unpack
from fantope.penalties.squared_lr import solve_norm
from fantope.problem.problem import Problem
from fantope.solvers.scaled_splitting.anderson import Anderson
from fantope.solvers.scaled_splitting.cap import Cap
from fantope.solvers.scaled_splitting.metric import Metric, Warm, norms_of
from fantope.solvers.scaled_splitting.projections import ConeProjection, FantopeProjection
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.typing import AnyArray, Array


class Splitting:
    """The iteration in one metric: X, Y, z and G stand for x_ij/(s_i s_j); Y and z are packed triangles.

    Attributes
    ----------
    Y : array
        The sparse half of the splitting.
    size : float
        ‖X − Y‖.
    lost : bool
        Whether it has grown beyond use.
    """

    plain = False

    def __init__(self, problem: Problem, warm: Warm, metric: Metric, schedule: Schedule) -> None:
        p = len(problem.S)
        self.problem, self.norms, self.metric, self.schedule = problem, norms_of(problem), metric, schedule
        theta, P = self._multipliers(warm)
        self.cap = Cap(P, metric, schedule)
        self.norm, self.shift = warm.norm, theta / metric.rho  # ‖Y‖_{r,r}; the trace's multiplier, in the metric
        self._linear = pack(problem.S * metric.units / metric.rho)
        z = warm.Y / metric.units + (warm.D + theta * np.eye(p)) * metric.units / metric.rho
        self._n = p * (p + 1) // 2
        self._state = np.concatenate([pack(z), np.empty(P.size)])  # z and, scaled, P: what is accelerated
        self.Y, self._mixer = np.empty(self._n), Anderson(schedule.memory)
        self._G, self._change = np.empty((p, p)), np.empty((p, p), np.float32)
        self.size, self.lost, self._least = math.inf, False, math.inf
        self._lag, self._anew = Lag(), False
        self._begin()

    def _begin(self) -> None:
        self._cone = ConeProjection()

    def _multipliers(self, warm: Warm) -> tuple[float, Array]:
        """Return the multipliers of the trace and of X ⪯ I that belong to the prox and to its reflection."""
        return warm.theta, warm.lift

    @property
    def _z(self) -> Array:
        return self._state[: self._n]

    def evaluate(self, exact: bool, precise: bool = True) -> None:
        """Compute Y, X and their difference at z; X by a decomposition or to first order around the last one.

        A decomposition that is not ``precise`` is in single precision.
        """
        self._prox(self.schedule.norm_tol, float(self.problem.n_components))
        if not (0.0 < self.norm < math.inf and math.isfinite(self.shift)):
            self.lost = True
            return
        n, lift = self._n, np.ascontiguousarray(self.cap.P.T * (self.metric.scale / math.sqrt(self.metric.rho)))
        self._residual, self._anew = np.empty_like(self._state), exact
        if exact:
            reflect(self._G, self.Y, self._z, self._linear, lift)
            try:
                self._from_exact = pack(self._G)
                self._cone.exact(self._G, self._from_exact, not precise)
            except FloatingPointError:
                self.lost = True
                return
            np.subtract(self._cone.packed, self.Y, out=self._residual[:n])
            self.size = float(np.linalg.norm(self._residual[:n]))
            np.subtract(self._linear, self._from_exact, out=self._from_exact)
            self._lag.see(self.Y, self._z)
        else:
            reflect(self._change, self.Y, self._z, self._from_exact, lift)
            self.size = self._cone.near(self._change, self.Y, self._residual[:n])
        self._least = min(self._least, self.size)
        self.lost = not self.size <= self.schedule.lost * self._least

    def _prox(self, accuracy: float, trace: float | None) -> None:
        norms, rho = self.norms, self.metric.rho
        self.norm, self.shift, _ = solve_norm(
            self._z,
            self.Y,
            self.metric.scale,
            weight=1.0 / (rho * math.sqrt(norms.t)),
            r=norms.r,
            threshold=norms.alpha / rho,
            start=self.norm,
            tol=min(max(accuracy * self.size, 1e-13), 1e-3),
            trace=trace,
            shift=self.shift,
        )

    def advance(self) -> None:
        """Go on to the next z and P."""
        scale, n, P = self.schedule.cap_scale, self._n, self.cap.P
        self._state[n:] = scale * P.ravel()
        self._residual[n:] = scale * (self._next_cap() - P).ravel()
        size = math.hypot(self.size, float(np.linalg.norm(self._residual[n:])))
        self._state = self._mixer.next(self._state, self._residual, size, self._anew)
        self.cap.P = self._state[n:].reshape(P.shape) / scale

    def _next_cap(self) -> Array:
        return self.cap.stepped(self.Y, self._residual[: self._n])

    # --- what an answer is made of -------------------------------------------------------------------------------

    @property
    def X(self) -> Array:
        """The half of the splitting that is semidefinite, at the last decomposition."""
        return self._cone.X

    @property
    def level(self) -> float:
        """θ, the multiplier of the trace."""
        return self.metric.rho * self.shift

    @property
    def lift(self) -> Array:
        """P: PPᵀ is the multiplier of X ⪯ I."""
        return self.cap.P

    def lowest(self, limit: float) -> tuple[Array, AnyArray]:
        """Return the lowest eigenvalues of the last decomposition, up to ``limit``, and their vectors, as columns."""
        return self._cone.lowest(limit)

    def dual_point(self) -> Array:
        """Return M = S − D = θI − ρG₋ + PPᵀ."""
        M, rho = np.empty_like(self._G), self.metric.rho
        dual_matrix(self._G, self.X, self.metric.units, rho, rho * self.shift, self.cap.P, M)
        return M

    def losses(self, M: Array) -> tuple[float, float]:
        """Return Ω(X) − ⟨S − M, X⟩, X scaled to its trace, and what X loses where Y is zero and X is not."""
        norms, s = self.norms, self.metric.scale
        trace, root = float(self.X.diagonal() @ s**2), math.sqrt(norms.t)
        factor = self.problem.n_components / trace if trace > 0.0 else 1.0
        c = self.norm ** (2.0 - norms.r) / root
        inner, norm, power, on_zeros = losses(self.X, s, factor, self.Y, self.problem.S, M, norms.alpha, c, norms.r)
        return float(norms.alpha * norm + power ** (2.0 / norms.r) / (2.0 * root) - inner), float(on_zeros)

    def slopes(self) -> AnyArray:
        """Return the derivative of Y by z, entry by entry, zero where Y is, in single precision."""
        slopes = np.empty(self.X.shape, np.float32)
        threshold, m = self.norms.alpha / self.metric.rho, 1.0 / (self.norms.r - 1.0)
        prox_slopes(self.metric.scale, self._z, self.Y, threshold, self.shift, m, slopes)
        return slopes

    # --- what the next metric or the next subproblem starts from -------------------------------------------------

    def off(self) -> float:
        """Return how far the diagonal of Y is from the one expected, as a factor's logarithm."""
        return self.metric.off(diagonal(self.Y, len(self.metric.scale)), self.schedule.floor)

    def leave(self, warm: Warm) -> None:
        """Write where the iteration is into ``warm``."""
        p, rho, units = len(self.metric.scale), self.metric.rho, self.metric.units
        warm.Y, warm.theta, warm.lift, warm.norm = unpack(self.Y, p) * units, self.level, self.lift, self.norm
        warm.D = unpack(self._z - self.Y, p) * rho / units
        warm.D.flat[:: p + 1] -= rho * self.shift

    def balanced(self, step: float) -> float:
        """Return the step for the next subproblem, after one with this ``step``.

        Where rows of X come and go, the dual point is still on its way when Y has arrived: a larger ρ takes it there in
        fewer iterations.
        """
        schedule, most = self.schedule, self.schedule.most_change
        path = self._lag.path
        change = math.sqrt(path / schedule.even) if path > 0.0 else 1.0
        return min(max(step * min(max(change, 1.0 / most), most), schedule.least_step), schedule.most_step)


class PlainSplitting(Splitting):
    """The iteration in the plain metric: the trace and X ⪯ I belong to the projection, which is always exact."""

    plain = True

    def _begin(self) -> None:
        self._fantope = FantopeProjection(float(self.problem.n_components))

    def _multipliers(self, warm: Warm) -> tuple[float, Array]:
        return 0.0, np.zeros_like(warm.lift)

    def evaluate(self, exact: bool, precise: bool = True) -> None:
        """Compute Y, X and their difference at z."""
        self._prox(self.schedule.plain_norm_tol, None)
        self._residual = np.empty_like(self._state)
        reflect(self._G, self.Y, self._z, self._linear, np.zeros_like(self.cap.P.T))
        try:
            self._fantope.exact(self._G)
        except FloatingPointError:
            self.lost = True
            return
        np.subtract(pack(self.X), self.Y, out=self._residual[: self._n])
        self.size = float(np.linalg.norm(self._residual[: self._n]))

    def _next_cap(self) -> Array:
        return self.cap.P

    @property
    def X(self) -> Array:
        """The half of the splitting that is in the Fantope."""
        return self._fantope.X

    @property
    def level(self) -> float:
        """θ, the multiplier of the trace."""
        return self.metric.rho * self._fantope.shift

    @property
    def lift(self) -> Array:
        """P: PPᵀ is the multiplier of X ⪯ I."""
        P, excess = np.zeros_like(self.cap.P), self._fantope.excess
        P[:, : excess.shape[1]] = math.sqrt(self.metric.rho) * excess
        return P

    def lowest(self, limit: float) -> tuple[Array, AnyArray]:
        """Return the lowest eigenvalues of the last decomposition, up to ``limit``, and their vectors, as columns."""
        return self._fantope.lowest(limit)

    def balanced(self, step: float) -> float:
        """Return the least step: the larger one may be what did not work."""
        return self.schedule.least_step


class Lag:
    """How far the dual point and Y came between the last two decompositions."""

    def __init__(self) -> None:
        self._last: tuple[Array, Array] | None = None  # Y, and z, which nobody writes to
        self._before: tuple[Array, Array] | None = None

    def see(self, Y: Array, z: Array) -> None:
        """Take in the iterates at a decomposition."""
        self._before, self._last = self._last, (Y.copy(), z)

    @property
    def path(self) -> float:
        """The dual point's path as a multiple of Y's; NaN where nothing is known."""
        if self._before is None or self._last is None:
            return math.nan
        change, moved = (now - before for now, before in zip(self._last, self._before, strict=True))
        size = float(np.linalg.norm(change))
        return float(np.linalg.norm(moved - change)) / size if size > 0.0 else math.nan
