"""The passes of a splitting method with few decompositions, over lower triangles: half the memory of whole arrays.

What is done in every iteration is compiled. What is done once for each decomposition, whose cost is far above that of
any pass, is not: a fresh install has less to compile before its first answer.
"""

from __future__ import annotations

import numpy as np
from numba import prange

from fantope.kernels.build import build
from fantope.typing import AnyArray, Array


@build
def near_pass(Z, base, X, limits, inverse_rho, relax, change, total):  # type: ignore[no-untyped-def]
    """Update the state Z = Y + W in place, given X; write ``change`` = Y − W + ``base`` for the new Y and W.

    Y = Z soft-thresholded at limits/ρ, W = Z − Y, which is added to ``total``. ``limits`` is an array even where all
    are equal: a second build for a number would take a second to compile, and runs a tenth faster. Returns
    ``[‖X − Y⁺‖², ‖Y⁺ − Y‖², ‖W⁺‖², misfit/ρ]``, the last one of X and U = ρ(``base`` + X) as in :func:`misfit`.
    """
    m = Z.shape[0]
    sums = np.empty((m, 4))
    for h in prange(m):
        i = h // 2 if h % 2 == 0 else m - 1 - h // 2  # short and long rows by turns: equal work for each thread
        primal = dual = multiplier = off = 0.0
        for j in range(i + 1):
            z = Z[i, j]
            x = X[i, j]
            threshold = limits[i, j] * inverse_rho
            w = min(max(z, -threshold), threshold)
            y = z - w
            z = relax * x + (1.0 - relax) * y + w
            w = min(max(z, -threshold), threshold)
            new = z - w
            Z[i, j] = z
            total[i, j] += w
            change[i, j] = new - w + base[i, j]
            finite = threshold if threshold < np.inf else 0.0
            u = min(max(x + base[i, j], -finite), finite)
            count = 2.0 if j < i else 1.0
            off += count * (finite * abs(x) - x * u)
            primal += count * (x - new) * (x - new)
            dual += count * (new - y) * (new - y)
            multiplier += count * w * w
        sums[i, 0] = primal
        sums[i, 1] = dual
        sums[i, 2] = multiplier
        sums[i, 3] = off
    return sums


def target(Z: Array, S: Array, G: Array, limits: Array, inverse_rho: float, work: Array, lower: Array) -> float:
    """Write G = Y − W + S/ρ, what is projected next; return ‖S/ρ − W‖².

    ``lower`` is 2 below the diagonal, 1 on it and 0 above. ``work``, two arrays, is overwritten here and in ``misfit``:
    arrays that come and go take five times as long, in page faults, as the arithmetic (measured at p = 200).
    """
    W = _clipped(Z, np.multiply(limits, inverse_rho, out=work[1]), work[0])
    np.subtract(Z, W, out=G)
    free = np.subtract(np.multiply(S, inverse_rho, out=work[1]), W, out=W)
    G += free
    return float(np.vdot(np.square(free, out=work[1]), lower))


def misfit(X: AnyArray, U: Array, limits: Array, work: Array) -> float:
    """Return Σ limits_ij|X_ij| − ⟨X, U clipped to the box⟩ from lower triangles; limits are finite.

    X is zero above its diagonal; U may be ``work[1]``. With the U that attains X this is how far X is from the clipped
    U's bound, to first order; it is never negative.
    """
    inside = _clipped(U, limits, work[0])
    off = np.subtract(np.copysign(limits, X, out=work[1]), inside, out=work[1])
    off *= X
    return float(2.0 * off.sum() - off.trace())


def _clipped(A: Array, limits: Array, out: Array) -> Array:
    """Write A, clipped to ±limits, to another array."""
    np.minimum(np.abs(A, out=out), limits, out=out)
    return np.copysign(out, A, out=out)


def mirror(A: Array) -> None:
    """Copy the lower triangle of A to the upper one, in place."""
    np.copyto(A, A.T.copy(), where=np.tri(len(A), k=-1, dtype=bool).T)


def rescale(Z: Array, limits: Array, inverse_rho: float, factor: float) -> None:
    """Change the penalty ρ by ``factor``: Y stays, the scaled multiplier W shrinks."""
    threshold = inverse_rho * limits
    W = np.clip(Z, -threshold, threshold)
    W *= 1.0 - 1.0 / factor
    Z -= W
