"""Projections of a slowly changing symmetric matrix: by a decomposition, then by the derivative there."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fantope.kernels.first_order import add_symmetric, round_difference
from fantope.prox.simplex import capped_simplex_shift
from fantope.typing import AnyArray, Array


class NearProjection:
    """Σ w_a v_a v_aᵀ with w = max(γ, 0), or w = clip(γ − θ, 0, 1) with sum ``total``, for matrices near each other.

    A decomposition G₀ = V diag(γ) Vᵀ also gives the derivative of the projection at G₀: an entry of Vᵀ(G − G₀)V counts
    by (w_i − w_j)/(γ_i − γ_j), and θ moves by the mean of its diagonal over 0 < w < 1. That takes products with the few
    eigenvectors of w > 0, or, if those are fewer, with those for which w is not γ − θ; single precision is enough for
    what is a correction. It costs a sixth of a decomposition.

    Parameters
    ----------
    total : float, optional
        Trace of the result, d for the Fantope; without it the projection is on the cone of semidefinite matrices.
    """

    def __init__(self, total: float | None = None) -> None:
        self.total = total

    def exact(self, G: Array, rough: bool = False) -> Array:
        """Decompose G, in single precision if ``rough``; return its projection.

        Raises
        ------
        FloatingPointError
            If ``G`` is not finite.
        """
        if not np.isfinite(G).all():
            raise FloatingPointError("the matrix to project is not finite")
        values, V = scipy.linalg.eigh(G.astype(np.float32) if rough else G, driver="evd", check_finite=False)
        values = values.astype(np.float64)
        self.shift = 0.0 if self.total is None else capped_simplex_shift(values, self.total)
        shifted = values - self.shift
        weights = np.maximum(shifted, 0.0) if self.total is None else np.clip(shifted, 0.0, 1.0)
        linear = (weights > 0.0) & (weights == shifted)
        self.rank = int(np.count_nonzero(weights))
        capped = np.flatnonzero(weights < shifted)
        self.excess = V[:, capped] * np.sqrt(shifted[capped] - 1.0)  # E: G − θI exceeds I by EEᵀ
        self._whole = self.rank > len(G) - np.count_nonzero(linear)  # G − θI, less what the few others have of it
        u = weights - shifted if self._whole else weights
        few = np.flatnonzero(~linear if self._whole else weights)
        order = np.concatenate([few, np.setdiff1d(np.arange(len(G)), few)])
        self._at, self._n_few, self._n_linear = G.copy(), len(few), int(np.count_nonzero(linear))
        half = V[:, few] * np.sqrt(np.abs(u[few]))
        X: Array = ((half * np.sign(u[few])) @ half.T).astype(np.float64)
        if self._whole:
            X += G
            X.flat[:: len(X) + 1] -= self.shift
        self._X: Array = 0.5 * (X + X.T)
        self._vectors = np.ascontiguousarray(V[:, order], dtype=np.float32)
        self._slopes, self._own = self._derivative(values[order], u[order], linear[order])
        return self._X

    def _derivative(self, values: Array, u: Array, linear: AnyArray) -> tuple[Array, Array]:
        """Return (u_i − u_j)/(γ_i − γ_j) for the few against all, halved among them, and which of them follow θ."""
        k = self._n_few
        across = values[:k, None] - values
        own = (-1.0 if self._whole else 1.0) * (~linear if self._whole else linear)[:k]
        level = np.abs(across) <= 1e-12 * np.abs(values).max()
        slopes = np.where(level, own[:, None], (u[:k, None] - u) / np.where(level, 1.0, across))
        slopes[:, :k] *= 0.5
        return slopes.astype(np.float32), own

    def near(self, G: Array) -> Array:
        """Return the projection of G to first order around the matrix last decomposed."""
        k = self._n_few
        change, X = np.empty(G.shape, np.float32), np.empty_like(G)
        trace = round_difference(G, self._at, change)
        few = self._vectors[:, :k]
        inside = (few.T @ change) @ self._vectors
        moved = 0.0
        diagonal = np.einsum("ii->i", inside[:, :k])
        if self.total is not None and self._n_linear:
            follows = diagonal @ self._own if not self._whole else trace - float(diagonal.sum())
            moved = float(follows) / self._n_linear
        diagonal -= moved * self._own**2  # the shift of θ is one of the diagonal, for those that follow it
        inside *= self._slopes
        half = few @ (inside @ self._vectors.T)
        # Symmetric to the last bit: what is not would grow from step to step.
        add_symmetric(self._X, G, self._at, half, moved, self._whole, X)
        return X
