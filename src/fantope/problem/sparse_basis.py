"""The orthonormal basis of a subspace with the smallest ℓ₁ norm: each component on as few variables as can be.

Along a rotation of two columns by θ the norm is Σ r_i (|cos(φ_i − θ)| + |sin(φ_i − θ)|), with r_i, φ_i the polar
coordinates of row i. Between the angles at which an entry is zero every term is concave, so the smallest value is at
one of these angles: all k of them are looked at. Sweeps over the pairs of columns go on until no pair gains. With two
columns that is the global minimum; with more there may be several local ones, and the best of many starts is taken.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import scipy.linalg

from fantope.typing import Array

SWEEPS = 100
STARTS = 12  # random ones, of a fixed seed, beside the two that are computed
GAIN = 1e-12  # of the norm, relatively, below which a rotation is not worth making
ZERO = 1e-12  # entries below it are the zeros that a rotation has made, up to rounding


def sparse_basis(V: Array) -> Array:
    """Return V R with the rotation R that makes ‖V R‖₁ smallest; the columns of V are orthonormal.

    Examples
    --------
    >>> V = np.array([[0.6, 0.8], [0.0, 0.0], [0.8, -0.6]])
    >>> np.abs(sparse_basis(V)).sum()
    np.float64(2.0)
    """
    d = V.shape[1]
    if d == 1:
        return V.copy()
    rng = np.random.default_rng(0)
    # Rows chosen by pivoting as axes: for a subspace with one variable of its own in each component, the answer.
    pivots = scipy.linalg.qr(V.T, mode="r", pivoting=True)[1][:d]
    left, _, right = np.linalg.svd(V[pivots].T)
    starts = [V, V @ (left @ right)]
    if d > 2:
        starts += [V @ np.linalg.qr(rng.standard_normal((d, d)))[0] for _ in range(STARTS)]
    found = min((_descend(start) for start in starts), key=lambda basis: round(float(np.abs(basis).sum()), 9))
    found[np.abs(found) < ZERO] = 0.0
    return found


def _descend(V: Array) -> Array:
    """Rotate pairs of columns as long as the norm falls."""
    V = V.copy()
    for _ in range(SWEEPS):
        before = float(np.abs(V).sum())
        for i, j in combinations(range(V.shape[1]), 2):
            cos, sin = _best_angle(V[:, i], V[:, j])
            V[:, i], V[:, j] = cos * V[:, i] + sin * V[:, j], cos * V[:, j] - sin * V[:, i]
        if float(np.abs(V).sum()) >= (1.0 - GAIN) * before:
            return V
    return V


def _best_angle(a: Array, b: Array) -> tuple[float, float]:
    """Return cos θ and sin θ of the rotation of two columns with the smallest ℓ₁ norm; none unless it gains."""
    size, angle = np.hypot(a, b), np.mod(np.arctan2(b, a), 0.5 * np.pi)
    order = np.argsort(angle, kind="stable")
    size, angle = size[order], angle[order]
    cos, sin = size * np.cos(angle), size * np.sin(angle)
    # Rows from the angle on count with +sin(φ − θ), those before with −sin(φ − θ).
    after_sin, after_cos = (part.sum() - 2.0 * (np.cumsum(part) - part) for part in (sin, cos))
    c, s = np.cos(angle), np.sin(angle)
    norms = c * (cos.sum() + after_sin) + s * (sin.sum() - after_cos)
    k = int(np.argmin(norms))
    if norms[k] >= (1.0 - GAIN) * float(np.abs(a).sum() + np.abs(b).sum()):
        return 1.0, 0.0
    return float(c[k]), float(s[k])
