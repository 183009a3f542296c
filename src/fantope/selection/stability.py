"""Which variables are in use in most random halves of the samples, and how many of them are there by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fantope.errors import require
from fantope.operators import covariance
from fantope.selection.samples import as_samples
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array, IntArray


@dataclass(frozen=True, eq=False)
class Stability:
    """How often each variable was in use.

    Attributes
    ----------
    frequency : (p,) array
        Share of the subsamples in which a variable was in use.
    selected : array of int
        Variables with frequency of at least ``threshold``.
    threshold : float
    mean_size : float
        q, the mean number of variables in use in a subsample.
    error_bound : float
        Upper bound q² / ((2·threshold − 1)·p) on the expected number of variables selected by chance.
    n_subsamples : int
    pairs_bound : float
        Shah and Samworth's bound, smaller and with fewer assumptions; NaN unless the halves are complementary.
    """

    frequency: Array
    selected: IntArray
    threshold: float
    mean_size: float
    error_bound: float
    n_subsamples: int
    pairs_bound: float = float("nan")


def stability_selection(
    X: Any,
    n_components: int,
    alpha: float,
    *,
    kind: Literal["covariance", "correlation"] = "covariance",
    threshold: float = 0.75,
    n_subsamples: int = 50,
    complementary: bool = False,
    tol: float = 1e-2,
    random_state: int = 0,
) -> Stability:
    """Solve in random halves of the samples and keep the variables that are nearly always in use.

    Meinshausen and Bühlmann (JRSS B 72, 2010): if variables without a signal are exchangeable and are not selected more
    easily than those with one, the expected number of them whose frequency reaches a threshold π > 1/2 is at most
    q²/((2π − 1)p), where q is the mean number of variables in use. The bound says nothing about variables that are
    correlated with the signal: they are no noise.

    Parameters
    ----------
    X : (n, p) array
    n_components : int
    alpha : float
    kind : {"covariance", "correlation"}
    threshold : float, default 0.75
        π, above 0.5 and at most 1.
    n_subsamples : int, default 50
    complementary : bool, default False
        Take halves in pairs that share no sample, and add the bound of Shah and Samworth (JRSS B 75, 2013). It is
        on the expected number of variables that are selected though a half has them with probability q/p or less,
        asks for no exchangeability, but for frequencies with a single peak.
    tol : float, default 1e-2
        Relative gap; each solution is certified, and none of them is shown.
    random_state : int, default 0

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(200, 60, sizes=(8, 6))
    >>> found = stability_selection(sim.Z, 2, 0.6, n_subsamples=20)
    >>> [i for i in found.selected if i >= 14], found.error_bound < 10
    ([], True)
    """
    values = as_samples(X, 4)
    if not 0.5 < threshold <= 1.0:
        raise ValueError(
            f"threshold must be above 0.5 and at most 1, got {threshold!r}: the bound on the number of errors needs it."
        )
    if complementary and n_subsamples % 2:
        raise ValueError(f"n_subsamples must be even with complementary halves, got {n_subsamples!r}.")
    require(n_subsamples >= 2, "n_subsamples", "be at least 2", repr(n_subsamples))
    n, p = values.shape
    rng = np.random.default_rng(random_state)
    counts = np.zeros(p)
    order = rng.permutation(n)
    for each in range(n_subsamples):
        if complementary and each % 2:
            rows = np.sort(order[n // 2 : 2 * (n // 2)])
        else:
            order = rng.permutation(n) if each else order
            rows = np.sort(order[: n // 2])
        S = covariance(values[rows], kind=kind)
        counts[solve_to_the_end(S, n_components, alpha, tol=tol).support] += 1.0
    frequency = counts / n_subsamples
    size = float(frequency.sum())
    return Stability(
        frequency=frequency,
        selected=np.flatnonzero(frequency >= threshold),
        threshold=threshold,
        mean_size=size,
        error_bound=size**2 / ((2.0 * threshold - 1.0) * p),
        n_subsamples=n_subsamples,
        pairs_bound=_pairs_bound(size, p, threshold, n_subsamples // 2) if complementary else float("nan"),
    )


def _pairs_bound(q: float, p: int, threshold: float, pairs: int) -> float:
    """Return C(threshold, pairs)·θ·q, θ = q/p, of Shah and Samworth's theorem 2; theorem 1's where it says nothing."""
    share, step = q / p, 0.5 / pairs
    plain = share * q / (2.0 * threshold - 1.0)
    if share > 3**-0.5 or threshold <= min(0.5 + share**2, 0.5 + step + 0.75 * share**2) or 2 * threshold - 1 <= step:
        return plain
    if threshold <= 0.75:
        factor = 1.0 / (2.0 * (2.0 * threshold - 1.0 - step))
    else:
        factor = 4.0 * (1.0 - threshold + step) / (1.0 + 1.0 / pairs)
    return min(factor * share * q, plain)
