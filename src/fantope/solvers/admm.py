"""ADMM-FPS (equation admm_fps of the paper), over-relaxed, with a penalty that adapts.

    X ← P_F(Y − W + S/ρ),   Y ← prox_{Ω/ρ}(X + W),   W ← W + X − Y.

The dual point is free: U = ρW is in the box after every iteration. Only the eigenpairs that the projection needs
are computed, warm-started; one fused pass does everything else (:func:`fantope.kernels.elementwise.admm_pass`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from fantope.eigen import Eigenspace
from fantope.errors import require
from fantope.kernels.elementwise import admm_pass, admm_rescale, box_part, soft_threshold
from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.problem.projection import project
from fantope.solvers.base import Candidate, Start
from fantope.solvers.spectral import balance, primal_candidate, spectral_start
from fantope.typing import Array


@dataclass
class AdmmState:
    """Z = Y + W holds both splitting variables (Y is its soft-thresholding); G is the next matrix to project."""

    Z: Array
    G: Array
    rho: float
    space: Eigenspace
    vectors: Array | None = None
    weights: Array | None = None
    accuracy: float = 1e-3
    iteration: int = 0
    stale: bool = False  # G was lent out and has to be written again

    @property
    def step_size(self) -> float:
        """The paper's α."""
        return 1.0 / self.rho

    def split(self, problem: Problem) -> tuple[Array, Array]:
        """Return Y and U = ρW."""
        W = np.empty_like(self.Z)
        box_part(self.Z, problem.limits, 1 / self.rho, W)
        Y = self.Z - W
        W *= self.rho
        return Y, W


@dataclass(frozen=True)
class Admm:
    """Alternating direction method of multipliers.

    Parameters
    ----------
    step_size : float, optional
        The paper's α = 1/ρ. Given, it stays fixed unless ``adapt`` is True; by default it starts at
        1/(2 λ₁) and adapts.
    adapt : bool, optional
        Balance the primal and the dual residual by changing ρ. Default: True unless ``step_size`` is given.
    relax : float
        Over-relaxation, 1 to 1.9. 1.6 took the fewest iterations on the paper's model (1.0 a third more).
    eigen : "partial" or "full"
        Compute the needed eigenpairs only, or all of them with LAPACK.
    """

    step_size: float | None = None
    adapt: bool | None = None
    relax: float = 1.6
    eigen: Literal["partial", "full"] = "partial"
    name: str = "admm"
    max_iter: int = 20_000
    check_every: int = 10

    def __post_init__(self) -> None:
        require(self.eigen in ("partial", "full"), "eigen", "be 'partial' or 'full'", repr(self.eigen))
        require(0.0 < self.relax < 2.0, "relax", "be above 0 and below 2", repr(self.relax))

    def init(self, problem: Problem, start: Start | None, tol: float) -> AdmmState:
        """Start from ``start``, or from the thresholded PCA of :func:`spectral_start`."""
        scale, X, U, space = spectral_start(problem, start)
        step_size = self.step_size or (start and start.step_size)
        # Where S is zero its scale says nothing, and U/ρ must stay finite.
        rho = max(1.0 / step_size if step_size else 2.0 * scale, 1e-12 * problem.alpha)
        U /= rho
        G = X - U + problem.S / rho
        # Z = Y + W stores both; it can hold Y where W is at the edge of the box, which is where Y may be non-zero.
        Z = np.where(np.abs(U) >= (1 - 1e-9) / rho * problem.limits, X, 0.0) + U
        return AdmmState(Z, G, rho, space)

    def step(self, problem: Problem, state: AdmmState, budget: int) -> int:
        """One iteration, and a change of ρ when the residuals are out of balance."""
        if state.stale:
            admm_rescale(state.Z, problem.S, state.G, problem.limits, 1 / state.rho, 1.0)
            state.stale = False
        if self.eigen == "full":
            state.space.basis = None
        state.vectors, state.weights = project(state.G, problem.n_components, state.space, state.accuracy)
        eigenpairs = state.vectors, state.weights
        sums = admm_pass(state.Z, problem.S, state.G, *eigenpairs, problem.limits, 1 / state.rho, self.relax)
        primal, dual, multiplier, slack = np.sqrt(sums)
        # Eigenpairs need to be only a little more accurate than the iterate that they are part of.
        state.accuracy = max(1e-12, 0.1 * min(primal, dual))
        state.iteration += 1
        if self.step_size is None if self.adapt is None else self.adapt:
            # The dual scale lies between ‖U‖ and ‖S − U‖: with the first alone ρ is far too large for correlations
            # and a large alpha (U is then nearly S), with the second it is somewhat too small on the paper's model.
            scale = np.sqrt(max(multiplier, 1e-300) * max(slack, 1e-300))
            factor = balance(state.iteration, primal / np.sqrt(problem.n_components), dual / scale)
            if factor != 1.0:
                admm_rescale(state.Z, problem.S, state.G, problem.limits, 1 / state.rho, factor)
                state.rho *= factor
        return 1

    def candidate(self, problem: Problem, state: AdmmState) -> Candidate:
        """X from the sparse Y if it can be repaired, else the projection itself; U = ρW."""
        # G holds Y, then U, until the next step writes it anew: neither needs an array of its own.
        state.stale, G = True, state.G
        np.copyto(G, state.Z)
        soft_threshold(G, problem.limits, 1 / state.rho)
        basis = state.space.basis
        found = problem.repair(G) if basis is None else problem.within(G, basis)
        X = primal_candidate(problem, found, state.vectors, state.weights)
        box_part(state.Z, problem.limits, 1 / state.rho, G)
        np.multiply(G, state.rho, out=G)
        return Candidate(X, DenseDual(G, problem.box, lent=True), problem.size)
