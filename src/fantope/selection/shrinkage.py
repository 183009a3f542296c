"""Loadings estimated anew on the variables that were found: as much of each as is not noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from fantope.errors import require
from fantope.problem.sparse_basis import sparse_basis
from fantope.solvers.validation import check_covariance
from fantope.typing import Array, IntArray

CLEAR = 3.0  # standard errors from which on a loading counts as one when the mixture is first guessed
ROUNDS = 200  # of EM; a few dozen are usual
NO_VARIANCE = 1e-12  # of a variable's own: what regression leaves is at least that


def shrink_loadings(S: Any, components: Any, n_samples: int) -> Array:
    """Return components on the same variables, each loading shrunk by as much as its noise warrants.

    In the sparse basis W of the subspace every variable is regressed on the scores: loadings L = S W (WᵀSW)⁻¹ with
    their standard errors s. Those of one component, of all p variables, are taken for a mixture: most are nothing but
    noise, N(0, s²), the others N(±m, τ² + s²), with m, τ and the share found by maximum likelihood (EM). What is
    returned are the posterior means on the variables in use. So a loading that cannot be told from zero, as those of a
    component on another's variables, is pulled towards it, and clear ones towards each other as far as the data say
    that they are alike; loadings that differ by more than noise stay as they are. The data's unit does not matter.

    A component with fewer than two clear loadings, and all of them where S leaves nothing to estimate noise from,
    stay as they are.

    Parameters
    ----------
    S : (p, p) array or covariance operator
    components : (d, p) array
        Orthonormal rows.
    n_samples : int
        Behind S.

    Returns
    -------
    (d, p) array
        Orthonormal rows that diagonalise V S Vᵀ, by descending variance; largest entries positive.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 200, random_state=1)
    >>> S = fantope.covariance(sim.Z)
    >>> sol = fantope.solve(S, 2, fantope.penalties.MCP(0.35))
    >>> V = shrink_loadings(S, sol.components, 100)
    >>> bool(sim.recovery(V).error < 0.9 * sim.recovery(sol.components).error)
    True
    """
    covariance = check_covariance(S)
    V = np.asarray(components, dtype=np.float64)
    require(
        V.ndim == 2 and V.shape[1] == covariance.size,
        "components", f"be a (d, {covariance.size}) array", f"shape {V.shape}",
    )  # fmt: skip
    rows = np.flatnonzero((V != 0.0).any(axis=0))
    W = sparse_basis(V[:, rows].T)
    block = covariance.block(rows, rows)
    found = _regress(covariance, rows, W, W.T @ block @ W, n_samples)
    if found is None:
        return V
    L, errors = found
    shrunk = np.column_stack([_posterior_mean(x, s) for x, s in zip(L.T, errors.T, strict=True)])[rows]
    basis, triangle = np.linalg.qr(shrunk)
    if np.abs(np.diagonal(triangle)).min() < 1e-6 * np.abs(triangle).max():
        return V
    _, rotation = np.linalg.eigh(basis.T @ block @ basis)
    own = (basis @ rotation[:, ::-1]).T
    own[:, (shrunk == 0.0).all(axis=1)] = 0.0
    own *= np.sign(own[np.arange(len(own)), np.abs(own).argmax(axis=1)])[:, None]
    result = np.zeros_like(V)
    result[:, rows] = own
    return result


def _regress(S: Any, rows: IntArray, W: Array, gram: Array, n: int) -> tuple[Array, Array] | None:
    """Return (p, d) loadings of every variable on the scores and their standard errors; None if there are none."""
    d = W.shape[1]
    if n - d - 1 < 1 or np.linalg.eigvalsh(gram)[0] <= NO_VARIANCE * np.trace(gram):
        return None
    wide = np.zeros((S.size, d))
    wide[rows] = W
    inverse = np.linalg.inv(gram)
    L = S.matmul(wide) @ inverse
    variances = np.maximum(S.diagonal(), 0.0)
    rest = np.maximum(variances - ((L @ gram) * L).sum(axis=1), NO_VARIANCE * variances)
    return L, np.sqrt(np.outer(rest, np.diagonal(inverse)) / (n - d - 1))


def _posterior_mean(x: Array, s: Array) -> Array:
    """Return E(θ | x) for x = θ + N(0, s²), θ zero or N(±m, τ²), with the share of each, m and τ² by EM."""
    clear = np.abs(x) > CLEAR * s
    if clear.sum() < 2:
        return x
    noisy = s > 0.0
    size, noise = np.abs(x[noisy]), s[noisy] ** 2
    sure = size[clear[noisy]]
    share, m = float(clear.mean()), float(sure.mean())
    spread = max(float(sure.var()) - float(noise[clear[noisy]].mean()), 0.0)
    for _ in range(ROUNDS):
        total = noise + spread
        logs = np.array(
            [
                np.log(2.0 * (1.0 - share)) - 0.5 * (size**2 / noise + np.log(noise)),
                np.log(share) - 0.5 * ((size - m) ** 2 / total + np.log(total)),
                np.log(share) - 0.5 * ((size + m) ** 2 / total + np.log(total)),
            ]
        )
        odds = np.exp(logs - logs.max(axis=0))
        _, same, opposite = odds / odds.sum(axis=0)
        kept = spread / total
        here, there = m + kept * (size - m), -m + kept * (size + m)
        amount = float((same + opposite).sum())
        before = share, m, spread
        # A share of 0 or 1 would never change again.
        share = min(max(amount, 1.0), len(size) - 1.0) / len(size)
        m = float((same * here - opposite * there).sum()) / amount
        deviation = same * (here - m) ** 2 + opposite * (there + m) ** 2 + (same + opposite) * kept * noise
        spread = float(deviation.sum()) / amount
        if np.allclose(before, (share, m, spread), rtol=1e-6, atol=0.0):
            break
    result = x.copy()
    result[noisy] = np.sign(x[noisy]) * (same * here + opposite * there)
    return result
