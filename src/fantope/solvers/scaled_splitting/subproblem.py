"""The subproblem of Online-P: its value, its bound, and what an answer to it holds.

    max ⟨S, X⟩ − λ‖X‖₁ − ‖X‖²_{r,r}/(2√t)   over the Fantope.

For any X in the Fantope and any symmetric D, with U = clip(D, ±λ) and W = D − U,

    value of X  ≤  optimum  ≤  φ_d(S − D) + (√t/2)‖W‖²_{q,q},   1/r + 1/q = 1,

since ⟨S, X⟩ ≤ φ_d(S − D) + ⟨U, X⟩ + ⟨W, X⟩ and ⟨W, X⟩ ≤ ‖W‖_q‖X‖_r ≤ (√t/2)‖W‖²_q + ‖X‖²_r/(2√t).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fantope.kernels.squared_lr import dual_power_sum, lr_power_sum
from fantope.problem.projection import assemble
from fantope.prox.squared_lr import mirror_exponent
from fantope.typing import Array


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

    def penalty(self, M: Array) -> float:
        """Return an upper bound of (√t/2)‖W‖²_{q,q} for D = S − M, which with φ_d(M) bounds the optimum.

        M is replaced by S − D, from which it differs by rounding.
        """
        total = dual_power_sum(self.S, M, self.alpha, self.q)
        # The sum of p² powers is exact to p²·u relatively, the square root's share of it far less.
        return float(0.5 * math.sqrt(self.t) * total ** (2.0 / self.q) * (1.0 + 1e-12))


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
    dual : (p, p) array, optional
        D, from which ``bound`` can be computed anew; None if there is no bound.
    """

    X: Array
    vectors: Array
    weights: Array
    objective: float
    bound: float
    tolerance: float
    n_iter: int
    dual: Array | None = None

    @classmethod
    def of(cls, problem: Subproblem, vectors: Array, weights: Array, tolerance: float) -> Certified:
        """Return the X that has these eigenvectors (rows) and eigenvalues, with no bound yet."""
        X = assemble(vectors.T, weights)
        return cls(X, vectors, weights, problem.objective(X), math.inf, tolerance, 0)

    @property
    def gap(self) -> float:
        """Certified distance from the optimum, absolute."""
        return self.bound - self.objective

    @property
    def met(self) -> bool:
        """Whether the tolerance was met."""
        return self.gap <= self.tolerance
