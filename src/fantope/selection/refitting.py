"""Unshrunken components on a chosen support, and how far sampling alone would move them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import scipy.linalg
import scipy.special

from fantope.checks import check_finite
from fantope.errors import data_frame, require
from fantope.selection.samples import as_samples, standardised
from fantope.solvers.validation import check_n_components
from fantope.typing import Array, IntArray

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Refit:
    """PCA on a support, with bootstrap intervals.

    The intervals say how much loadings and leverages of *these* variables vary from sample to sample. They do not cover
    the choice of the variables: a support that was chosen on the same data favours variables whose loadings are large
    in this sample by chance, and a variable that was left out has no interval at all.

    Attributes
    ----------
    support : (s,) array of int
    components : (d, p) array
        Orthonormal eigenvectors of the block of S on the support: by descending variance, zero off it.
    explained_variance : (d,) array
    lower, upper : (d, p) array
        Intervals of the loadings, of a basis that is turned towards ``components`` (Procrustes); zero off the support.
    leverage, leverage_lower, leverage_upper : (p,) array
        Σ of the squared loadings of each variable, which no rotation changes, and its intervals.
    level : float
    n_bootstrap : int
    """

    support: IntArray
    components: Array
    explained_variance: Array
    lower: Array
    upper: Array
    leverage: Array
    leverage_lower: Array
    leverage_upper: Array
    level: float
    n_bootstrap: int

    def to_frame(self) -> pd.DataFrame:
        """Return one row per variable of the support: leverage and loadings with their intervals (needs pandas)."""
        own = self.support
        columns = {
            "leverage": self.leverage[own],
            "leverage_lower": self.leverage_lower[own],
            "leverage_upper": self.leverage_upper[own],
        }
        for k in range(len(self.components)):
            for name, values in (("", self.components), ("_lower", self.lower), ("_upper", self.upper)):
                columns[f"loading_{k + 1}{name}"] = values[k, own]
        return data_frame(columns, own).rename_axis(index="variable")


def refit(
    X: Any,
    support: Any,
    n_components: int,
    *,
    kind: Literal["covariance", "correlation"] = "covariance",
    level: float = 0.95,
    n_bootstrap: int = 500,
    random_state: int = 0,
) -> Refit:
    """Fit ordinary PCA to the variables of a support, without any penalty, with bootstrap intervals.

    Samples are drawn with replacement. The components of each draw are turned towards the estimated ones by the
    orthogonal matrix that brings them nearest (Procrustes), so that signs, order and rotations among components of
    similar variance do not count as uncertainty. With θ* a loading or leverage of a draw and θ the estimate, intervals
    are θ ± z·√mean((θ* − θ)²): besides the spread of the draws it counts their bias, by which noise makes large
    leverages smaller and small ones larger, in draws as in samples. Leverages stay between 0 and 1.

    Parameters
    ----------
    X : (n, p) array
    support : sequence of int, or Solution
        The variables.
    n_components : int
        d, at most the number of variables in the support.
    kind : {"covariance", "correlation"}
    level : float, default 0.95
    n_bootstrap : int, default 500
    random_state : int, default 0

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(200, 60, sizes=(8, 6))
    >>> sol = fantope.solve(fantope.covariance(sim.Z), 2, 0.4)
    >>> found = fantope.selection.refit(sim.Z, sol, 2)
    >>> found.to_frame().shape
    (14, 9)
    >>> bool((found.leverage_lower[sol.support] <= found.leverage[sol.support]).all())
    True
    """
    values = as_samples(X, 4)
    check_finite(values, "X")
    rows = _support(support, values.shape[1])
    d = check_n_components(n_components, len(rows) + 1)
    require(0.0 < level < 1.0, "level", "be between 0 and 1", repr(level))
    require(n_bootstrap >= 10, "n_bootstrap", "be at least 10", repr(n_bootstrap))
    data = values[:, rows]
    variances, V = _leading(data, d, kind)
    V *= np.sign(V[np.abs(V).argmax(axis=0), np.arange(d)])
    rng = np.random.default_rng(random_state)
    loadings = np.empty((n_bootstrap, len(rows), d))
    for b in range(n_bootstrap):
        drawn = _leading(data[rng.integers(0, len(data), len(data))], d, kind)[1]
        loadings[b] = drawn @ scipy.linalg.orthogonal_procrustes(drawn, V)[0]
    z = float(scipy.special.ndtri(0.5 + 0.5 * level))
    leverage = (V**2).sum(axis=1)
    low, high = _interval(loadings, V, z)
    least, most = _interval((loadings**2).sum(axis=2), leverage, z)
    p = values.shape[1]
    return Refit(
        rows, _wide(V.T, rows, p), variances, _wide(low.T, rows, p), _wide(high.T, rows, p), _wide(leverage, rows, p),
        _wide(np.maximum(least, 0.0), rows, p), _wide(np.minimum(most, 1.0), rows, p), level, n_bootstrap,
    )  # fmt: skip


def _support(support: Any, p: int) -> IntArray:
    chosen = np.unique(np.asarray(getattr(support, "support", support)))
    if chosen.ndim != 1 or not len(chosen) or not np.issubdtype(chosen.dtype, np.integer):
        raise ValueError(f"support must be a solution or variables by their numbers, got {support!r}.")
    if chosen[0] < 0 or chosen[-1] >= p:
        raise ValueError(f"support must be variables from 0 to {p - 1}, got {chosen[0]} to {chosen[-1]}.")
    return chosen.astype(np.intp)


def _leading(X: Array, d: int, kind: str) -> tuple[Array, Array]:
    """Return the d largest eigenvalues of S, descending, and their eigenvectors as columns."""
    Z = standardised(X, kind)
    values, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    return values[::-1][:d], np.ascontiguousarray(vectors[:, ::-1][:, :d])


def _interval(draws: Array, estimate: Array, z: float) -> tuple[Array, Array]:
    half = z * np.sqrt(((draws - estimate) ** 2).mean(axis=0))
    return estimate - half, estimate + half


def _wide(values: Array, rows: IntArray, p: int) -> Array:
    result = np.zeros((*values.shape[:-1], p))
    result[..., rows] = values
    return result
