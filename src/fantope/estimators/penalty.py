"""The penalty that is used when the user names none."""

from __future__ import annotations

import numpy as np

from fantope.estimators.moments import Moments
from fantope.solvers import alpha_max

NOISE = 0.5  # the paper's λ = 0.5√(log p/n) on its model, whose noise variables have variance 1
CEILING = 0.5  # of alpha_max


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
    if moments.n_samples is None:
        raise ValueError(
            "alpha must be given where S is precomputed, since its default depends on the number of samples, which S "
            "does not hold; try a fraction of fantope.alpha_max(S, n_components)."
        )
    S = moments.covariance
    variances = S.diagonal()
    varying = variances[variances > 0.0]
    sigma = NOISE * float(np.median(varying)) if len(varying) else 0.0
    alpha = sigma * float(np.sqrt(np.log(S.size) / moments.n_samples))
    return min(alpha, CEILING * alpha_max(S, n_components))
