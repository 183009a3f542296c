"""Stability integrated along the path: which variables are in use, and how many of them are there by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fantope.errors import require
from fantope.operators import covariance
from fantope.path.walk import Walk
from fantope.penalties import L1
from fantope.problem.decomposition import largest_alpha
from fantope.selection.samples import as_samples
from fantope.solvers.validation import check_covariance, check_n_components, check_tol
from fantope.typing import Array, IntArray

RANGE = 0.1  # of an automatic grid's smallest to its largest alpha
STRIP = 2  # alphas from which on it is asked whether the cutoff is reached


@dataclass(frozen=True, eq=False)
class IntegratedStability:
    """Scores of all variables, and how many false ones to expect among those that score at least as high.

    Attributes
    ----------
    efp : (p,) array
        For each variable the bound on the expected number of false positives among all that are at least as stable;
        infinite for variables that were hardly ever in use. Keeping those with efp ≤ E bounds the number by E.
    selected : array of int
        Variables with efp of at most ``max_false``.
    max_false : float
    score : (p,) array
        ∫ h(frequency) over the alphas, h(x) = (2x − 1)^m for x > 1/2, else 0.
    alphas : (k,) array
        In descending order: those that were integrated over.
    frequency : (k, p) array
        Share of the halves in which a variable was in use.
    mean_size : (k,) array
        q, the mean number of variables in use in a half.
    integral : float
        What the bound is, times the score.
    n_pairs : int
    """

    efp: Array
    selected: IntArray
    max_false: float
    score: Array
    alphas: Array
    frequency: Array
    mean_size: Array
    integral: float
    n_pairs: int


def integrated_stability(
    X: Any,
    n_components: int,
    alphas: Any = None,
    *,
    kind: Literal["covariance", "correlation"] = "covariance",
    max_false: float = 1.0,
    n_pairs: int = 25,
    power: Literal[2, 3] = 3,
    n_alphas: int = 15,
    cutoff: float = 0.05,
    tol: float = 1e-2,
    random_state: int = 0,
) -> IntegratedStability:
    """Solve a path in complementary halves of the samples and select by frequencies integrated along it.

    Integrated path stability selection (Melikechi and Miller, 2024). In each of B pairs the samples are split into two
    halves. With f_j(alpha) the share of the 2B halves in which variable j is in use, 2f_j − 1 is at most the share of
    pairs with j in both halves. If a variable without a signal is in both halves of m pairs with probability at most
    (q/p)^2m, q(alpha) the mean number of variables in use, then summed over all p variables the mean of
    (2f_j − 1)³ where it is positive is at most

        q²/(B²p) + 3(B − 1)q⁴/(B²p³) + (B − 1)(B − 2)q⁶/(B²p⁵),

    or q²/(Bp) + (B − 1)q⁴/(Bp³) for the square. Integrated over alpha (evenly on a log scale) and divided by a score,
    this bounds the expected number of false positives with at least that score. It is far smaller than Meinshausen
    and Bühlmann's q²/((2π − 1)p), and there is neither an alpha nor a threshold to choose.

    Parameters
    ----------
    X : (n, p) array
    n_components : int
    alphas : sequence of float, optional
        By default ``n_alphas`` values from the largest |S_ij| down, as far as the integral of the bound stays below
        ``cutoff``: where variables enter by chance there is nothing left to learn.
    kind : {"covariance", "correlation"}
    max_false : float, default 1
        Expected number of false positives to allow.
    n_pairs : int, default 25
        B.
    power : {2, 3}
        m.
    n_alphas : int, default 15
    cutoff : float, default 0.05
        The integral of the bound at which an automatic grid ends. Where a large share of the variables has a signal, a
        larger one finds more of them.
    tol : float, default 1e-2
        Relative gap of each solution.
    random_state : int, default 0

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(200, 60, sizes=(8, 6))
    >>> found = fantope.selection.integrated_stability(sim.Z, 2, n_pairs=10)
    >>> found.selected.tolist() == list(range(14))
    True
    """
    values = as_samples(X, 4)
    n, p = values.shape
    require(max_false > 0.0, "max_false", "be a positive number", repr(max_false))
    require(n_pairs >= 2, "n_pairs", "be at least 2", repr(n_pairs))
    require(cutoff > 0.0, "cutoff", "be a positive number", repr(cutoff))
    require(power in (2, 3), "power", "be 2 or 3", repr(power))
    d = check_n_components(n_components, p)
    grid = _grid(covariance(values, kind=kind), alphas, n_alphas)
    rng = np.random.default_rng(random_state)
    halves = []
    for _ in range(n_pairs):
        order = rng.permutation(n)
        halves += [np.sort(order[: n // 2]), np.sort(order[n // 2 : 2 * (n // 2)])]
    walks = [Walk(check_covariance(covariance(values[rows], kind=kind)), d, check_tol(tol, p)) for rows in halves]
    frequency, terms = np.zeros((len(grid), p)), np.zeros(len(grid))
    used = 0
    for k, alpha in enumerate(grid):
        for walk in walks:
            frequency[k, walk.solve(float(alpha), ahead=float(grid[min(k + 3, len(grid) - 1)])).support] += 1.0
            del walk.solutions[:-1]
        frequency[k] /= len(walks)
        terms[k] = _bound(float(frequency[k].sum()), p, n_pairs, power)
        used = k + 1
        if alphas is None and k >= STRIP and terms[:used].mean() > cutoff:
            break
    frequency, integral = frequency[:used], float(terms[:used].mean())
    score = np.where(frequency > 0.5, (2.0 * frequency - 1.0) ** power, 0.0).mean(axis=0)
    with np.errstate(divide="ignore"):
        efp = np.where(score > 0.0, integral / score, np.inf)
    return IntegratedStability(
        efp, np.flatnonzero(efp <= max_false), max_false, score, grid[:used], frequency, frequency.sum(axis=1),
        integral, n_pairs,
    )  # fmt: skip


def _grid(S: Any, alphas: Any, n_alphas: int) -> Array:
    if alphas is not None:
        grid = np.unique(np.asarray(alphas, dtype=np.float64))[::-1]
        require(len(grid) > 0 and bool((grid > 0).all()), "alphas", "hold positive numbers", repr(alphas))
        return grid
    require(n_alphas >= 2, "n_alphas", "be at least 2", repr(n_alphas))
    return np.asarray(largest_alpha(S, L1(0.0)) * np.geomspace(1.0, RANGE, n_alphas))


def _bound(q: float, p: int, pairs: int, power: int) -> float:
    """Return the sum over p variables of the mean of (share of pairs with both)^power, at most."""
    both = (q / p) ** 2  # of one pair
    if power == 2:
        return p * (both + (pairs - 1) * both**2) / pairs
    return p * (both + 3 * (pairs - 1) * both**2 + (pairs - 1) * (pairs - 2) * both**3) / pairs**2
