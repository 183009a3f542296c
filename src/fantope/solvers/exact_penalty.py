"""prox f₂ with a finite μ (appendix A.2): soft penalties for leaving the Fantope.

Corollary 1 has f₂(X) = −⟨S, X⟩ + μ(|tr X − d|/√p + r₁[θ₁(X) − 1]₊ + r₂[−θ_p(X)]₊), in which the two outermost
eigenvalues pay. In the published form each eigenvalue outside [0, 1] pays, r₁ = r₂ = √(d(d + 1)). That is exact as soon
as Corollary 1's is: Σ[θ_i − 1]₊ and Σ[−θ_i]₊ are at least the distances to X ⪯ I and X ⪰ 0, which need √(d + 1).

The linear term moves the argument by αS, so callers pass G = X + αS and the functions here treat the penalties alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.linalg

from fantope.eigen import Eigenspace
from fantope.problem.projection import weigh
from fantope.problem.simplex import capped_simplex_shift
from fantope.typing import Array

Form = Literal["published", "corollary"]


@dataclass(frozen=True)
class PenaltyWeights:
    """Weights of the three penalties: eigenvalues above 1, trace off d, eigenvalues below 0.

    ``each`` says whether each eigenvalue outside [0, 1] pays, or the largest and the smallest one alone.
    """

    above: float
    trace: float
    below: float
    each: bool = False

    @classmethod
    def of(
        cls, S: Array, n_components: int, slope: float, mu: float | Literal["paper"], form: Form = "corollary"
    ) -> PenaltyWeights:
        """Return μr₁, μ/√p and μr₂ of Corollary 1, or μ√(d(d + 1)), μ/√p and μ√(d(d + 1)) of the published form.

        "paper" is μ = (‖S‖_F + L + 1)√(p/(d + 1)); r₁ = √(d(d + 1)), r₂ = √(p(d + 1)); d_{C₁}(X) = |tr X − d|/√p.
        ``slope`` is L, the Lipschitz constant of the penalty on X: λp for λ‖X‖₁.
        """
        p, d = S.shape[0], n_components
        if mu == "paper":
            mu = (float(np.linalg.norm(S)) + slope + 1.0) * np.sqrt(p / (d + 1))
        above = mu * np.sqrt(d * (d + 1))
        if form == "published":
            return cls(above, mu / np.sqrt(p), above, each=True)
        return cls(above, mu / np.sqrt(p), mu * np.sqrt(p * (d + 1)))

    def scaled(self, factor: float) -> PenaltyWeights:
        """Return the weights times ``factor`` (the step size of the prox)."""
        return PenaltyWeights(factor * self.above, factor * self.trace, factor * self.below, self.each)

    def lifts(self, norm: float, size: int) -> bool:
        """Whether the prox lifts every negative eigenvalue to 0, for any ``size`` of them with that Euclidean norm.

        The shift is at most ``trace``. If each eigenvalue pays, each may rise by ``below``; else all of them together.
        """
        count = 1 if self.each else size
        return bool(count * self.trace + np.sqrt(count) * norm <= self.below)


def prox_f2_direct(
    G: Array,
    n_components: int,
    weights: PenaltyWeights,
    space: Eigenspace | None = None,
    tol: float = 0.0,
    many: bool = False,
) -> tuple[Array, Array]:
    """Return eigenvectors (rows) and eigenvalues of the prox: the spectrum of G goes through the soft penalties.

    The trace penalty shifts the spectrum by t, at most ``weights.trace``, and where the other two suffice, what is then
    negative becomes 0: only eigenpairs above t are computed, warm-started from ``space``, with a residual of at most
    ``tol``. Weights so small that eigenvalues may stay negative need all of them. ``many`` says that more pairs are
    expected than a block method is good for. Raises FloatingPointError if ``G`` is not finite.
    """
    norm = float(np.linalg.norm(G))
    if not np.isfinite(norm):
        raise FloatingPointError("the matrix of prox f₂ is not finite")
    if weights.lifts(norm, len(G)):
        space = Eigenspace() if space is None else space
        if many:
            # All pairs at once: hundreds by LAPACK's routine for some of them take as long (p = 1,600, measured).
            space.basis = None
        values, vectors = space.leading(G, lambda known: _above_shift(known, n_components, weights.trace), tol)
        u = soft_capped_simplex(values, n_components, replace(weights, below=np.inf))
    else:
        values, columns = scipy.linalg.eigh(G, driver="evd", check_finite=False)
        u, vectors = soft_capped_simplex(values, n_components, weights), columns.T
    used = u != 0.0
    return (vectors, u) if used.all() else (np.ascontiguousarray(vectors[used]), u[used])


def _above_shift(values: Array, total: int, trace: float) -> int:
    """Count the leading eigenvalues, in descending order, that stay positive: those of a projection, or a few more."""
    return max(weigh(values, total), int(np.count_nonzero(values > trace)))


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


def soft_capped_simplex(values: Array, total: float, weights: PenaltyWeights) -> Array:
    """Minimise ½‖u − values‖² plus the penalties: max u above 1, Σu off ``total``, min u below 0.

    The optimality conditions say u = clip(values − t, a, c): the trace penalty shifts (|t| ≤ trace), the other
    two push the largest values down to a level c ≥ 1 and the smallest up to a level a ≤ 0, each moving by at
    most its weight in all. For a given t the levels are explicit and Σu falls in t, so t is found by bisection. If each
    value outside [0, 1] pays, each of them moves by at most the weight. Weights that reach 0 and 1 leave a capped
    simplex, whose shift is explicit.
    """

    def clipped(t: float) -> Array:
        shifted = values - t
        if weights.each:
            top, bottom = np.maximum(shifted - weights.above, 1.0), np.minimum(shifted + weights.below, 0.0)
            return np.where(shifted > 1.0, top, np.where(shifted < 0.0, bottom, shifted))
        return np.clip(shifted, -_level(-shifted, weights.below, 0.0), _level(shifted, weights.above, 1.0))

    low, high = -weights.trace, weights.trace
    if len(values) > total:
        found = clipped(float(np.clip(capped_simplex_shift(values, total), low, high)))
        if found.min() >= 0.0 and found.max() <= 1.0:
            return found
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
