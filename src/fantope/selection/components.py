"""How many components: as many leading eigenvalues as exceed those of data whose variables have nothing in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fantope.errors import require
from fantope.selection.samples import as_samples, standardised
from fantope.typing import Array


@dataclass(frozen=True, eq=False)
class ParallelAnalysis:
    """Eigenvalues beside those of permuted data.

    Attributes
    ----------
    n_components : int
        Number of leading eigenvalues above their limits; 0 if the data look like noise.
    eigenvalues : (k,) array
        Leading eigenvalues of the covariance or correlation matrix, in descending order.
    limits : (k,) array
        Quantile of the same eigenvalue in permuted data.
    permuted : (n_permutations, k) array
        The eigenvalues of all permuted data.
    """

    n_components: int
    eigenvalues: Array
    limits: Array
    permuted: Array


def parallel_analysis(
    X: Any,
    *,
    kind: Literal["covariance", "correlation"] = "covariance",
    max_components: int = 20,
    n_permutations: int = 50,
    quantile: float = 0.95,
    random_state: int = 0,
) -> ParallelAnalysis:
    """Count the eigenvalues that independent variables with the same values would not have.

    Horn's parallel analysis with permutations: each column is permuted on its own, which keeps its values and takes
    away what it shares with others. The number of components is that of the leading eigenvalues that all exceed the
    given quantile of their counterparts.

    It answers how many directions there are at all. Expression data have many; how many of them are sparse and of
    interest is another question, and five is what the paper reads.

    Parameters
    ----------
    X : (n, p) array
    kind : {"covariance", "correlation"}
    max_components : int, default 20
        Eigenvalues looked at.
    n_permutations : int, default 50
    quantile : float, default 0.95
    random_state : int, default 0

    Examples
    --------
    >>> import fantope
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 30))
    >>> X[:, :5] += 2 * rng.standard_normal((100, 1))
    >>> X[:, 5:9] += 2 * rng.standard_normal((100, 1))
    >>> parallel_analysis(X).n_components
    2
    """
    values = as_samples(X, 2)
    require(values.shape[1] >= 2, "X", "have at least 2 columns", f"shape {values.shape}")
    require(0.0 < quantile < 1.0, "quantile", "be between 0 and 1", repr(quantile))
    if n_permutations < 1 or max_components < 1:
        raise ValueError("n_permutations and max_components must be at least 1.")
    Z = standardised(values, kind)
    k = min(max_components, *Z.shape)
    rng = np.random.default_rng(random_state)
    observed = _leading(Z, k)
    permuted = np.array([_leading(rng.permuted(Z, axis=0), k) for _ in range(n_permutations)])
    limits = np.quantile(permuted, quantile, axis=0)
    above = observed > limits
    return ParallelAnalysis(k if above.all() else int(np.argmin(above)), observed, limits, permuted)


def _leading(Z: Array, k: int) -> Array:
    """Return the k largest eigenvalues of ZᵀZ/n, from whichever of ZᵀZ and ZZᵀ is smaller."""
    gram = Z @ Z.T if len(Z) < Z.shape[1] else Z.T @ Z
    return np.asarray(np.linalg.eigvalsh(gram)[::-1][:k] / len(Z))
