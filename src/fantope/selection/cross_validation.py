"""The penalty by cross-validation: variance that components explain in samples they have not seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from fantope.errors import require
from fantope.path.walk import Walk
from fantope.penalties import Concave, Penalty
from fantope.penalties.l1 import as_shape
from fantope.solvers.validation import check_covariance, check_n_components, check_tol
from fantope.typing import Array, IntArray

Rule = Literal["1se", "best"]
# From training rows and held-out rows to S, and to what components V explain of the held-out rows.
Explained = Callable[[Array], float]
SAME = 1e-6  # of the variance: scores that differ by less are equal, so that rounding (the data's unit) chooses nothing


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Held-out explained variance of every alpha in every fold.

    Attributes
    ----------
    alphas : (k,) array
        In descending order.
    scores : (k, folds) array
        Share of the held-out variance that the components of the other folds explain.
    sizes : (k, folds) array
        Variables in use.
    chosen : int
        Index of the alpha that was chosen.
    rule : {"1se", "best"}
    """

    alphas: Array
    scores: Array
    sizes: IntArray
    chosen: int
    rule: Rule

    @property
    def alpha(self) -> float:
        """The alpha that was chosen."""
        return float(self.alphas[self.chosen])

    @property
    def mean(self) -> Array:
        """(k,) mean over folds."""
        return np.asarray(self.scores.mean(axis=1))

    @property
    def standard_error(self) -> Array:
        """(k,) standard error of the mean."""
        folds = self.scores.shape[1]
        return np.asarray(self.scores.std(axis=1, ddof=1) / np.sqrt(folds))


def fold_scores(
    S: Any, explained: Explained, n_components: int, alphas: Array, tol: float, penalty: Penalty | Concave | None = None
) -> tuple[Array, IntArray]:
    """Return the held-out score and the number of variables of each alpha, for one fold.

    S is that of the training rows; ``explained`` maps (d, p) components to the share of the held-out variance that they
    explain; the alphas descend, and the penalty is as for solve_path.
    """
    S = check_covariance(S)
    shape = as_shape(penalty, S.size)
    d, tol = check_n_components(n_components, S.size), check_tol(tol, S.size)
    walk = Walk(S, d, tol, penalty=shape)
    path = [walk.solve(alpha, ahead=alphas[-1]) for alpha in alphas]
    sizes = np.array([len(solution.support) for solution in path], dtype=np.intp)
    return np.array([explained(solution.components) for solution in path]), sizes


def choose(scores: Array, rule: Rule, *, paired: bool = False) -> int:
    """Return the index of the alpha that the rule takes, given one row of scores for each, by descending alpha.

    "best" is the one with the largest mean score; of equals the largest alpha. "1se" is the largest alpha whose mean
    score is within one standard error of the best: about as good, and sparser. ``paired``: the error of the difference
    from the best, fold by fold, which is smaller than that of a score, since a fold is easy or hard for all alphas.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.2], [0.5, 0.7], [0.6, 0.8]])
    >>> choose(scores, "best"), choose(scores, "1se")
    (2, 1)
    """
    require(rule in ("1se", "best"), "rule", "be '1se' or 'best'", repr(rule))
    means = scores.mean(axis=1)
    best = int(np.argmax(means >= means.max() - SAME))
    if rule == "best":
        return best
    spread = (scores[best] - scores if paired else scores[best : best + 1]).std(axis=1, ddof=1)
    return int(np.argmax(means >= means.max() - spread / np.sqrt(scores.shape[1]) - SAME))


def cross_validate(
    folds: Iterable[tuple[Any, Explained]], n_components: int, alphas: Any, *, rule: Rule = "1se", tol: float = 1e-3,
    penalty: Penalty | Concave | None = None,
) -> CrossValidation:  # fmt: skip
    """Choose alpha by held-out explained variance.

    Most users want :class:`fantope.SparsePCACV`, which makes the folds from data.

    Parameters
    ----------
    folds : iterable of (S, explained)
        For each fold the covariance of its training rows, and a function from (d, p) components to the share of the
        held-out variance that they explain.
    n_components : int
    alphas : sequence of float
    rule : {"1se", "best"}
    tol : float, default 1e-3
    penalty : Penalty, optional
        As for solve_path.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(200, 40, sizes=(8, 6))
    >>> halves = [(sim.Z[:100], sim.Z[100:]), (sim.Z[100:], sim.Z[:100])]
    >>> folds = [(a.T @ a / 100, lambda V, b=b: float(((b @ V.T) ** 2).sum() / (b**2).sum())) for a, b in halves]
    >>> cross_validate(folds, 2, [0.2, 0.6, 1.8]).alpha
    0.6
    """
    grid = np.unique(np.asarray(alphas, dtype=np.float64))[::-1]
    found = [fold_scores(S, explained, n_components, grid, tol, penalty) for S, explained in folds]
    require(len(found) >= 2, "folds", "hold at least two folds", str(len(found)))
    scores = np.column_stack([score for score, _ in found])
    sizes = np.column_stack([size for _, size in found])
    return CrossValidation(grid, scores, sizes, choose(scores, rule), rule)
