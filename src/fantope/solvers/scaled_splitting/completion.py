"""A matrix near the sparse iterate that has its zeros and, nearly, no negative eigenvalues.

Y has zeros, and small negative eigenvalues. The E that would mend them solves

    min Σ e_ij²/(2w_ij) + ⟨Z, E⟩   over E with Y + E ⪰ 0,

where w is zero where Y is, and Z, the multiplier of X ⪰ 0 that the iteration has, keeps Y + E on the face of the dual
point. Then E = W∘L, where Z + L ⪰ 0 is the multiplier of A = Y + E ⪰ 0: A is the positive part of A − Z − L. Newton's
step for this equation from X and Z, N the eigenvectors of X − Z to γ ≤ 0 and V those to γ > 0, is in blocks

    (W∘L)_NN = −Y_NN,   (W∘L)_VN + (γ_V/|γ_N|)∘L_VN = −Y_VN,   L_VV = 0,

solved by conjugate gradients. The VN block matters as much as NN: X has many eigenvalues next to zero, and what couples
them to the null space makes them negative. (p = 400, λ = √(log p/T), t = 41, iteration 73: from NN alone the answer had
a gap of 3.3 times the tolerance, from both 1.6.) A second step halves the gap again, and costs what it saves.
"""

from __future__ import annotations

import math

import numpy as np

from fantope.kernels.scaled_splitting.products import masked_congruence
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.typing import AnyArray, Array

ROOT = np.float32(math.sqrt(2.0))  # L_VN stands for two blocks: in this unit one has the norm of both
HALF = np.float32(0.5)


def completed(Y: Array, X: Array, values: Array, vectors: AnyArray, weights: AnyArray, schedule: Schedule) -> Array:
    """Return Y + E, with the zeros of ``weights``, W.

    ``values`` are the lowest eigenvalues of X − Z, ascending, and ``vectors``, as columns, their eigenvectors; others
    are left as they are. Single precision is enough for a correction that is as small as X − Y.
    """
    k = int(np.count_nonzero(values <= 0.0))
    if k == 0:
        return Y
    units = np.ones((len(values), 1), np.float32)
    units[k:] = ROOT
    vectors = np.ascontiguousarray(vectors)
    basis, few = vectors * units.T, vectors[:, :k]
    right = units * (vectors.T @ ((X - Y).astype(np.float32) @ few))
    extra = np.zeros_like(right)
    extra[k:] = np.minimum(values[k:, None] / np.maximum(-values[:k], 1e-30), 1e6)
    extra += schedule.completion_ridge
    # By the diagonal of the operator: eigenvectors on rows of small weights are slow otherwise.
    scale = 1.0 / ((vectors**2).T @ (weights @ few**2) + extra)
    E, masked, step = np.zeros_like(weights), np.empty_like(weights), scale * right
    enough, size = schedule.completion_accuracy**2 * _dot(right, right), _dot(right, step)
    for _ in range(schedule.completion_steps):
        if _dot(right, right) <= enough:
            break
        image = masked_congruence(weights, basis, k, HALF * step, masked) + extra * step
        length = np.float32(size / _dot(step, image))
        right -= length * image
        masked *= length
        E += masked
        scaled = scale * right
        size, before = _dot(right, scaled), size
        step = scaled + np.float32(size / before) * step
    return np.asarray(Y + HALF * (E + E.T))


def _dot(a: AnyArray, b: AnyArray) -> float:
    return float(np.vdot(a, b))
