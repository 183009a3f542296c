"""How many components: three criteria side by side, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fantope.errors import data_frame, require
from fantope.operators import covariance
from fantope.path import solve_path
from fantope.selection.components import parallel_analysis
from fantope.typing import Array, IntArray

if TYPE_CHECKING:
    import pandas as pd

CLEAR = 0.9  # median over alphas of the d-th eigenvalue of X from which on the d-th direction counts as singled out
ALPHAS = (1.0, 0.75, 0.5)  # times σ²√(log p / n), the size of entries of S that are noise


@dataclass(frozen=True, eq=False)
class ComponentNumber:
    """What three criteria say of each number of components.

    Attributes
    ----------
    parallel, held_out, projection : int
        The number that each criterion takes: leading eigenvalues above those of permuted data; the largest likelihood
        of held-out samples; the largest d at which X is a projection along the path.
    eigenvalues, limits : (k,) array
        Of the data, and the quantile of permuted data.
    likelihood : (k + 1,) array
        Mean log-likelihood of a held-out sample with 0 … k components, less that with none.
    last_eigenvalue : (k,) array
        Median over alphas of the d-th eigenvalue of X with d components: 1 if the data single out d directions.
    """

    parallel: int
    held_out: int
    projection: int
    eigenvalues: Array
    limits: Array
    likelihood: Array
    last_eigenvalue: Array

    @property
    def n_components(self) -> int:
        """The median of the three, 1 at the least."""
        return max(int(np.median([self.parallel, self.held_out, self.projection])), 1)

    @property
    def agree(self) -> bool:
        """Whether all three say the same."""
        return self.parallel == self.held_out == self.projection

    def summary(self) -> str:
        """Return the three numbers in a sentence."""
        return (
            f"The criteria {'agree' if self.agree else 'disagree'}: parallel analysis {self.parallel}, held-out "
            f"likelihood {self.held_out}, X a projection {self.projection}."
        )

    def to_frame(self) -> pd.DataFrame:
        """Return one row per number of components (needs pandas)."""
        d = np.arange(1, len(self.eigenvalues) + 1)
        return data_frame(
            {
                "n_components": d,
                "eigenvalue": self.eigenvalues,
                "limit": self.limits,
                "likelihood": self.likelihood[1:],
                "last_eigenvalue": self.last_eigenvalue,
            }
        )


def select_n_components(
    X: Any,
    *,
    kind: Literal["covariance", "correlation"] = "covariance",
    max_components: int = 8,
    n_folds: int = 5,
    tol: float = 1e-2,
    random_state: int = 0,
) -> ComponentNumber:
    """Ask three criteria for the number of components; they look at different things, and may disagree.

    Parallel analysis asks how many directions there are that independent variables would not have. The likelihood of
    held-out samples, under a Gaussian with d free directions and equal variance in the others, asks how many of them
    help to describe new samples: unlike explained variance it falls when d is too large. The eigenvalues of X ask how
    many sparse directions the penalised problem singles out.

    Parameters
    ----------
    X : (n, p) array
    kind : {"covariance", "correlation"}
    max_components : int, default 8
    n_folds : int, default 5
    tol : float, default 1e-2
        Relative gap of the solutions along the path.
    random_state : int, default 0

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(150, 40, sizes=(8, 6))
    >>> print(fantope.selection.select_n_components(sim.Z, max_components=4).summary())
    The criteria agree: parallel analysis 2, held-out likelihood 2, X a projection 2.
    """
    values = np.asarray(X, dtype=np.float64)
    require(n_folds >= 2, "n_folds", "be at least 2", repr(n_folds))
    parallel = parallel_analysis(values, kind=kind, max_components=max_components, random_state=random_state)
    n, p = values.shape
    most = min(len(parallel.eigenvalues), p - 1, n - 1)
    order = np.random.default_rng(random_state).permutation(n)
    folds = [np.sort(fold) for fold in np.array_split(order, min(n_folds, n // 2))]
    likelihood = np.mean([_held_out(values, fold, most, kind) for fold in folds], axis=0)
    last = _last_eigenvalues(values, most, kind, tol)
    clear = last > CLEAR
    return ComponentNumber(
        min(parallel.n_components, most),
        int(np.argmax(likelihood)),
        int(np.flatnonzero(clear)[-1]) + 1 if clear.any() else 0,
        parallel.eigenvalues[:most],
        parallel.limits[:most],
        likelihood - likelihood[0],
        last,
    )


def _held_out(X: Array, fold: IntArray, most: int, kind: str) -> Array:
    """Return the mean log-likelihood of a fold under d = 0 … most directions of the other samples."""
    train, test = np.delete(X, fold, axis=0), X[fold]
    mean = train.mean(axis=0)
    scale = train.std(axis=0) if kind == "correlation" else np.ones(X.shape[1])
    scale = np.where(scale > 0.0, scale, 1.0)
    train, test = (train - mean) / scale, (test - mean) / scale
    n, p = train.shape
    _, singular, V = np.linalg.svd(train, full_matrices=False)
    variances = np.zeros(p)
    variances[: len(singular)] = singular**2 / n
    squares, rest = (test @ V.T) ** 2, (test**2).sum(axis=1)
    result = np.empty(most + 1)
    for d in range(most + 1):
        noise = max(variances[d:].sum() / (p - d), 1e-12 * variances.sum())
        own = np.maximum(variances[:d], noise)
        distance = (squares[:, :d] / own).sum(axis=1) + (rest - squares[:, :d].sum(axis=1)) / noise
        result[d] = -0.5 * float(distance.mean() + np.log(own).sum() + (p - d) * np.log(noise))
    return result


def _last_eigenvalues(X: Array, most: int, kind: Literal["covariance", "correlation"], tol: float) -> Array:
    """Return the median over alphas of the d-th eigenvalue of X, for each d."""
    S = covariance(X, kind=kind)
    level = float(np.median(S.diagonal())) * float(np.sqrt(np.log(S.size) / len(X)))
    found = np.zeros(most)
    for d in range(1, most + 1):
        path = solve_path(S, d, [share * level for share in ALPHAS], tol=tol)
        found[d - 1] = np.median([s.eigenvalues[d - 1] if len(s.eigenvalues) >= d else 0.0 for s in path])
    return found
