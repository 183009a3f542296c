"""prox f₂ with a finite μ (appendix A.2): soft penalties for leaving the Fantope.

f₂(X) = −⟨S, X⟩ + μ(|tr X − d|/√p + r₁[θ₁(X) − 1]₊ + r₂[−θ_p(X)]₊). The linear term moves the argument by αS, so
callers pass G = X + αS and the functions here treat the penalties alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg

from fantope.typing import Array


@dataclass(frozen=True)
class PenaltyWeights:
    """Weights of the three penalties: largest eigenvalue above 1, trace off d, smallest eigenvalue below 0."""

    above: float
    trace: float
    below: float

    @classmethod
    def of(cls, S: Array, n_components: int, slope: float, mu: float | Literal["paper"]) -> PenaltyWeights:
        """Return μr₁, μ/√p and μr₂ with the constants of Corollary 1.

        μ = (‖S‖_F + L + 1)√(p/(d + 1)), r₁ = √(d(d + 1)), r₂ = √(p(d + 1)); d_{C₁}(X) = |tr X − d|/√p. ``slope`` is L,
        the Lipschitz constant of the penalty on X: λp for λ‖X‖₁.
        """
        p, d = S.shape[0], n_components
        if mu == "paper":
            mu = (float(np.linalg.norm(S)) + slope + 1.0) * np.sqrt(p / (d + 1))
        return cls(mu * np.sqrt(d * (d + 1)), mu / np.sqrt(p), mu * np.sqrt(p * (d + 1)))

    def scaled(self, factor: float) -> PenaltyWeights:
        """Return the weights times ``factor`` (the step size of the prox)."""
        return PenaltyWeights(factor * self.above, factor * self.trace, factor * self.below)


def prox_f2_direct(G: Array, n_components: int, weights: PenaltyWeights) -> tuple[Array, Array]:
    """Return eigenvectors (rows) and eigenvalues of the prox: the spectrum of G goes through the soft penalties.

    With finite weights every eigenvalue may stay non-zero, so this is a full decomposition.
    """
    values, vectors = scipy.linalg.eigh(G, driver="evd", check_finite=False)
    u = soft_capped_simplex(values, n_components, weights.above, weights.trace, weights.below)
    used = u != 0.0
    return np.ascontiguousarray(vectors.T[used]), u[used]


def prox_f2_iterative(G: Array, n_components: int, weights: PenaltyWeights, n_iter: int) -> tuple[Array, Array]:
    """Return eigenvectors (rows) and eigenvalues of an approximation by ``n_iter`` subgradient steps.

    U ← P_𝒳(U − η_k ∂(penalties)(U) − η_k(U − G)) with η_k = 2/(k + 2), for a 1-strongly convex objective; the steps'
    weighted mean (weights k + 1) converges at rate 1/K. Each step needs the two extreme eigenpairs only.
    """
    p, d = G.shape[0], n_components
    U = _into_ball(G, d)
    mean = U.copy()
    for k in range(n_iter):
        rate = 2.0 / (k + 2)
        gradient = U - G
        low, first = scipy.linalg.eigh(U, subset_by_index=(0, 0), check_finite=False)
        high, last = scipy.linalg.eigh(U, subset_by_index=(p - 1, p - 1), check_finite=False)
        if high[0] > 1.0:
            gradient += weights.above * (last @ last.T)
        if low[0] < 0.0:
            gradient -= weights.below * (first @ first.T)
        gradient.flat[:: p + 1] += weights.trace * np.sign(U.trace() - d)
        U = _into_ball(U - rate * gradient, d)
        mean += rate * (U - mean)
    values, vectors = scipy.linalg.eigh(mean, driver="evd", check_finite=False)
    return np.ascontiguousarray(vectors.T), values


def _into_ball(X: Array, n_components: int) -> Array:
    """P_𝒳: scale X into the ball ‖X‖_F ≤ √d."""
    norm = float(np.linalg.norm(X))
    return X * min(1.0, np.sqrt(n_components) / norm) if norm > 0 else X.copy()


def soft_capped_simplex(values: Array, total: float, above: float, trace: float, below: float) -> Array:
    """Minimise ``above·[max u − 1]₊ + trace·|Σu − total| + below·[−min u]₊ + ½‖u − values‖²``.

    The optimality conditions say u = clip(values − t, a, c): the trace penalty shifts (|t| ≤ trace), the other
    two push the largest values down to a level c ≥ 1 and the smallest up to a level a ≤ 0, each moving by at
    most its weight in all. For a given t the levels are explicit and Σu falls in t, so t is found by bisection.
    """

    def clipped(t: float) -> Array:
        shifted = values - t
        return np.clip(shifted, -_level(-shifted, below, 0.0), _level(shifted, above, 1.0))

    low, high = -trace, trace
    if clipped(low).sum() <= total:
        return clipped(low)
    if clipped(high).sum() >= total:
        return clipped(high)
    for _ in range(200):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        low, high = (middle, high) if clipped(middle).sum() > total else (low, middle)
    return clipped(0.5 * (low + high))


def _level(values: Array, weight: float, floor: float) -> float:
    """Smallest c ≥ floor with Σ (values − c)₊ ≤ weight."""
    top = np.sort(values)[::-1]
    if np.maximum(top - floor, 0.0).sum() <= weight:
        return floor
    levels = (np.cumsum(top) - weight) / np.arange(1, len(top) + 1)
    return float(levels.max())
