"""Sparse PCA whose penalty is chosen by cross-validation."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse
from sklearn.base import _fit_context
from sklearn.model_selection import check_cv
from sklearn.utils.parallel import Parallel, delayed

from fantope.checks import check_nonnegative, is_sparse
from fantope.errors import require
from fantope.estimators.constraints import COUNT, POSITIVE, one_of
from fantope.estimators.inputs import check_data
from fantope.estimators.moments import column_moments, data_moments
from fantope.estimators.penalty import CONCAVE, default_concave, named_penalty
from fantope.estimators.sparse_pca import SparsePCA
from fantope.penalties import Concave, Penalty
from fantope.penalties.l1 import as_shape
from fantope.problem.decomposition import largest_alpha
from fantope.selection.cross_validation import CrossValidation, choose, fold_scores
from fantope.selection.shrinkage import shrink_loadings
from fantope.typing import Array, IntArray

N_ALPHAS = 20
AROUND = 2.0 ** (np.array([2.0, 1.0, 0.0, -1.0]) / 3)  # factors of the default alpha of a concave penalty
RATIO = 0.05  # of the smallest to the largest alpha of an automatic grid
CONCAVE_TOL = 5e-3  # the same where a path has several steps at each alpha
FOLD_TOL = 1e-3  # gap of the folds' solutions at least: what a tighter one changes is far below the error of a score


class SparsePCACV(SparsePCA):
    """Sparse principal components with the penalty chosen by cross-validation.

    In each fold a path of solutions is computed from the training samples, and each is scored by the share of the
    held-out samples' variance that its components explain (:meth:`SparsePCA.score`). The chosen penalty is then used
    on all samples.

    Parameters
    ----------
    n_components : int, default=2
        Number of components. Held-out variance nearly always rises with it, so it cannot be chosen this way; see
        :func:`fantope.selection.parallel_analysis`.
    alphas : array-like of float, default=None
        Penalties to try. By default, for a folded concave penalty, 4 around the default of :class:`SparsePCA`; else 20
        values, evenly spaced on a log scale, from the largest entry of S off its diagonal down to a twentieth of it.
    penalty : {"auto", "l1", "mcp", "scad"} or penalty, default="auto"
        The ℓ₁ norm, a folded concave one, or a penalty of :mod:`fantope.penalties`, whose own alpha does not matter.
        "auto" is "mcp" where ``alphas`` are left to the data, "l1" where they are given.
    cv : int, splitter or iterable, default=5
        As in scikit-learn. An integer is the number of consecutive folds: shuffle sorted data first, or pass
        ``KFold(5, shuffle=True)``.
    rule : {"1se", "best"}, default="1se"
        "best" takes the alpha with the largest mean score, "1se" the largest alpha within one standard error of it.
        Components explain nearly as much of new data over a wide range of penalties, and the rule takes the
        sparse end of it. For a folded concave penalty, whose curve has a maximum, the error is that of the difference
        from the best.
    refit : bool or {"auto", "all"}, default="auto"
        As for :class:`SparsePCA`; in the folds on the variables of each solution, so that alphas can be told apart.
    n_jobs : int, default=None
        Folds that are computed at the same time, as in scikit-learn.
    kind : {"covariance", "correlation"}, default="covariance"
        What S is. In each fold variables are centred and scaled with the training samples.
    tol : float, default=1e-4
        Relative duality gap of the final solution. Those of the folds have ``max(tol, 1e-3)``, 5e-3 if concave.

    Attributes
    ----------
    alpha_ : float
        The chosen penalty.
    alphas_ : ndarray of shape (n_alphas,)
        The penalties tried, in descending order.
    cv_results_ : dict of ndarrays
        alpha, mean_test_score, std_test_score (over folds), split0_test_score …, mean_n_features (in use), and
        rank_test_score.
    cross_validation_ : fantope.selection.CrossValidation
        The same as an object: every score, every size, and which was chosen.

    See Also
    --------
    SparsePCA : The same for a given penalty; all its attributes are here too.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(150, 40, sizes=(8, 6))
    >>> pca = fantope.SparsePCACV(n_components=2).fit(sim.Z)
    >>> set(range(14)) <= set(pca.support_), pca.alpha_ in pca.alphas_
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [COUNT],
        "alphas": ["array-like", None],
        "penalty": [one_of("auto", "l1", *CONCAVE), Penalty, Concave],
        "cv": ["cv_object"],
        "rule": [one_of("1se", "best")],
        "refit": ["boolean", one_of("auto", "all")],
        "n_jobs": [Integral, None],
        "kind": [one_of("covariance", "correlation")],
        "tol": [POSITIVE],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        alphas: Any = None,
        penalty: Any = "auto",
        cv: Any = 5,
        rule: str = "1se",
        refit: bool | Literal["auto", "all"] = "auto",
        n_jobs: int | None = None,
        kind: str = "covariance",
        tol: float = 1e-4,
    ) -> None:
        self.n_components = n_components
        self.alphas = alphas
        self.penalty = penalty
        self.cv = cv
        self.rule = rule
        self.refit = refit
        self.n_jobs = n_jobs
        self.kind = kind
        self.tol = tol

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the penalty, then find the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data.
        y : Ignored
            There for pipelines; a splitter that needs it gets it.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if hasattr(X, "component_labels"):
            raise ValueError("X is a covariance operator, but folds need samples; pass the data matrix.")
        values = check_data(self, X, fitting=True)
        d = self._n_components(values.shape[1])
        folds = list(check_cv(self.cv, y).split(values, y))
        require(len(folds) >= 2, "cv", "give at least two folds", f"{len(folds)}: one score has no standard error")
        fewest = min(len(train) for train, _ in folds)
        require(fewest >= 2, "cv", "leave at least two samples to learn from in each fold", f"{fewest} in one of them")
        penalty, alphas = self._grid(values, d)
        tol = max(self.tol, CONCAVE_TOL if isinstance(penalty, Concave) else FOLD_TOL)
        refit = self.refit
        if refit == "auto":
            refit = isinstance(penalty, Concave) and ("all" if self.alphas is None else True)
        found = Parallel(n_jobs=self.n_jobs)(
            delayed(_fold)(values, train, test, self.kind == "correlation", d, penalty, alphas, tol, bool(refit))
            for train, test in folds
        )
        scores, sizes = (np.column_stack(columns) for columns in zip(*found, strict=True))
        rule: Any = self.rule
        paired = isinstance(penalty, Concave)
        chosen = CrossValidation(alphas, scores, sizes, choose(scores, rule, paired=paired), rule)
        final = SparsePCA(d, alpha=chosen.alpha, penalty=penalty, refit=refit, kind=self.kind, tol=self.tol).fit(X)
        for name, value in vars(final).items():
            if name.endswith("_"):
                setattr(self, name, value)
        self.alphas_ = alphas
        self.cv_results_ = _results(chosen)
        self.cross_validation_ = chosen
        return self

    def _grid(self, X: Any, d: int) -> tuple[Penalty | Concave, Array]:
        """Return what the alphas scale, and the alphas, distinct and in descending order."""
        shape = named_penalty(self.penalty, self.alphas)
        if isinstance(shape, str):
            shape = CONCAVE[shape](0.0) if shape in CONCAVE else None
        penalty = as_shape(shape, X.shape[1])
        if self.alphas is not None:
            values = [check_nonnegative("alphas", float(alpha)) for alpha in np.ravel(self.alphas)]
            require(values, "alphas", "hold at least one number", "none", "leave it out for an automatic grid")
            return penalty, np.unique(values)[::-1]
        names = getattr(self, "feature_names_in_", None)
        moments = data_moments(X, correlation=self.kind == "correlation", names=names)
        if isinstance(penalty, Concave):
            centre, _ = default_concave(moments, d, penalty, tol=max(self.tol, FOLD_TOL))
            return centre, centre.alpha * AROUND
        largest = largest_alpha(moments.covariance, penalty)
        return penalty, largest * np.geomspace(1.0, RATIO, N_ALPHAS) if largest > 0.0 else np.zeros(1)


def _fold(
    X: Any,
    train: IntArray,
    test: IntArray,
    correlation: bool,
    d: int,
    penalty: Penalty | Concave,
    alphas: Array,
    tol: float,
    refit: bool,
) -> tuple[Array, IntArray]:
    """Return the scores and sizes of one fold."""
    learn, check = X[train], X[test]
    if isinstance(penalty, Concave) and penalty.start is not None:
        # Fewer samples have more noise, and a start in the midst of it takes long and leads nowhere.
        penalty = penalty.started(penalty.start * float(np.sqrt(X.shape[0] / len(train))))
    if correlation:
        # A variable may be constant in the samples of one fold: there it stays as it is, and has no weight.
        scale = np.sqrt(column_moments(learn)[1])
        scale[scale == 0.0] = 1.0
        learn, check = _divided(learn, scale), _divided(check, scale)
    moments = data_moments(learn, correlation=False)
    mean, variance = column_moments(check)
    total = float((variance + (mean - moments.mean) ** 2).sum())

    def explained(V: Array) -> float:
        V = shrink_loadings(moments.covariance, V, len(train)) if refit else V
        scores = np.asarray(check @ V.T) - V @ moments.mean
        return float((scores**2).sum(axis=1).mean()) / total if total > 0.0 else 1.0

    return fold_scores(moments.covariance, explained, d, alphas, tol, penalty)


def _divided(X: Any, scale: Array) -> Any:
    if is_sparse(X):
        return scipy.sparse.csr_array(X @ scipy.sparse.diags_array(1.0 / scale))
    return X / scale


def _results(found: CrossValidation) -> dict[str, Any]:
    ranks = 1 + np.array([(found.mean > score).sum() for score in found.mean])
    splits = {f"split{k}_test_score": found.scores[:, k] for k in range(found.scores.shape[1])}
    return {
        "alpha": found.alphas,
        "mean_test_score": found.mean,
        "std_test_score": found.scores.std(axis=1),
        **splits,
        "mean_n_features": found.sizes.mean(axis=1),
        "rank_test_score": ranks,
    }
