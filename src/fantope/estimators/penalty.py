"""The penalty that is used when the user names none."""

from __future__ import annotations

from typing import Any

import numpy as np

from fantope.estimators.moments import Moments
from fantope.penalties import MCP, SCAD, Concave
from fantope.penalties.concave import start_share
from fantope.solvers import Solution, alpha_max, solve
from fantope.solvers.concave import ROUGH

CONCAVE: dict[str, type[Concave]] = {"mcp": MCP, "scad": SCAD}
REACH = 1.44  # in default_concave. 2 is the largest of p noise terms; with a little less, weak variables come back
NOISE = 0.5  # the paper's λ = 0.5√(log p/n) on its model, whose noise variables have variance 1
CEILING = 0.5  # of alpha_max


def named_penalty(penalty: Any, alpha: Any) -> Any:
    """Return what "auto" stands for: "mcp" where alpha is left to the data, "l1" where it is given; or the penalty.

    Without knowledge of the truth MCP came closer to it than ℓ₁ tuned by it on all models of benchmarks.recovery but
    the one with heavy tails. With a given alpha ℓ₁ has an optimum that is certified, and alphas keep their meaning.
    """
    if isinstance(penalty, str) and penalty == "auto":
        return "mcp" if alpha is None else "l1"
    return penalty


def default_alpha(moments: Moments, n_components: int) -> float:
    """Return σ√(log p / n) with σ = 0.5·median of the variances, at most half of ``alpha_max``.

    The theory asks for P(|S_ij − Σ_ij| ≥ u) ≤ 2exp(−4nu²/σ²). For Gaussian data |S_ij − Σ_ij| has variance
    (Σ_ii Σ_jj + Σ_ij²)/n, so σ is proportional to a variance: multiplying the data by c multiplies σ, S and alpha
    by c². Read literally, the inequality gives σ = 2√2·Σ_ii, several times what works; the factor 0.5 is the one of
    the paper's simulations. The median, over the variables that vary at all, is that of a noise variable as long as
    fewer than half carry signal.

    In pure noise the largest off-diagonal entry is about 2·Σ_ii·√(log p / n), four times this alpha. The ceiling
    therefore matters only where p is small or the variances differ widely; it keeps some pair of variables together
    unless S is diagonal.

    Parameters
    ----------
    moments : Moments
        Of the data; without a number of samples there is no default.
    n_components : int

    Examples
    --------
    >>> import numpy as np
    >>> from fantope.estimators.moments import data_moments
    >>> Z = np.random.default_rng(0).standard_normal((400, 30)) + np.linspace(0, 1, 400)[:, None]
    >>> moments = data_moments(Z, correlation=True)
    >>> round(default_alpha(moments, 1), 4), round(0.5 * np.sqrt(np.log(30) / 400).item(), 4)
    (0.0461, 0.0461)
    """
    variance, rate = _noise(moments)
    return min(NOISE * variance * rate, CEILING * alpha_max(moments.covariance, n_components))


def default_concave(
    moments: Moments, n_components: int, penalty: Concave, *, tol: float, **options: Any
) -> tuple[Concave, Solution]:
    """Return a concave penalty with an alpha that follows from the data, and the ℓ₁ solution that it starts from.

    A variable j without signal has the covariance S_jᵀv with a component v, noise of variance σ²λ/n where λ is the
    component's own variance. It enters X if that exceeds alpha·‖v‖₁. With k equal loadings ‖v‖₁ = √k and q = λ/k is the
    variance that the component gives each of its variables, so √(2 log p) standard deviations are alpha =
    √(2 log p·σ²q/n). σ² is the median variance, q that of a typical variable of the start: the mean of (XSX)_ii,
    weighted by the leverages X_ii. Multiplying the data by c multiplies alpha by c². It is at least that of the start.

    Parameters
    ----------
    moments : Moments
    n_components : int
    penalty : Concave
        Its alpha does not matter; its start, if it has one, stays.
    tol : float
        Of the steps to come; a gap of ROUGH is enough for the start.
    **options
        For :func:`fantope.solve`.
    """
    variance, rate = _noise(moments)
    S = moments.covariance
    if penalty.start is None:
        ceiling = CEILING * alpha_max(S, n_components)
        penalty = penalty.started(min(variance * rate * start_share(S.size), ceiling))
    found = solve(S, n_components, penalty.start_alpha(S.size), tol=max(tol, ROUGH), **options)
    rows = found.support
    X = found.projection[rows][:, rows].toarray()
    leverage = X.diagonal()
    signal = float(leverage @ ((X @ S.block(rows, rows)) * X).sum(axis=1)) / float(leverage.sum())
    alpha = float(np.sqrt(REACH * variance * max(signal, 0.0))) * rate
    return penalty.scaled(max(alpha, found.alpha)), found


def _noise(moments: Moments) -> tuple[float, float]:
    """Return the median variance and √(log p / n)."""
    if moments.n_samples is None:
        raise ValueError(
            "alpha must be given where S is precomputed, since its default depends on the number of samples, which S "
            "does not hold; try a fraction of fantope.alpha_max(S, n_components)."
        )
    variances = moments.covariance.diagonal()
    varying = variances[variances > 0.0]
    variance = float(np.median(varying)) if len(varying) else 0.0
    return variance, float(np.sqrt(np.log(moments.covariance.size) / moments.n_samples))
