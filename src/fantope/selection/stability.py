"""Which variables are in use in most random halves of the samples, and how many of them are there by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fantope.errors import require
from fantope.operators import covariance
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
    """

    frequency: Array
    selected: IntArray
    threshold: float
    mean_size: float
    error_bound: float
    n_subsamples: int


def stability_selection(
    X: Any,
    n_components: int,
    alpha: float,
    *,
    kind: Literal["covariance", "correlation"] = "covariance",
    threshold: float = 0.75,
    n_subsamples: int = 50,
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
    values = np.asarray(X, dtype=np.float64)
    if values.ndim != 2 or len(values) < 4:
        raise ValueError(f"X must be an (n, p) array with at least 4 rows, got shape {values.shape}.")
    if not 0.5 < threshold <= 1.0:
        raise ValueError(
            f"threshold must be above 0.5 and at most 1, got {threshold!r}: the bound on the number of errors needs it."
        )
    require(n_subsamples >= 2, "n_subsamples", "be at least 2", repr(n_subsamples))
    n, p = values.shape
    rng = np.random.default_rng(random_state)
    counts = np.zeros(p)
    for _ in range(n_subsamples):
        rows = np.sort(rng.permutation(n)[: n // 2])
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
    )
