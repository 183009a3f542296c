"""The linear systems of the interior-point method: Σ_k A_k X A_k + D∘X + θI = R with tr X = 0, A_k positive definite.

They have p(p + 1)/2 unknowns, a product with them costs p³. Conjugate gradients solve them: while the iterates of the
method are well inside, as they are; then with a Cholesky factor in single precision, which takes half the time of one
in double precision and a few products more; near the edge, where that is not accurate enough, with one in double.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy.linalg

from fantope.typing import AnyArray, Array

UNKNOWNS = 20  # for each product that may be tried before a factorisation
REFINEMENTS = 8  # products with a factor, and as many solutions with it
PRECISIONS = (None, np.float32, np.float64)
RIDGE = 16  # units of rounding, the first that is added to a diagonal of one; the matrix may need more


@dataclass(frozen=True)
class Entries:
    """Entries of the lower triangle, by rows, which stand for a symmetric matrix as a vector of the same norm."""

    rows: AnyArray
    cols: AnyArray

    @cached_property
    def unit(self) -> Array:
        """By what an entry is multiplied."""
        return np.where(self.rows == self.cols, 1.0, np.sqrt(2.0))

    def take(self, A: Array) -> Array:
        """Return the vector of a symmetric matrix."""
        return np.asarray(self.unit * A[self.rows, self.cols])

    def spread(self, x: Array, size: int) -> Array:
        """Return the symmetric matrix of a vector, zero elsewhere."""
        A = np.zeros((size, size))
        A[self.rows, self.cols] = A[self.cols, self.rows] = x / self.unit
        return A


class System:
    """One of them, for several right-hand sides."""

    def __init__(self, entries: Entries, A: Array, D: Array, precision: int) -> None:
        self.entries, self.A, self.D = entries, A, D
        self.precision = precision  # which of PRECISIONS is tried first
        i, j = entries.rows, entries.cols
        own = (A[:, i, i] * A[:, j, j] + A[:, i, j] ** 2).sum(axis=0) * np.where(i == j, 0.5, 1.0)
        # Its entries differ by 1/μ² and more: with a diagonal of one they keep their digits.
        self.scale = 1.0 / np.sqrt(own + D)
        self.trace = self.scale * (i == j)
        self._prepare()

    def solve(self, R: Array, guess: Array, enough: float) -> tuple[Array, float]:
        """Return X and θ with a residual of norm ``enough``, from a guess of X with trace 0, all as vectors."""
        x, theta, solved = self._gradients(R, guess / self.scale, enough)
        while not solved and self.precision < len(PRECISIONS) - 1:
            self.precision += 1
            self._prepare()
            x, theta, solved = self._gradients(R, x, enough)
        return self.scale * x, theta

    def product(self, x: Array) -> Array:
        """Return Σ_k A_k X A_k + D∘X."""
        X = self.entries.spread(x, self.A.shape[1])
        return np.asarray(self.entries.take((self.A @ X @ self.A).sum(axis=0)) + self.D * x)

    def _gradients(self, R: Array, x: Array, enough: float) -> tuple[Array, float, bool]:
        """Run conjugate gradients among the X of trace 0 from x on, for the system with a diagonal of one."""
        across = self.trace / float(self.trace @ self.trace)
        r, theta = self.scale * (R - self.product(self.scale * x)), 0.0
        direction, last = np.zeros_like(x), np.inf
        left = REFINEMENTS if self.precision else max(REFINEMENTS, len(x) // UNKNOWNS)
        while True:
            theta += float(across @ r)
            r = r - float(across @ r) * self.trace
            solved = bool(np.linalg.norm(r / self.scale) <= enough)
            if solved or not left:
                return x, theta, solved
            left -= 1
            z = self._behind(r)
            z = z - float(self.trace @ z) * self._identity
            size = float(r @ z)
            direction = z + size / last * direction
            image = self.scale * self.product(self.scale * direction)
            step = size / float(direction @ image)
            x, r, last = x + step * direction, r - step * image, size

    def _prepare(self) -> None:
        """Factorise, if it is time to; a matrix that has no factor in single precision gets one in double."""
        kind = PRECISIONS[self.precision]
        if kind is not None:
            self._factor = _factor(self._matrix(kind))
        identity = self._behind(self.trace)
        self._identity = identity / float(self.trace @ identity)

    def _behind(self, r: Array) -> Array:
        """Return r, divided by the matrix as far as the factor stands for it."""
        kind = PRECISIONS[self.precision]
        if kind is None:
            return r
        # LAPACK's solution for several right-hand sides takes ten times as long for one.
        divide = scipy.linalg.get_blas_funcs("trsv", (self._factor,))
        return np.asarray(divide(self._factor, divide(self._factor, r.astype(kind), trans=1)), dtype=np.float64)

    def _matrix(self, kind: type) -> AnyArray:
        """Return the lower triangle of the matrix with a diagonal of one, except the diagonal."""
        i, j = self.entries.rows, self.entries.cols
        scale = (self.scale * np.where(i == j, np.sqrt(0.5), 1.0)).astype(kind)
        H: AnyArray = np.zeros((len(i), len(i)), dtype=kind)
        ends = np.searchsorted(i, np.arange(self.A.shape[1] + 1))
        for A in self.A.astype(kind):
            first, second = A[:, i] * scale, A[:, j]
            for row, (start, end) in enumerate(pairwise(ends)):
                H[start:end, :end] += first[row, :end] * second[j[start:end], :end]
                H[start:end, :end] += second[row, :end] * first[j[start:end], :end]
        H *= scale[:, None]
        return H


def _factor(H: AnyArray) -> AnyArray:
    """Return R, upper triangular, with RᵀR = H with a diagonal of one and as little more as it takes."""
    ridge = RIDGE * np.finfo(H.dtype).eps
    while True:
        try:
            H[np.diag_indices(len(H))] = 1.0 + ridge
            return scipy.linalg.cho_factor(H.T, check_finite=False)[0]  # by columns, as LAPACK has it
        except np.linalg.LinAlgError:
            if ridge > 1e-4:
                raise
            ridge *= 100.0
