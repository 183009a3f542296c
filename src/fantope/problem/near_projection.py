"""Projections of a slowly changing matrix on the Fantope: by a decomposition, then by the derivative there.

With G₀ = V diag(γ) Vᵀ and weights w = clip(γ − τ, 0, 1), the projection of G₀ + Δ is, to first order,

    X₀ + V (Ω∘(VᵀΔV − δI)) Vᵀ,   Ω_ij = (w_i − w_j)/(γ_i − γ_j),

δ being the mean of the diagonal of VᵀΔV over the weights between 0 and 1, which keeps the trace. Ω vanishes where both
weights are zero, so products with the r eigenvectors of positive weight are enough: four of them, where a decomposition
takes some fifty times p³ (measured at p = 200, r = 50: 0.2 ms in place of 3.3 ms). Where most weights are fractional,
as on noise, the other eigenvectors are fewer. Since Ω = 1 where both weights are fractional, products with these give

    X₀ + Δ − δI − V ((1 − Ω)∘(VᵀΔV − δI)) Vᵀ,

which is the same (1,000 variables, 2,000 samples: 25 in place of 38 ms).

In single precision, early in a run, eigenvectors of weight zero far below the others have one slope in common, their
mean. Since ΔV_r less its parts along the other eigenvectors is its part along these, nothing is multiplied with them:
on noise a tenth of the time, and no iteration more.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.linalg.blas import get_blas_funcs

from fantope.eigen import all_blas_threads
from fantope.eigen.lapack import orthonormal
from fantope.problem.simplex import capped_simplex_shift
from fantope.typing import AnyArray, Array

EQUAL = 1e-12  # eigenvalues that are nearer than this count as equal
RENEWALS = 8  # of the leading eigenvectors alone, after which all of them are computed again
LEAST_BUFFER = 8  # vectors beyond those in use: one of them may come into use
SMALL_SHARE = 5  # all are computed where the leading ones are more than one in this many
LEAST_NEAR, NEAR_SHARE = 30, 0.25  # vectors below those in use that have slopes of their own, and as a share of these
DAVIDSON_STEPS = 7  # after which all are computed, and the fewer the more vectors there are
WHOLE_SHARE = 3  # a decomposition takes as long as steps with one vector in this many
HOPE = 2.0  # times the accuracy: what the residual must promise to fall to, at the rate at which it has fallen


class NearProjection:
    """The projection on the Fantope of trace d around the last matrix that was decomposed.

    Arrays are symmetric, their lower triangles alone are read and written.

    Attributes
    ----------
    vectors : (r, m) array
        Eigenvectors of positive weight, by descending weight, as rows.
    weights : (r,) array
    support_value : float
        φ_d(G₀ − X₀): the sum of the d largest eigenvalues of what the projection takes away.
    """

    def __init__(self, trace: int) -> None:
        self.trace = trace
        self._steps: list[int] | None = None  # of each renewal since the last decomposition

    def exact(self, G: Array, single: bool) -> AnyArray:
        """Project G, which must be finite, by a decomposition; in single precision if that is enough.

        Raises
        ------
        FloatingPointError
            If G is not finite.
        """
        kind = np.float32 if single else np.float64
        with all_blas_threads(len(G)):
            # The lower triangle of a row-major array is the upper one of its transpose, which LAPACK reads as it is.
            values, V = scipy.linalg.eigh(
                G.T.astype(kind), lower=False, driver="evd", overwrite_a=True, check_finite=False
            )
        if not np.isfinite(values).all():
            raise FloatingPointError("the matrix to project is not finite")
        self._symm, self._gemm, self._syr2k, self._syrk = get_blas_funcs(("symm", "gemm", "syr2k", "syrk"), dtype=kind)
        self._values, self._V, self._steps = values.astype(np.float64), V, []
        return self._project()

    def renewed(self, G: Array, single: bool, accuracy: float) -> AnyArray:
        """Project G by leading eigenvectors alone where those of the last matrix lead to them, else by ``exact``.

        A few of Davidson's steps, with the last decomposition as the preconditioner. The other eigenvectors are
        kept as they are, less what the new ones take of them: they set nothing but slopes. ``accuracy`` is the largest
        residual that does no harm.
        """
        taken = self._steps
        if taken is not None and self._V.dtype == (np.float32 if single else np.float64):
            rank = len(self.weights)
            count = rank + max(LEAST_BUFFER, rank // 4)
            # The older a decomposition, the less it is worth as a preconditioner: 2 steps next to it, 6 after four
            # renewals. One that took longer than the mean of all, the decomposition included, is the last.
            stale = len(taken) == RENEWALS or (
                len(taken) > 0 and taken[-1] * (len(taken) + 1) > len(G) / (WHOLE_SHARE * count) + sum(taken)
            )
            if count * SMALL_SHARE <= len(G) and not stale:
                steps = self._renew(G.T.astype(self._V.dtype), count, accuracy)
                if steps is not None:
                    taken.append(steps)
                    return self._project()
        return self.exact(G, single)

    def _renew(self, G: AnyArray, count: int, accuracy: float) -> int | None:
        """Make the last ``count`` vectors those of G, and return in how many steps; None if they do not get there."""
        rest, others = self._V[:, :-count], self._values[:-count]
        Q = orthonormal(self._V[:, -count:])
        GQ = self._symm(1.0, G, Q)
        most, size = min(len(G) // (SMALL_SHARE * count) + 3, DAVIDSON_STEPS), np.inf
        for step in range(most + 1):
            values, C = scipy.linalg.eigh(Q.T @ GQ, driver="evd", overwrite_a=True, check_finite=False)
            values, C = values[-count:], C[:, -count:]
            K, GK = Q @ C, GQ @ C
            residual = GK - K * values
            used = values > self._threshold(values)
            if used[0]:
                return None
            size, last = float(np.linalg.norm(residual[:, used])), size
            if size <= accuracy:
                break
            rate = min(size / last, 1.0) if step > 1 else 0.0
            if step == most or size * rate ** (most - step) > HOPE * accuracy:
                return None
            # No other eigenvalue is above the smallest of these, but what is known of them is of the last matrix.
            least = values[used.argmax()] - values[0]
            T = self._gemm(1.0, rest, residual, trans_a=True)
            T /= np.maximum(values - others[:, None].astype(T.dtype), least)
            P = self._gemm(1.0, rest, T)
            for _ in range(2):
                P = orthonormal(P - K @ (K.T @ P))
            # What earlier steps left beside K and P is given up: a third of the time was spent on it, for few steps.
            Q, GQ = np.hstack([K, P]), np.hstack([GK, self._symm(1.0, G, P)])
        K = np.asfortranarray(K)
        self._V[:, :-count] -= self._gemm(1.0, K, self._gemm(1.0, K, rest, trans_a=True))
        self._V[:, -count:] = K
        self._values[-count:] = values
        np.minimum(others, values[0], out=others)
        return step

    def _project(self) -> AnyArray:
        """Project the matrix with these eigenpairs, and take the derivative there."""
        values, V = self._values, self._V
        weights, fractional = self._weigh(values)
        rank = int(np.count_nonzero(weights))
        first = len(values) - rank
        flat = np.flatnonzero(~fractional)
        self._whole = len(flat) < rank  # few slopes are not 1
        few = flat if self._whole else np.arange(first, len(values))
        self._range = np.asfortranarray(V[:, few])
        apart = values[:, None] - values[few]
        slopes = np.subtract(weights[:, None], weights[few])
        np.divide(slopes, apart, out=slopes, where=np.abs(apart) > EQUAL)
        equal = np.abs(apart) <= EQUAL
        slopes[equal] = (fractional[:, None] & fractional[few])[equal]
        if self._whole:
            np.subtract(1.0, slopes, out=slopes)
        slopes[few] *= 0.5  # both are among the few: the pair is met twice
        alike = not self._whole and V.dtype == np.float32
        far = max(first - max(LEAST_NEAR, int(NEAR_SHARE * rank)), 0) if alike else 0
        self._near = np.asfortranarray(V[:, far:])
        self._far: AnyArray | None = slopes[:far].mean(axis=0).astype(V.dtype) if far else None
        self._slopes = np.asfortranarray(slopes[far:], dtype=V.dtype)
        own = np.arange(len(few)) if self._whole else self._level - first
        self._diagonal = few[own] - far, own
        half = V[:, first:] * np.sqrt(weights[first:]).astype(V.dtype)
        self._X0: AnyArray = self._syrk(1.0, half)
        self.vectors, self.weights = V.T[first:][::-1].copy(), weights[first:][::-1]
        return self.first

    def _weigh(self, values: Array) -> tuple[Array, AnyArray]:
        """Return the weights of eigenvalues in ascending order, and which of them change with the eigenvalue."""
        shift = capped_simplex_shift(values[::-1], self.trace)
        weights = np.clip(values - shift, 0.0, 1.0)
        self.support_value = float((values - weights)[-self.trace :].sum())
        fractional = (weights > 0.0) & (weights < 1.0)
        self._level = np.flatnonzero(fractional)
        return weights, fractional

    def _threshold(self, values: AnyArray) -> float:
        """Return the eigenvalue, of the leading ones in ascending order, up to which weights are zero."""
        return capped_simplex_shift(values[::-1].astype(np.float64), self.trace)

    @property
    def first(self) -> AnyArray:
        """The projection of the matrix decomposed."""
        return self._X0.T

    def near(self, change: AnyArray) -> AnyArray:
        """Return the projection, to first order, of the matrix decomposed plus ``change``, of the same precision.

        The upper triangles of ``change`` and of what is returned are zero.
        """
        image = self._symm(1.0, change.T, self._range)
        C = self._gemm(1.0, self._near, image, trans_a=True)
        if self._whole:
            return self._less(change, C)
        taken = None if self._far is None else C * self._far
        if len(self._level):
            C[self._diagonal] -= C[self._diagonal].mean()
        C *= self._slopes
        if taken is None:
            Q = self._gemm(1.0, self._near, C)
        else:
            C -= taken
            image *= self._far
            Q = self._gemm(1.0, self._near, C, beta=1.0, c=image, overwrite_c=True)
        X: AnyArray = self._syr2k(1.0, self._range, Q, beta=1.0, c=self._X0).T
        return X

    def _less(self, change: AnyArray, C: AnyArray) -> AnyArray:
        """Return the same by what is taken from the whole change, given its part along the few eigenvectors."""
        X = self._X0 + change.T
        if len(self._level):
            left = np.trace(change, dtype=np.float64) - C[self._diagonal].sum(dtype=np.float64)
            shift = left / len(self._level)
            C[self._diagonal] -= shift
            X.flat[:: len(X) + 1] -= shift
        C *= self._slopes
        Q = self._gemm(1.0, self._near, C)
        return np.asarray(self._syr2k(-1.0, self._range, Q, beta=1.0, c=X, overwrite_c=True).T)


class NearCone(NearProjection):
    """The projection on the cone of positive semidefinite matrices, by the same formula: w = max(γ, 0), δ = 0."""

    def __init__(self) -> None:
        self._level = np.zeros(0, dtype=np.intp)
        self._steps: list[int] | None = None  # of each renewal since the last decomposition

    def _weigh(self, values: Array) -> tuple[Array, AnyArray]:
        return np.maximum(values, 0.0), values > 0.0

    def _threshold(self, values: AnyArray) -> float:
        return 0.0

    def inside(self, P: Array) -> Array:
        """Return the columns of P, projected on the range of the matrix projected."""
        part = np.asarray(self._range @ (self._range.T @ P))
        return P - part if self._whole else part
