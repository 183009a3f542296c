"""The subproblem of Online-P, solved to a certified gap.

    max ⟨S, X⟩ − λ‖X‖₁ − ‖X‖²_{r,r}/(2√t)   over the Fantope.

For any X in the Fantope and any symmetric D, with U = clip(D, ±λ) and W = D − U,

    value of X  ≤  optimum  ≤  φ_d(S − D) + (√t/2)‖W‖²_{q,q},   1/r + 1/q = 1,

since ⟨S, X⟩ ≤ φ_d(S − D) + ⟨U, X⟩ + ⟨W, X⟩ and ⟨W, X⟩ ≤ ‖W‖_q‖X‖_r ≤ (√t/2)‖W‖²_q + ‖X‖²_r/(2√t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from fantope.eigen import Eigenspace
from fantope.kernels.online_p import dual_split, lr_power_sum
from fantope.online.anderson import Anderson
from fantope.problem.certificate import dual_bound
from fantope.problem.projection import project
from fantope.prox.squared_lr import mirror_exponent, solve_norm
from fantope.typing import Array

SLACK = 0.05  # the part of a tolerance that proving the bound may cost


@dataclass(frozen=True)
class Subproblem:
    """One instance: S is the (weighted) mean of the z zᵀ, ``t`` their effective number."""

    S: Array
    n_components: int
    alpha: float
    t: float

    @property
    def r(self) -> float:
        """Exponent of the norm."""
        return mirror_exponent(len(self.S))

    @property
    def q(self) -> float:
        """The conjugate exponent, log p (at least 2)."""
        return max(math.log(len(self.S)), 2.0)

    @property
    def strong_convexity(self) -> float:
        """The β of the paper: ‖·‖²_{r,r}/2 is β-strongly convex in the ℓ₁ norm."""
        return float(math.exp(-4.0) / (self.q - 1.0))

    @property
    def tolerance(self) -> float:
        """The theorem's β√t ε_t²/2 with ε_t = 1/√t, divided by t as the objective here is."""
        return float(self.strong_convexity / (2.0 * self.t**1.5))

    def objective(self, X: Array) -> float:
        """Return ⟨S, X⟩ − λ‖X‖₁ − ‖X‖²_{r,r}/(2√t)."""
        power, norm = lr_power_sum(X, self.r)
        return float(np.vdot(self.S, X) - self.alpha * norm - power ** (2.0 / self.r) / (2.0 * math.sqrt(self.t)))

    def split(self, D: Array) -> tuple[Array, float]:
        """Return M = S − D and an upper bound of (√t/2)‖W‖²_{q,q}; φ_d(M) and it together bound the optimum."""
        M = np.empty_like(D)
        total = dual_split(self.S, D, self.alpha, self.q, M)
        # The sum of p² powers is exact to p²·u relatively, the square root's share of it far less.
        return M, 0.5 * math.sqrt(self.t) * total ** (2.0 / self.q) * (1.0 + 1e-12)


@dataclass
class Warm:
    """What one subproblem leaves for the next: the splitting variable, its step, the norm, an eigenbasis.

    Attributes
    ----------
    z : (p, p) array
        Y + D/ρ, from which Y = prox(z) and D = ρ(z − Y).
    rho : float
    norm : float
        ‖Y‖_{r,r}.
    basis : (k, p) array or None
        Leading eigenvectors of the last matrix projected.
    """

    z: Array
    rho: float
    norm: float
    basis: Array | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Certified:
    """The answer to a subproblem.

    Attributes
    ----------
    X : (p, p) array
        In the Fantope, by eigenvectors ``vectors`` (rows) and eigenvalues ``weights``.
    objective, bound : float
        The optimum lies between them.
    tolerance : float
        What their difference was asked to be.
    n_iter : int
    """

    X: Array
    vectors: Array
    weights: Array
    objective: float
    bound: float
    tolerance: float
    n_iter: int

    @property
    def gap(self) -> float:
        """Certified distance from the optimum, absolute."""
        return self.bound - self.objective

    @property
    def met(self) -> bool:
        """Whether the tolerance was met."""
        return self.gap <= self.tolerance


def solve_subproblem(
    problem: Subproblem,
    warm: Warm,
    tolerance: float,
    *,
    max_iter: int = 2000,
    memory: int = 10,
    check_every: int = 5,
) -> Certified:
    """Douglas-Rachford splitting with Anderson acceleration; ``warm`` is updated in place.

    The ℓ₁ norm and the squared norm have one prox together (:func:`fantope.prox.squared_lr.prox_squared_lr`), so that
    two operators do where Algorithm 4 has three (:func:`three_operator`):

        Y = prox_{g/ρ}(z),  X = P_F(2Y − z + S/ρ),  z ← z + X − Y.

    Of the two dual points that a step offers, ρ(z − Y) ∈ ∂g(Y) and D = ρ(z − 2Y + X), the second is the better one by
    far: S − D is ρ times what the projection took off, so that X is a leading face of it and φ_d(S − D) = ⟨S − D, X⟩.
    What is left of the gap falls with the square of ‖X − Y‖, where the first point's falls with ‖X − Y‖ itself.
    """
    S, d, root, rho = problem.S, problem.n_components, math.sqrt(problem.t), warm.rho
    space = Eigenspace(warm.basis)
    linear = S / rho
    X, Y = np.empty_like(S), np.empty_like(S)
    mixer = Anderson(memory)
    accuracy = 1e-3
    best: tuple[float, Array, Array, Array] | None = None
    bound = math.inf
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        warm.norm, _ = solve_norm(warm.z, Y, 1.0 / (rho * root), problem.r, problem.alpha / rho, warm.norm, 1e-10)
        shifted = warm.z - Y
        vectors, weights = project(linear + Y - shifted, d, space, accuracy)
        _low_rank(vectors, weights, X)
        residual = X - Y
        accuracy = max(1e-12, 0.02 * float(np.linalg.norm(residual)))
        if n_iter % check_every == 0 or n_iter == max_iter or n_iter == 2:
            value = problem.objective(X)
            if best is None or value > best[0]:
                best = (value, X.copy(), vectors, weights)
            M, penalty = problem.split(rho * (shifted + residual))
            # X is a leading face of M = S − D and ⟨M, X⟩ is φ_d(M), up to rounding: prove it where that can succeed.
            hoped = float(np.vdot(M, X)) + penalty - best[0]
            if hoped <= (1.0 - SLACK) * tolerance or n_iter == max_iter:
                start = np.vstack([vectors, 1e-3 * np.random.default_rng(0).standard_normal((3, len(S)))])
                bound = min(bound, dual_bound(M, d, start, SLACK * tolerance, best[0]) + penalty)
                if bound - best[0] <= tolerance:
                    break
        warm.z = mixer.next(warm.z, residual)
    warm.basis = space.basis
    assert best is not None
    return Certified(best[1], best[2], best[3], best[0], bound, tolerance, n_iter)


def three_operator(
    problem: Subproblem, X: Array, tolerance: float, step_size: float, *, max_iter: int = 5000, check_every: int = 10
) -> Certified:
    """Algorithm 4 of the paper, stopped by the certificate: the reference that the faster method is compared with.

    Z̄ = (Z₁ + Z₂ + Z₃)/3 scaled into ‖·‖_F ≤ √d, then Z_i ← Z_i − X + prox_{αf_i}(2X − Z_i) for λ‖·‖₁, for −⟨S, ·⟩ on
    the Fantope (the penalties of the paper with a large μ) and for ‖·‖²_{r,r}/(2√t). The dual point is free: the
    first and the third prox yield U ∈ λ∂‖·‖₁ and W = ∇(‖·‖²_{r,r}/(2√t)), D = U + W.

    Parameters
    ----------
    X : (p, p) array
        Where to start.
    step_size : float
        α of the paper.
    """
    S, d, root = problem.S, problem.n_components, math.sqrt(problem.t)
    Z = [X.copy(), X.copy(), X.copy()]
    space = Eigenspace()
    Y3, P = np.empty_like(S), np.empty_like(S)
    norm, bound = 0.0, math.inf
    best: tuple[float, Array, Array, Array] | None = None
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        mean = (Z[0] + Z[1] + Z[2]) / 3.0
        size = float(np.linalg.norm(mean))
        mean *= min(1.0, math.sqrt(d) / size) if size > 0.0 else 1.0
        V1, V2, V3 = (2.0 * mean - each for each in Z)
        U = np.clip(V1, -step_size * problem.alpha, step_size * problem.alpha)
        vectors, weights = project(V2 + step_size * S, d, space, 1e-9)
        _low_rank(vectors, weights, P)
        norm, _ = solve_norm(V3, Y3, step_size / root, problem.r, 0.0, norm, 1e-12)
        Z[0] += (V1 - U) - mean
        Z[1] += P - mean
        Z[2] += Y3 - mean
        if n_iter % check_every == 0 or n_iter == max_iter:
            value = problem.objective(P)
            if best is None or value > best[0]:
                best = (value, P.copy(), vectors, weights)
            D = (U + V3 - Y3) / step_size
            M, penalty = problem.split(0.5 * (D + D.T))
            bound = min(bound, dual_bound(M, d, None, SLACK * tolerance, best[0]) + penalty)
            if bound - best[0] <= tolerance:
                break
    assert best is not None
    return Certified(best[1], best[2], best[3], best[0], bound, tolerance, n_iter)


def _low_rank(vectors: Array, weights: Array, X: Array) -> None:
    """Write X = Σ weights_a v_a v_aᵀ; a matrix times its own transpose is symmetric to the last bit."""
    half = vectors * np.sqrt(weights)[:, None]
    np.matmul(half.T, half, out=X)
