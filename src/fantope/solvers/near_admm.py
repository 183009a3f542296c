"""ADMM-FPS with few decompositions: between them the projection is taken by its derivative.

    X ← P_F(Y − W + S/ρ),   Y ← prox_{Ω/ρ}(X + W),   W ← W + X − Y.

On flat data (noise, many weak factors) hundreds of iterations are needed and successive matrices hardly differ.
One of them in ten or twenty is decomposed, in full; the others cost four products with the eigenvectors in use
(:mod:`fantope.problem.near_projection`). How long a decomposition serves follows from how
wrong the derivative has been.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fantope.kernels.elementwise import box_part
from fantope.kernels.near import mirror, near_pass, rescale, target, value_below
from fantope.problem.dual import DenseDual
from fantope.problem.near_projection import NearProjection
from fantope.problem.problem import Problem
from fantope.solvers.base import Candidate, Start
from fantope.solvers.spectral import primal_candidate, spectral_start
from fantope.typing import AnyArray, Array

CHEAP_BELOW = 300  # variables; a certificate costs less than a decomposition
LOOK_EARLY, LOOK_LATE = 10, 30  # iterations before the first certificate that no estimate has promised
AGAIN_AFTER = 1.2  # times the iterations: a certificate that was promised and failed is tried again
MEANS_FROM = 500  # iterations; where iterates go round in circles their mean over the later half is far better
NEAR_EDGE = 0.9  # of the box: where a start has X and U as near the edge, on X's side, U is taken to be at it


@dataclass(frozen=True)
class Schedule:
    """The constants of :class:`NearAdmm`, with what was measured (noise and factor models, 100 to 400 variables).

    Attributes
    ----------
    most : int
        Iterations that one decomposition may serve. 40 took a tenth fewer decompositions and more iterations.
    good, bad : float
        ‖X by derivative − X‖ over ‖X − Y‖ below which a decomposition serves longer, above which it serves less long.
    growth : float
        Of ‖X − Y‖ since the decomposition: beyond it a new one is made at once.
    fall : float
        Of ‖X − Y‖ and of the change of Y since the decomposition: the derivative leads no further.
    single_above : float
        Estimated relative gap above which single precision is enough: it moves the estimate by a tenth there.
    single_from : int
        Variables from which single precision pays (at 100 variables a decomposition takes 0.6 in place of 0.8 ms).
    balance : float
        Ratio of the relative residuals within which ρ stays (3 took a quarter more iterations, 1.2 oscillates).
    again : float
        Of the estimated gap at the last certificate: the next one is not tried before it has fallen to this.
    """

    most: int = 25
    good: float = 0.15
    bad: float = 0.5
    growth: float = 2.0
    fall: float = 0.05
    single_above: float = 3e-5
    single_from: int = 150
    balance: float = 1.5
    again: float = 0.85


@dataclass
class Means:
    """Sums of Y and U after the decompositions since an iteration, and how many; when they are to be certified."""

    since: int
    Y: Array
    U: Array
    count: int = 0
    due: int = 0

    def add(self, Y: Array, U: Array, iteration: int) -> None:
        """Add an iterate; begin anew when all but the later half would be too old."""
        if iteration >= 2 * self.since:
            self.since, self.count, self.due = iteration, 0, iteration + self.since // 4
            self.Y[:] = self.U[:] = 0.0
        self.Y += Y
        self.U += U
        self.count += 1


@dataclass
class NearAdmmState:
    """Z = Y + W holds both splitting variables (Y is its soft-thresholding), in its lower triangle."""

    Z: Array
    G: Array  # what is projected next, or, between decompositions, S/ρ less what was
    rho: float
    projection: NearProjection
    tol: float
    change: AnyArray | None = None  # of the matrix to project since the decomposition
    serves: int = 2  # iterations that the next decomposition serves
    iteration: int = 0
    primal: float = np.inf
    dual: float = np.inf
    multiplier: float = 0.0
    dual_scale: float = 1.0
    bound: float = 0.0  # what the optimum is about, from the dual side, …
    estimate: float = np.inf  # … and how far X is below it
    tried: float = np.inf  # estimate at the last certificate, …
    tried_at: int = 0  # … and its iteration
    balance_at: int = 1  # iteration from which ρ may change again
    look_at: int = 0  # iteration from which a certificate is due in any case
    means: Means | None = None  # of late iterates

    @property
    def step_size(self) -> float:
        """The paper's α."""
        return 1.0 / self.rho

    def split(self, problem: Problem) -> tuple[Array, Array]:
        """Return Y and U = ρW."""
        mirror(self.Z)
        W = np.empty_like(self.Z)
        box_part(self.Z, problem.limits, 1 / self.rho, W)
        Y = self.Z - W
        W *= self.rho
        return Y, W


@dataclass(frozen=True)
class NearAdmm:
    """Alternating direction method of multipliers, with projections to first order between few decompositions.

    Parameters
    ----------
    step_size : float, optional
        The paper's α = 1/ρ. Given, it stays fixed; by default it starts at 1/(2 λ₁) and adapts.
    relax : float
        Over-relaxation, 1 to 1.9. 1.6 took the fewest iterations on the paper's model, 1.9 a tenth fewer on noise.
    """

    step_size: float | None = None
    relax: float = 1.6
    schedule: Schedule = Schedule()
    name: str = "near-admm"
    max_iter: int = 20_000
    check_every: int = 1

    def init(self, problem: Problem, start: Start | None, tol: float) -> NearAdmmState:
        """Start from ``start``, or from the thresholded PCA of :func:`spectral_start`."""
        scale, X, U, _ = spectral_start(problem, start)
        step_size = self.step_size or (start and start.step_size)
        # Where S is zero its scale says nothing, and U/ρ must stay finite.
        rho = max(1.0 / step_size if step_size else 2.0 * scale, 1e-12 * problem.alpha)
        U /= rho
        # Z = Y + W stores both; it can hold Y where W is at the edge of the box, which is where Y may be non-zero.
        side, edge = np.sign(X), np.where(np.isfinite(problem.limits), problem.limits, 0.0) / rho
        at_edge = (side != 0.0) & np.isfinite(problem.limits) & (U * side >= NEAR_EDGE * edge)
        Z = np.where(at_edge, X + side * edge, U)
        serves = 2 if start is None or start.U is None else 6
        projection = NearProjection(problem.n_components)
        look = LOOK_EARLY if problem.size < CHEAP_BELOW else LOOK_LATE
        return NearAdmmState(Z, np.empty_like(Z), rho, projection, tol, serves=serves, look_at=look)

    def step(self, problem: Problem, state: NearAdmmState, budget: int) -> int:
        """One decomposition, and the iterations that it serves."""
        rho = state.rho
        self._balance(problem, state)
        # The derivative is judged by where it leads; with another ρ it would have led elsewhere.
        predicted = None if state.change is None or state.rho != rho else state.projection.near(state.change)
        self._decompose(problem, state, predicted)
        first = state.primal, state.dual
        n = 1
        while n < min(state.serves, budget) and self._worthwhile(state, *first):
            assert state.change is not None
            self._advance(problem, state, state.projection.near(state.change))
            n += 1
        if problem.size < CHEAP_BELOW and state.iteration >= MEANS_FROM:
            if state.means is None:
                state.means = Means(state.iteration, np.zeros_like(state.Z), np.zeros_like(state.Z))
            state.means.add(*state.split(problem), state.iteration)
        if n >= budget:
            state.look_at = state.iteration  # there is no other chance
        return n

    def _worthwhile(self, state: NearAdmmState, primal: float, dual: float) -> bool:
        """Whether to go on without a decomposition: neither lost nor as far as the derivative can lead."""
        fall = self.schedule.fall
        return state.primal <= self.schedule.growth * primal and (
            state.primal > fall * primal or state.dual > fall * dual
        )

    def _decompose(self, problem: Problem, state: NearAdmmState, predicted: AnyArray | None) -> None:
        """Project by a decomposition, and go on; learn from how far off the derivative was."""
        schedule = self.schedule
        many = problem.size >= schedule.single_from
        single = many and state.estimate > schedule.single_above * abs(state.bound)
        slack = float(target(state.Z, problem.S, state.G, problem.limits, 1 / state.rho))
        # The dual scale lies between ‖U‖ and ‖S − U‖: with the first alone ρ is far too large for correlations
        # and a large alpha (U is then nearly S), with the second it is somewhat too small on the paper's model.
        state.dual_scale = np.sqrt(max(state.multiplier, 1e-300) * max(np.sqrt(slack), 1e-300))
        X = state.projection.exact(state.G, single)
        if predicted is not None:
            off = float(np.linalg.norm(np.tril(predicted - X)))
            moved = state.primal / np.sqrt(2.0)
            if off > schedule.bad * moved:
                state.serves = max(state.serves // 2, 1)
            elif off < schedule.good * moved:
                state.serves = min(state.serves + 1 + state.serves // 2, schedule.most)
        state.bound = state.rho * state.projection.support_value
        state.estimate = state.bound - float(value_below(problem.S, X, problem.limits))
        np.subtract(problem.S / state.rho, state.G, out=state.G)
        if state.change is None or state.change.dtype != X.dtype:
            state.change = np.empty(X.shape, X.dtype)
        self._advance(problem, state, X)

    def _advance(self, problem: Problem, state: NearAdmmState, X: AnyArray) -> None:
        assert state.change is not None
        sums = near_pass(state.Z, state.G, X, problem.limits, 1 / state.rho, self.relax, state.change)
        state.primal, state.dual, state.multiplier = np.sqrt(sums).tolist()
        state.iteration += 1

    def _balance(self, problem: Problem, state: NearAdmmState) -> None:
        """Keep the relative residuals near each other by changing ρ, which takes a new decomposition anyway."""
        if self.step_size is not None or min(state.primal, state.dual) <= 0.0 or state.iteration < state.balance_at:
            return
        # More and more rarely: a method whose step size never comes to rest can go round in circles.
        k = state.iteration
        state.balance_at = k + (1 if k < 20 else 5 if k < 200 else 50 if k < 1000 else k // 4)
        ratio = state.primal / np.sqrt(problem.n_components) * state.dual_scale / state.dual
        if 1 / self.schedule.balance <= ratio <= self.schedule.balance:
            return
        most = 2.0 if 1e-3 < ratio < 1e3 else 10.0  # at first ρ may be off by many orders of magnitude
        factor = min(max(np.sqrt(ratio), 1 / most), most)
        rescale(state.Z, problem.limits, 1 / state.rho, factor)
        state.rho *= factor

    def candidate(self, problem: Problem, state: NearAdmmState) -> Candidate:
        """X from the sparse Y if it can be repaired, else the projection itself; nothing while neither is due."""
        # What X is short of the bound is within a factor 2 of the certified gap (measured on noise and factor models).
        # It may be negative for a while: U need not be in the box yet.
        short, k = abs(state.estimate), state.iteration
        promising = short <= state.tol * abs(state.bound) and (
            short <= self.schedule.again * state.tried or k >= AGAIN_AFTER * state.tried_at
        )
        means = state.means
        if means is not None and means.count and k >= means.due and not promising:
            means.due = k + means.since // 4
            X = problem.repair(means.Y / means.count)
            return Candidate(X, DenseDual(means.U / means.count, problem.box), problem.size)
        if k == 0 or not (promising or k >= state.look_at):
            return Candidate(None, None, problem.size)
        state.tried, state.tried_at, state.look_at = short, k, max(2 * k, state.look_at)
        # S − U = ρ(G − X) at the last decomposition: its leading eigenvalues are equal but for what clipping U changes.
        U = state.rho * (state.G + state.projection.first)
        mirror(U)
        projection = state.projection
        Q = np.linalg.qr(projection.vectors.T.astype(np.float64))[0]
        X = primal_candidate(problem, state.split(problem)[0], None, np.ascontiguousarray(Q.T), projection.weights)
        return Candidate(X, DenseDual(U, problem.box), problem.size)
