"""Projections of a slowly changing symmetric matrix: by a decomposition, then by the derivative there."""

from __future__ import annotations

import math

import numpy as np

from fantope.eigen.halves import eigh_in_halves
from fantope.kernels.scaled_splitting.products import project_near
from fantope.kernels.triangle import pack, unpack
from fantope.problem.projection import assemble
from fantope.problem.simplex import capped_simplex_shift
from fantope.typing import AnyArray, Array


class FantopeProjection:
    """Projections on the Fantope of the given trace, each by a decomposition.

    Attributes
    ----------
    X : (p, p) array
        The last projection.
    shift : float
        θ: the weights are γ − θ between 0 and 1.
    excess : (p, k) array
        E: G − θI exceeds I by EEᵀ.
    """

    def __init__(self, trace: float) -> None:
        self.trace = trace

    def exact(self, G: Array) -> None:
        """Project G. Raises FloatingPointError if it is not finite."""
        values, V = _decompose(G, False)
        self.shift = capped_simplex_shift(values, self.trace)
        weights = np.clip(values - self.shift, 0.0, 1.0)
        capped = np.flatnonzero(values - self.shift > 1.0)
        self.excess: Array = V[:, capped] * np.sqrt(values[capped] - self.shift - 1.0)
        self._values, self._vectors = values - self.shift, V
        self.X = assemble(V[:, weights > 0.0], weights[weights > 0.0])

    def lowest(self, limit: float) -> tuple[Array, AnyArray]:
        """Return the γ − θ up to ``limit``, ascending, and their vectors, as columns, in single precision."""
        n = int(np.searchsorted(self._values, limit, "right"))
        return self._values[:n], self._vectors[:, :n].astype(np.float32)


class ConeProjection:
    """Projections on the cone of semidefinite matrices: Σ max(γ, 0)vvᵀ, for matrices near each other.

    A decomposition G₀ = V diag(γ) Vᵀ also gives the derivative of the projection at G₀: an entry of Vᵀ(G − G₀)V counts
    by (γ₊_i − γ₊_j)/(γ_i − γ_j). That takes products with the few eigenvectors of γ > 0, or, if those are fewer, with
    the others, since G₊ = G + (−G)₊. Single precision is enough for what is a correction. It costs a sixth of a
    decomposition on one core; on two, each takes half of the rows.

    Attributes
    ----------
    packed : array
        The lower triangle of the last projection by a decomposition.
    """

    def exact(self, G: Array, packed: Array, rough: bool = False) -> None:
        """Project G, whose lower triangle is ``packed``, by a decomposition, in single precision if ``rough``.

        Raises FloatingPointError if ``G`` is not finite.
        """
        values, V = _decompose(G, rough)
        rank = int(np.count_nonzero(values > 0.0))
        self._whole, self._values = rank > len(G) - rank, values
        if not self._whole:
            values, V = values[::-1], V[:, ::-1]
        size, k = np.abs(values), min(rank, len(G) - rank)  # the few come first, and all of them have one sign
        half = V[:, :k] * np.sqrt(size[:k]).astype(V.dtype)
        self.packed = pack(half @ half.T)
        self._X: Array | None = None
        if self._whole:
            self.packed += packed
        self._n_few = k
        self._rows = np.ascontiguousarray(V.T, dtype=np.float32)
        few, others = np.split(np.maximum(size, 1e-30).astype(np.float32), [k])
        self._slopes = np.empty((len(G), k), np.float32)
        self._slopes[:k] = 0.5  # both are among the few: each pair of them is met twice
        np.divide(few, few + others[:, None], out=self._slopes[k:])
        if self._whole:
            self._slopes *= -1.0

    @property
    def X(self) -> Array:
        """The last projection by a decomposition."""
        if self._X is None:
            self._X = unpack(self.packed, len(self._rows))
        return self._X

    def lowest(self, limit: float) -> tuple[Array, AnyArray]:
        """Return the eigenvalues up to ``limit``, ascending, and their vectors, as columns, in single precision."""
        n = int(np.searchsorted(self._values, limit, "right"))
        rows = self._rows if self._whole else self._rows[::-1]
        return self._values[:n], rows[:n].T

    def near(self, change: AnyArray, minus: Array, out: Array) -> float:
        """Write the projection of G plus ``change``, to first order, less ``minus``, and return the length of that.

        ``change`` is symmetric and in single precision, ``minus`` and ``out`` are lower triangles, packed.
        """
        rows, slopes = self._rows, self._slopes
        return math.sqrt(project_near(change, self.packed, minus, rows, self._n_few, slopes, self._whole, out))


def _decompose(G: Array, rough: bool) -> tuple[Array, AnyArray]:
    if not np.isfinite(G).all():
        raise FloatingPointError("the matrix to project is not finite")
    values, V = eigh_in_halves(G.astype(np.float32) if rough else G)
    return values.astype(np.float64), V
