"""GradFPS (Algorithm 1 of the paper): the proximal-proximal-gradient method on f₁ + f₂.

    X ← P_𝒳((Z₁ + Z₂)/2),   Z_i ← Z_i − X + prox_{αf_i}(2X − Z_i),   i = 1, 2,

with f₁ = Ω, f₂ = −⟨S, ·⟩ + μ(penalties for leaving the Fantope), 𝒳 the ball ‖X‖_F ≤ √d. The answer is the sparse
iterate y = prox_{αf₁}(2X − Z₁), not X.

With v = 2X − Z₁ and y = prox_{αf₁}(v), U = (v − y)/α is in the dual box at every iteration, for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fantope.eigen import Eigenspace
from fantope.errors import require
from fantope.kernels.elementwise import box_part, gradfps_pass, gradfps_target, soft_threshold
from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.problem.projection import project
from fantope.solvers.base import Candidate, Start
from fantope.solvers.exact_penalty import Form, PenaltyWeights, prox_f2_direct, prox_f2_iterative
from fantope.solvers.spectral import balance, primal_candidate, spectral_start
from fantope.typing import Array


@dataclass
class GradFpsState:
    """Both splitting variables, the matrix that prox f₂ decomposes next, and the ergodic average."""

    Z1: Array
    Z2: Array
    G: Array
    average: Array
    step_size: float
    space: Eigenspace
    scale: float = 1.0  # P_𝒳 multiplies (Z₁ + Z₂)/2 by this
    vectors: Array | None = None
    weights: Array | None = None
    accuracy: float = 1e-3
    iteration: int = 0


@dataclass(frozen=True)
class GradFps:
    """Gradient-based Fantope projection and selection.

    Parameters
    ----------
    step_size : float, optional
        The paper's α. Given, it stays fixed; by default it starts at 1/(2 λ₁) and adapts.
    prox : "direct" or "iterative"
        How prox f₂ is computed (appendix A.2): from the eigenpairs it needs, or by subgradient steps that need the
        two extreme eigenpairs only. The iterative way needs a finite ``mu``.
    mu : float, "paper" or None
        Weight of the penalties. None is the limit of large μ, in which prox f₂ is a Fantope projection; "paper" is
        the constant of Corollary 1, which is large enough to be exact and far larger than needed.
    form : "published" or "corollary"
        What the penalties are (:mod:`fantope.solvers.exact_penalty`): each eigenvalue outside [0, 1] pays, as in the
        published code, or the two outermost ones, with the constants of Corollary 1. The iterative prox is of that.
    output : "last" or "average"
        Certify and return the last iterate (sparse, closer to the optimum), or the ergodic average X̂ of the theorem.
    prox_iter : int
        Iterations of the iterative prox.
    """

    step_size: float | None = None
    prox: Literal["direct", "iterative"] = "direct"
    mu: float | Literal["paper"] | None = None
    form: Form = "published"
    output: Literal["last", "average"] = "last"
    prox_iter: int = 50
    name: str = "gradfps"
    max_iter: int = 20_000
    check_every: int = 10

    def __post_init__(self) -> None:
        require(self.prox in ("direct", "iterative"), "prox", "be 'direct' or 'iterative'", repr(self.prox))
        require(self.form in ("published", "corollary"), "form", "be 'published' or 'corollary'", repr(self.form))
        require(self.output in ("last", "average"), "output", "be 'last' or 'average'", repr(self.output))
        if self.prox == "iterative" and self.mu is None:
            raise ValueError("prox='iterative' needs a finite mu: pass a number, or mu='paper'.")

    def init(self, problem: Problem, start: Start | None, tol: float) -> GradFpsState:
        """Z₁ = Z₂ = X₀ as in the paper, moved along the dual guess: at the optimum Z₁ = X − αU, Z₂ = X + αU."""
        scale, X, U, space = spectral_start(problem, start)
        step = self.step_size or (start and start.step_size) or 0.5 / scale
        if start is not None and start.U is None:
            U = np.zeros_like(X)
        U *= step
        U += X
        state = GradFpsState(
            Z1=2.0 * X - U,
            Z2=U,
            G=np.empty_like(X),
            average=np.zeros_like(X) if self.output == "average" else np.zeros((0, 0)),
            step_size=step,
            space=space,
        )
        self._into_ball(problem, state, float(np.linalg.norm(X)))
        return state

    @staticmethod
    def _into_ball(problem: Problem, state: GradFpsState, norm: float) -> None:
        """Note by what P_𝒳 multiplies (Z₁ + Z₂)/2, whose norm is given."""
        state.scale = min(1.0, np.sqrt(problem.n_components) / norm) if norm > 0 else 1.0

    def step(self, problem: Problem, state: GradFpsState, budget: int) -> int:
        """One iteration; the step size follows the ratio of the residuals unless it was given."""
        state.iteration += 1
        weight = 1.0 / state.iteration
        gradfps_target(state.Z1, state.Z2, problem.S, state.G, state.average, state.scale, state.step_size, weight)
        state.vectors, state.weights = self._prox_f2(problem, state)
        eigenpairs = state.vectors, state.weights
        sums = gradfps_pass(state.Z1, state.Z2, state.scale, *eigenpairs, problem.limits, state.step_size)
        primal, change, norm, spread = np.sqrt(sums)
        state.accuracy = max(1e-12, 0.1 * min(primal, change))
        if self.step_size is None:
            spread = max(float(spread), 1e-300)
            self._balance(state, primal / np.sqrt(problem.n_components), 2 * change / spread)
        self._into_ball(problem, state, float(norm))
        return 1

    def _prox_f2(self, problem: Problem, state: GradFpsState) -> tuple[Array, Array]:
        if self.mu is None:
            return project(state.G, problem.n_components, state.space, state.accuracy)
        slope = problem.box.norm(problem.size)
        form: Form = self.form if self.prox == "direct" else "corollary"  # two eigenpairs are no subgradient of a sum
        penalty = PenaltyWeights.of(problem.S, problem.n_components, slope, self.mu, form).scaled(state.step_size)
        if self.prox == "direct":
            many = state.weights is None or state.space.crowded(len(state.weights), problem.size)
            return prox_f2_direct(state.G, problem.n_components, penalty, state.space, state.accuracy, many)
        return prox_f2_iterative(state.G, problem.n_components, penalty, self.prox_iter)

    def _balance(self, state: GradFpsState, primal: float, dual: float) -> None:
        """Change α to balance the relative residuals; Z_i − X is α times a multiplier and scales with it."""
        factor = 1.0 / balance(state.iteration, primal, dual)
        if factor == 1.0:
            return
        state.step_size *= factor
        half = 0.5 * (factor - 1.0)  # Z₁ ← X + factor(Z₁ − X) with X = (Z₁ + Z₂)/2
        spread = np.subtract(state.Z1, state.Z2, out=state.G)
        spread *= half
        state.Z1 += spread
        state.Z2 -= spread

    def candidate(self, problem: Problem, state: GradFpsState) -> Candidate:
        """X from prox f₁ (sparse) or the average, repaired; U from prox f₁."""
        # G holds prox f₁, then U, until the next step writes it anew: neither needs an array of its own.
        G, step, limits = state.G, state.step_size, problem.limits
        self._write_reflection(state)
        soft_threshold(G, limits, step)
        if self.output == "average" and state.iteration:
            found = problem.repair(state.average, state.space.basis)
        else:
            # With a finite mu the projected half need not be in the Fantope.
            exact = self.mu is None or _feasible(state.weights, problem.n_components)
            sparse = problem.repair(G, state.space.basis)
            found = primal_candidate(problem, sparse, state.vectors, state.weights) if exact else sparse
        self._write_reflection(state)
        box_part(G, limits, step, G)  # U = (v − soft(v))/α
        np.divide(G, step, out=G)
        return Candidate(found, DenseDual(G, problem.box, lent=True), problem.size)

    @staticmethod
    def _write_reflection(state: GradFpsState) -> None:
        """Write v = 2X − Z₁ into G."""
        np.add(state.Z1, state.Z2, out=state.G)
        np.multiply(state.G, state.scale, out=state.G)
        np.subtract(state.G, state.Z1, out=state.G)


def _feasible(weights: Array | None, n_components: int) -> bool:
    """Whether a matrix with these eigenvalues, and zeros, is in the Fantope."""
    return weights is not None and bool(
        abs(float(weights.sum()) - n_components) <= 1e-12 and weights.min() >= 0.0 and weights.max() <= 1.0
    )
