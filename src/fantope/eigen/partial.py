"""Leading eigenpairs of a slowly changing symmetric matrix, warm-started.

Successive matrices of a splitting method differ little, and so do their leading eigenvectors. A block Krylov
method started from the last eigenspace needs a few products with a thin block, where LAPACK would take O(p³).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fantope.eigen.lapack import largest_eigenpairs, orthonormal
from fantope.typing import Array

# Measured on one thread. LAPACK wins on small matrices, and on those of a few hundred variables when many eigenpairs
# are needed or when they lie in a cluster, which block methods resolve slowly.
DENSE_BELOW = 40  # variables
DENSE_SHARE = 20  # LAPACK when this many times the block size exceeds the number of variables by DENSE_OFFSET
DENSE_OFFSET = 120
SLOW = 6  # block products in a call after which the next calls go to LAPACK …
REST = 10  # … this many of them, …
SLOW_UP_TO = 1000  # … if the matrix is not larger than this
PART = 6  # less than 1/PART of the spectrum is cheaper to compute by itself than all of it
BUFFER = 3  # vectors beyond the needed ones: they set the rate at which the needed ones converge
MAX_BLOCKS = 5  # blocks in the Krylov basis before it is compressed to the leading ones
MAX_PRODUCTS = 24  # block products before LAPACK takes over


class Eigenspace:
    """The leading eigenpairs of a matrix, kept as the start for the next matrix.

    ``start`` are approximate leading eigenvectors, as rows; without it the first call is a full decomposition. ``seed``
    is that of the random directions that fill up the block.
    """

    def __init__(self, start: Array | None = None, seed: int = 0) -> None:
        self.basis = start
        self._random = np.random.default_rng(seed)
        self._resting = 0

    def leading(
        self, G: Array, enough: Callable[[Array], int], tol: float = 0.0, relative: float = 0.0
    ) -> tuple[Array, Array]:
        """Return the leading eigenvalues of ``G`` in descending order, and their eigenvectors as rows.

        ``enough(values)`` says how many of the leading values matter, given those found so far; the answer is
        complete once at least one computed value does not matter. The Frobenius norm of the residual of the
        vectors returned is at most ``tol``, or ``relative`` times the largest value.

        Eigenvectors orthogonal to the start and its buffer may be missed, as with any Krylov method. Over the
        iterations of a solver the buffer finds them; certificates do not rely on it.
        """
        m = G.shape[0]
        if self.basis is None or m < DENSE_BELOW or self.crowded(len(self.basis), m) or self._resting > 0:
            self._resting = max(self._resting - 1, 0)
            return self._dense(G, enough)
        Q = orthonormal(self.basis.T)
        GQ = G @ Q
        for product in range(1, MAX_PRODUCTS + 1):
            values, C = np.linalg.eigh(Q.T @ GQ)
            values, C = values[::-1], C[:, ::-1]
            needed = enough(values)
            keep = min(needed + BUFFER, len(values))
            if self.crowded(keep, m):
                break
            V, GV = Q @ C[:, :keep], GQ @ C[:, :keep]
            residual = GV - V * values[:keep]
            if needed < len(values) and np.linalg.norm(residual[:, :needed]) <= max(tol, relative * abs(values[0])):
                self.basis = np.ascontiguousarray(V.T)
                self._resting = REST if product > SLOW and m <= SLOW_UP_TO else 0
                return values[:needed], self.basis[:needed]
            if Q.shape[1] + keep > MAX_BLOCKS * keep:
                Q, GQ = V, GV
            if needed == len(values):
                residual = np.hstack([residual, self._random.standard_normal((m, BUFFER))])
            P = self._complement(Q, residual)
            if P.shape[1] == 0:
                break
            Q, GQ = np.hstack([Q, P]), np.hstack([GQ, G @ P])
        return self._dense(G, enough)

    @staticmethod
    def crowded(size: int, m: int) -> bool:
        """Whether this many eigenpairs of m are better left to LAPACK."""
        return DENSE_SHARE * size > m + DENSE_OFFSET

    def _dense(self, G: Array, enough: Callable[[Array], int]) -> tuple[Array, Array]:
        m = len(G)
        guess = m if self.basis is None else len(self.basis) + BUFFER
        while PART * guess < m:
            values, rows = largest_eigenpairs(G, guess)
            if enough(values) < guess:
                break
            guess *= 2
        else:
            values, rows = largest_eigenpairs(G, m)
        needed = enough(values)
        self.basis = np.ascontiguousarray(rows[: needed + BUFFER])
        return values[:needed], self.basis[:needed]

    @staticmethod
    def _complement(Q: Array, block: Array) -> Array:
        """Orthonormal basis of what ``block`` adds to the range of ``Q``."""
        norms = np.linalg.norm(block, axis=0)
        block = block[:, norms > 1e-14] / norms[norms > 1e-14]
        for _ in range(2):  # twice is enough (Kahan)
            block = block - Q @ (Q.T @ block)
        P, R = np.linalg.qr(block)
        return P[:, np.abs(np.diag(R)) > 1e-10]
