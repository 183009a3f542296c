"""One connected block of the graphical lasso, scaled to a diagonal near one, with the best bracket found so far."""

from __future__ import annotations

import numpy as np

from fantope.graphical.certificate import Weights, bound_below, objective_above
from fantope.typing import Array


class Block:
    """What a solver works on: it offers points, and the certificate decides what they are worth.

    Θ = DΘ'D and S = D⁻¹S'D⁻¹ with D diagonal leave the objective as it is up to a constant and turn alpha into
    alpha·D⁻¹11ᵀD⁻¹: variables of any size become variables of size about one. D holds powers of two: no digit changes.
    ``start`` is a positive definite Θ.
    """

    def __init__(self, S: Array, weights: Weights, start: Array | None) -> None:
        self.whole, self.weights = S, weights
        self.half = np.round(0.5 * np.log2(S.diagonal())).astype(int)
        self.S = self._down(S)
        self.limits = self._down(np.full(S.shape, weights.alpha))
        if not weights.diagonal:
            np.fill_diagonal(self.limits, 0.0)
        self.best = np.diag(1.0 / (S.diagonal() + (weights.alpha if weights.diagonal else 0.0)))
        self.objective = objective_above(S, self.best, weights)
        self.dual = weights.into_box(np.zeros_like(S), S)  # the answer for a single variable
        self.bound = bound_below(self.dual)
        if weights.alpha == 0.0:  # the box is S itself
            start = np.asarray(np.linalg.inv(S), dtype=np.float64)
        if start is not None:
            self._offer_primal(0.5 * (start + start.T))
        self.Theta = self._up(self.best)

    def _down(self, A: Array) -> Array:
        """Return D⁻¹AD⁻¹, as S is scaled."""
        return np.asarray(np.ldexp(np.ldexp(A, -self.half[:, None]), -self.half))

    def _up(self, A: Array) -> Array:
        """Return DAD, as Θ is scaled."""
        return np.asarray(np.ldexp(np.ldexp(A, self.half[:, None]), self.half))

    def soft(self, Theta: Array, step: float) -> Array:
        """Return the prox of step·Σ w_ij|Θ_ij|, symmetric to the last bit."""
        Theta = 0.5 * (Theta + Theta.T)
        return np.asarray(Theta - np.clip(Theta, -step * self.limits, step * self.limits))

    def offer(self, Theta: Array, inverse: Array) -> float:
        """Take a scaled Θ and something near its inverse if they are better than what there is; return the gap."""
        self._offer_primal(self._down(Theta))
        W = self.weights.into_box(self._up(inverse), self.whole)
        bound = bound_below(W)
        if bound > self.bound:
            self.dual, self.bound = W, bound
        return self.gap

    def _offer_primal(self, Theta: Array) -> None:
        objective = objective_above(self.whole, Theta, self.weights)
        if objective < self.objective:
            self.best, self.objective = Theta, objective

    @property
    def gap(self) -> float:
        """Certified distance of the best Θ's objective from the optimum."""
        return self.objective - self.bound
