"""The certificate of the graphical lasso, computed from S, Θ and W alone and safe against rounding.

    primal:  min  −log det Θ + ⟨S, Θ⟩ + Σ w_ij|Θ_ij|   over Θ ≻ 0
    dual:    max   log det W + p                        over W ≻ 0, |W_ij − S_ij| ≤ w_ij

Any Θ ≻ 0 and any feasible W bracket the optimum: −log det Θ − log det W − p + ⟨W, Θ⟩ ≥ 0, and
⟨W, Θ⟩ ≤ ⟨S, Θ⟩ + Σ w_ij|Θ_ij|. The width of the bracket is in nats, whatever the units of the data.

Both sides need a lower bound of a log-determinant. A Cholesky factorisation in floating point is exact for a matrix
A + E with |E_ij| ≤ γ_{p+1}√(a_ii a_jj)/(1 − γ_{p+1}) (Higham, Accuracy and Stability, theorem 10.3). With a diagonal
between ½ and 2 the norm of E is at most 2pγ: if A − 2pγ·I has a factor L in floating point, then A ⪰ LLᵀ, exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from fantope.typing import Array

UNIT = 2.0**-53
# Rounding of a product and of numpy's pairwise sum, relative to the sum of magnitudes: 16 additions in a row within a
# block and one for each halving, fewer than 60 in all.
SUM = 64.0 * UNIT


@dataclass(frozen=True)
class Weights:
    """The penalty Σ w_ij|Θ_ij|: alpha everywhere, and nothing on the diagonal unless it is asked for."""

    alpha: float
    diagonal: bool = False

    def value(self, Theta: Array) -> float:
        """Return Σ w_ij|Θ_ij|."""
        total = float(np.abs(Theta).sum())
        return self.alpha * (total if self.diagonal else total - float(np.abs(Theta.diagonal()).sum()))

    def into_box(self, W: Array, S: Array) -> Array:
        """Return the symmetric matrix nearest to W with |W_ij − S_ij| ≤ w_ij."""
        # max and min with the ends of the interval, not S + clip(W − S): the sum could round to outside.
        found = np.minimum(np.maximum(0.5 * (W + W.T), S - self.alpha), S + self.alpha)
        np.fill_diagonal(found, S.diagonal() + (self.alpha if self.diagonal else 0.0))
        return np.asarray(found)


def log_det_below(A: Array) -> float:
    """Return a number that log det A is not below; −infinity if A is not shown to be positive definite.

    Examples
    --------
    >>> bool(-1e-12 <= log_det_below(np.eye(3)) <= 0.0), log_det_below(-np.eye(2))
    (True, -inf)
    """
    p, diagonal = len(A), A.diagonal()
    if not (np.isfinite(A).all() and diagonal.min() > 0.0):
        return -math.inf
    # Powers of two near the root of the diagonal: scaling by them is exact.
    half = np.round(0.5 * np.log2(diagonal)).astype(int)
    scaled = np.ldexp(np.ldexp(A, -half[:, None]), -half)
    gamma = (p + 1) * UNIT / (1.0 - (p + 1) * UNIT)
    scaled.flat[:: p + 1] -= 2.5 * p * gamma  # 2, and a half for the rounding of this line
    try:
        L = scipy.linalg.cholesky(scaled, lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return -math.inf
    logs = np.log(L.diagonal())
    total = 2.0 * float(logs.sum()) + 2.0 * math.log(2.0) * int(half.sum())
    return total - 4.0 * SUM * (float(np.abs(logs).sum()) + math.log(2.0) * float(np.abs(half).sum()) + p)


def objective_above(S: Array, Theta: Array, weights: Weights) -> float:
    """Return a number that the primal objective of Θ is not above; infinity if Θ is not shown positive definite."""
    products = S * Theta
    size = float(np.abs(products).sum()) + weights.alpha * float(np.abs(Theta).sum())
    return -log_det_below(Theta) + float(products.sum()) + weights.value(Theta) + 4.0 * SUM * size


def bound_below(W: Array) -> float:
    """Return a number that the dual objective of W, which must be in the box, is not below."""
    return log_det_below(W) + len(W)
