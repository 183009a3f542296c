"""Loadings estimated anew, and with them which variables have a part: as much of each as is not noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.special

from fantope.eigen import one_blas_thread
from fantope.errors import require
from fantope.problem.sparse_basis import sparse_basis
from fantope.solvers.validation import check_covariance
from fantope.typing import Array

CLEAR = 3.0  # standard errors from which on a loading counts as one when the mixture is first guessed
# Probability from which on a variable is kept: in the rounds, where a weak one still helps to find the others, and at
# the end. Median error, precision and recall of (50, 200, (12, 6)) and (100, 200, (5, 4)) of benchmarks.recovery, 100
# draws of other seeds than its own: 0.74, 0.91, 0.93 and 0.86, 0.85, 0.89; with 0.15 for both 0.73, 0.89, 0.94 and
# 0.86, 0.84, 0.91.
HELPS, KEPT = 0.15, 0.2
ALIKE = 0.3  # of the typical loading: what loadings of a component differ by. 0.2 to 0.5 are as good
ROUNDS, FIRST, STEPS = 50, 30, 4  # of regressions; of EM in the first and in each further one. Ten rounds are usual
SETTLED = 1e-3  # change of a loading, of components of norm 1, at which rounds end
TO_AND_FRO = 1e-4  # change since two rounds ago at which they end as well
# Times what PCA of k variables gains by fitting their noise, σ²k/n for each component: a larger loss of variance says
# that loadings are not of the kind that is estimated here (one variable that outweighs all others, say, or hundreds
# that differ by more than noise). On seven models, 6 to 30 draws each, it was 0.8 and less but once (1.5).
LOSS = 2.0
NO_VARIANCE = 1e-12  # of a variable's own: what regression leaves is at least that


def shrink_loadings(S: Any, components: Any, n_samples: int, *, add: bool = False) -> Array:
    """Return the components estimated anew, each loading shrunk by as much as its noise warrants.

    In the sparse basis of the subspace every variable is regressed on the scores, those of the *other* variables, so
    that its own noise does not speak for it, and on one score with its loadings on the others as they were found last.
    How large noise is in one variable is estimated from all of them, as far as they are alike. The p loadings of a
    component are taken for a mixture: most are nothing but noise, N(0, s²) with their standard errors s, the others
    N(±m, τ² + s²); m, τ and the shares are found by maximum likelihood (EM). The posterior means of the variables that
    have a part in a component with a probability of at least 0.15 are the next component, and so on until they settle;
    those below 0.2 are left out in the end.

    So a variable that was kept for its own noise goes, and with ``add`` one that was left out comes in if the component
    speaks for it; loadings that cannot be told from zero are pulled towards it, and clear ones towards each other as
    far as the data say that they are alike; loadings that differ by more than noise stay as they are. The unit of the
    data does not matter, and with ``add`` it hardly does where the rounds begin.

    The components stay as they are where one of them has fewer than two clear loadings, where S leaves nothing to
    estimate noise from, and where the new ones would lose more of their variance than fitting noise can have gained.

    Parameters
    ----------
    S : (p, p) array or covariance operator
    components : (d, p) array
        Orthonormal rows.
    n_samples : int
        Behind S.
    add : bool, default False
        Whether variables that the components do not use may come in.

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
    >>> V = shrink_loadings(S, sol.components, 100, add=True)
    >>> bool(sim.recovery(V).error < 0.9 * sim.recovery(sol.components).error)
    True
    """
    covariance = check_covariance(S)
    V = np.asarray(components, dtype=np.float64)
    require(
        V.ndim == 2 and V.shape[1] == covariance.size,
        "components", f"be a (d, {covariance.size}) array", f"shape {V.shape}",
    )  # fmt: skip
    with one_blas_thread():  # for many small products
        loadings = _settle(covariance, V, n_samples, add)
    if loadings is None:
        return V
    rows = np.flatnonzero(loadings.any(axis=1))
    basis, triangle = np.linalg.qr(loadings[rows])
    if np.abs(np.diagonal(triangle)).min() < 1e-6 * np.abs(triangle).max():
        return V
    values, rotation = np.linalg.eigh(basis.T @ covariance.block(rows, rows) @ basis)
    if values.sum() < _least_variance(covariance, V, n_samples):
        return V
    own = (basis @ rotation[:, ::-1]).T
    own *= np.sign(own[np.arange(len(own)), np.abs(own).argmax(axis=1)])[:, None]
    result = np.zeros_like(V)
    result[:, rows] = own
    return result


def _least_variance(S: Any, V: Array, n: int) -> float:
    """Return the variance of the components, less what they may have gained by fitting noise."""
    used = V.any(axis=0)
    variances = (V * S.matmul(V.T).T).sum(axis=1)
    noise = np.maximum(S.diagonal() - variances @ V**2, 0.0)[used]
    return float(variances.sum() - LOSS * len(V) * noise.sum() / n)


def _settle(S: Any, V: Array, n: int, add: bool) -> Array | None:
    """Return (p, d) loadings, zero where a variable has no part in a component; None if there are none to be had."""
    used = V.any(axis=0)
    W = np.zeros(V.shape[::-1])
    W[used] = sparse_basis(V[:, used].T)
    allowed = np.full_like(used, add) | used
    mixtures: _Mixtures | None = None
    means, before = None, W
    for count in range(1, ROUNDS + 1):
        found = _regress(S, W, n, means)
        if found is None:
            return None
        x, s = (np.ascontiguousarray(each.T) for each in found)  # (d, p)
        steps = STEPS if mixtures else FIRST
        mixtures = mixtures or _guess(x, s)
        if mixtures is None:
            return None
        odds, means = (each.T for each in mixtures.fit(x, s, steps))
        earlier, before, W = before, W, np.where((odds > HELPS) & allowed[:, None], means, 0.0)
        if ((W != 0.0).sum(axis=0) < 2).any():
            return None
        W /= np.linalg.norm(W, axis=0)
        # Some go to and fro between two answers, on noise above all: the rounds would end with the even one.
        if np.abs(W - before).max() < SETTLED or (count % 2 == 0 and np.abs(W - earlier).max() < TO_AND_FRO):
            break
    kept = np.where(odds > KEPT, W, 0.0)
    return None if ((kept != 0.0).sum(axis=0) < 2).any() else kept


def _regress(S: Any, W: Array, n: int, known: Array | None) -> tuple[Array, Array] | None:
    """Return (p, d) loadings of every variable on the scores without it and standard errors; None without any.

    On one score after the other where loadings on the others are ``known``, which is more accurate: most are zero, and
    in few samples scores are correlated. Without, on all of them together.
    """
    d = W.shape[1]
    variances = np.maximum(S.diagonal(), 0.0)
    products = S.matmul(W)
    own = variances[:, None] * W
    cross = W[:, :, None] * products[:, None, :]
    grams = W.T @ products - cross - cross.transpose(0, 2, 1) + own[:, :, None] * W[:, None, :]
    c = products - own
    # Without its own part (I − wwᵀ) of the signal is left in the scores, so that c = grams (I − wwᵀ)⁻¹ loadings, and
    # that inverse is I + wwᵀ/(1 − ‖w‖²).
    left = 1.0 - (W**2).sum(axis=1)
    if n - d - 1 < 1 or not (left > NO_VARIANCE * d).all():
        return None
    spreads = np.einsum("jkk->jk", grams)
    try:  # whether the smallest eigenvalue of each is above that share of their sum
        np.linalg.cholesky(grams - NO_VARIANCE * spreads.sum(axis=1)[:, None, None] * np.eye(d))
    except np.linalg.LinAlgError:
        return None
    explained = (c * np.linalg.solve(grams, c[:, :, None])[:, :, 0]).sum(axis=1)
    rest = np.maximum(variances - explained, NO_VARIANCE * variances)
    pulled = np.einsum("jkl,jl->jk", grams, W) / left[:, None]
    if known is None:
        inverse = np.linalg.inv(grams + pulled[:, :, None] * W[:, None, :])
        L = np.einsum("jkl,jl->jk", inverse, c)
        factors = ((inverse @ grams) * inverse).sum(axis=2)
    else:
        diagonal = spreads + pulled * W
        others = np.einsum("jkl,jl->jk", grams, known) + pulled * (W * known).sum(axis=1)[:, None]
        L = known + (c - others) / diagonal
        factors = spreads / diagonal**2
    return L, np.sqrt(_alike(rest, n - d - 1)[:, None] * factors / (n - d - 1))


def _alike(variances: Array, freedom: int) -> Array:
    """Return variances drawn together, on a log scale, by as much as their differences are sampling error.

    Of the log of a variance with f degrees of freedom that error is trigamma(f/2), its bias digamma(f/2) − log(f/2). If
    noise is about the same in all variables, all p of them tell how large it is, and none counts as clear because its
    own noise came out small; where variances differ by more, each stays nearly as it is.
    """
    positive = variances > 0.0
    logs = np.log(variances[positive])
    if len(logs) < 2:
        return variances
    share = min(1.0, float(scipy.special.polygamma(1, freedom / 2)) / max(float(logs.var(ddof=1)), 1e-300))
    bias = float(scipy.special.digamma(freedom / 2) - np.log(freedom / 2))
    result = variances.copy()
    result[positive] = np.exp(logs + share * (logs.mean() - bias - logs))
    return result


@dataclass
class _Mixtures:
    """Loadings θ: zero, N(m, τ²) with the share ``plus`` or N(−m, τ²) with the share ``minus``; x = θ + N(0, s²).

    One mixture for each component: (d, 1) arrays.
    """

    m: Array
    spread: Array  # τ²
    plus: Array
    minus: Array

    def fit(self, x: Array, s: Array, steps: int) -> tuple[Array, Array]:
        """Take steps of EM; return P(θ ≠ 0 | x) and E(θ | x), (d, p) like x and s."""
        noisy = (s > 0.0).all(axis=0)  # a variable that does not vary has no loading
        values, noise = x[:, noisy], s[:, noisy] ** 2
        squares, count = 0.5 * values**2 / noise, values.shape[1]
        # Where noise ends: with less, weak components may turn into dense ones of noise. With 1.2 times as much m is
        # too large for weak ones, and variables are lost.
        floor = np.sqrt(2.0 * np.log(x.shape[1]) * np.median(noise, axis=1, keepdims=True))
        for _ in range(steps):
            here, there, same, opposite = self._posterior(values, noise, squares)
            of_same, of_both = _sum(same), _sum(same + opposite) + 1e-300
            # A share of 0 or 1 would never change again. Signs have a prior: one of each.
            share = np.minimum(np.maximum(of_both, 1.0), count - 1.0) / count
            self.plus = share * (of_same + 1.0) / (of_both + 2.0)
            self.minus = share - self.plus
            self.m = _sum(same * here - opposite * there) / of_both
            kept = self.spread / (self.spread + noise)
            deviation = same * (here - self.m) ** 2 + opposite * (there + self.m) ** 2
            self.spread = _sum(deviation + (same + opposite) * kept * noise) / of_both
            self.m = np.maximum(self.m, floor)
            self.spread = np.minimum(self.spread, (ALIKE * self.m) ** 2)
        here, there, same, opposite = self._posterior(values, noise, squares)
        odds, means = np.zeros_like(x), np.zeros_like(x)
        odds[:, noisy], means[:, noisy] = same + opposite, same * here + opposite * there
        return odds, means

    def _posterior(self, x: Array, noise: Array, squares: Array) -> tuple[Array, Array, Array, Array]:
        """Return the means of θ if it is about m and if it is about −m, and the probabilities of both."""
        total = noise + self.spread
        above, below = x - self.m, x + self.m
        common = 0.5 * np.log(noise / total) + squares - np.log1p(-self.plus - self.minus)
        same = common + np.log(self.plus) - 0.5 * above**2 / total
        opposite = common + np.log(self.minus) - 0.5 * below**2 / total
        largest = np.maximum(np.maximum(same, opposite), 0.0)
        same, opposite = np.exp(same - largest), np.exp(opposite - largest)
        every = np.exp(-largest) + same + opposite
        kept = self.spread / total
        return self.m + kept * above, kept * below - self.m, same / every, opposite / every


def _guess(x: Array, s: Array) -> _Mixtures | None:
    """Return mixtures whose parts that are not noise are the clear loadings; None if one has fewer than two."""
    clear = np.abs(x) > CLEAR * s
    counts = clear.sum(axis=1, keepdims=True)
    if (counts < 2).any():
        return None
    m = _sum(np.where(clear, np.abs(x), 0.0)) / counts
    differ = _sum(np.where(clear, (np.abs(x) - m) ** 2 - s**2, 0.0)) / counts
    share = np.minimum(counts / x.shape[1], 1.0 - 1.0 / x.shape[1])
    return _Mixtures(m, np.maximum(differ, 0.0), share / 2.0, share / 2.0)


def _sum(values: Array) -> Array:
    """Return sums over variables, as a (d, 1) array."""
    return np.asarray(values.sum(axis=1, keepdims=True))
