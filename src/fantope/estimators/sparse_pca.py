"""Sparse PCA as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_array, check_is_fitted

from fantope.checks import is_sparse
from fantope.estimators.constraints import COUNT, NOT_NEGATIVE, POSITIVE, one_of, with_methods
from fantope.estimators.inputs import check_data
from fantope.estimators.moments import Moments, column_moments, data_moments, precomputed_moments
from fantope.estimators.penalty import CONCAVE, default_alpha, default_concave, named_penalty
from fantope.estimators.show import ShownWhenFitted
from fantope.penalties import Concave, Penalty
from fantope.selection.dimension import select_n_components
from fantope.selection.shrinkage import shrink_loadings
from fantope.solvers import Solution, Status, solve
from fantope.solvers.concave import ROUGH
from fantope.solvers.solve import SOLVERS
from fantope.solvers.validation import check_covariance, check_n_components
from fantope.typing import AnyArray, Array


class SparsePCA(ShownWhenFitted, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse principal components with a certificate of optimality.

    Solves ``max ⟨S, X⟩ − alpha‖X‖₁`` over ``0 ⪯ X ⪯ I, tr X = n_components``, where S is the covariance or
    correlation matrix of the data, and returns an orthonormal basis of the leading range of X. The problem is
    convex: there are no starting points to choose, and ``gap_`` bounds the distance from the optimum.

    Where ``alpha`` is left to the data, convex steps of the same kind follow, which take the shrinkage of the ℓ₁ norm
    back (MCP, a folded concave penalty), and the components are estimated anew from their scores.

    Parameters
    ----------
    n_components : int or "auto", default=2
        Number of components, 1 ≤ n_components < n_features. The one exception: 2 means 1 where there are only two
        features, so that the default works on any data. "auto" asks three criteria, which ``component_number_`` holds,
        and takes the median of what they say (:func:`fantope.selection.select_n_components`).
    alpha : float or penalty, default=None
        Penalty, 0 or larger, in units of S. 0 is ordinary PCA; from ``fantope.alpha_max(S, n_components)`` on, only
        single variables are left. By default from the data: √(1.44·σ²q·log n_features / n_samples), σ² the median
        variance and q what a typical variable shares with its component; with ``penalty="l1"`` σ√(log n_features /
        n_samples), σ half the median variance, and at most half of ``alpha_max``. A matrix passed with
        ``kind="precomputed"`` has no default, since it does not hold the number of samples; an operator over data does.
    penalty : {"auto", "l1", "mcp", "scad"} or penalty, default="auto"
        The ℓ₁ norm; a folded concave one, which does not shrink what it keeps and keeps fewer variables (``steps`` of
        ``solution_``); or a penalty of :mod:`fantope.penalties`, and ``alpha``, if given, takes the place of its own.
        "auto" is "mcp" where ``alpha`` is left to the data, which then brings components closest to the truth, and
        "l1", whose optimum is certified, where it is given.
    refit : bool or {"auto", "all"}, default="auto"
        Whether ``components_`` are estimated anew, each loading shrunk by as much as its noise warrants
        (:func:`fantope.selection.shrink_loadings`): True does so on the variables of the solution, of which it may drop
        some, "all" on all variables, so that those of a clear part come in. "auto" is "all" for a folded concave
        penalty whose ``alpha`` is left to the data, True for one with a given ``alpha``, if the number of samples is
        known; else, and with False, ``components_`` are those of ``solution_``.
    kind : {"covariance", "correlation", "precomputed"}, default="covariance"
        What S is. "covariance" centres the variables; "correlation" also divides them by their standard deviation;
        with "precomputed" ``fit`` takes S itself, an array of shape (n_features, n_features) or an operator made by
        ``fantope.covariance``. Sums over samples are divided by n_samples.
    solver : str or solver object, default="auto"
        As in :func:`fantope.solve`: "auto", "admm", "gradfps", "subgradient", "projected-subgradient", or an object
        of :mod:`fantope.solvers`.
    tol : float, default=1e-4
        Relative duality gap at which to stop.
    max_iter : int, default=None
        By default the solver's own.
    step_size : float, default=None
        By default each solver chooses and adapts its own.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal rows by descending explained variance. They are exactly zero off the support; the entry of largest
        magnitude in each row is positive. Those that the certificate speaks of are ``solution_.components``; the same
        unless they were estimated anew (``refit``).
    explained_variance_ : ndarray of shape (n_components,)
        vᵀSv of each component: the variance of each column of ``transform(X)``, divided by n_samples.
        scikit-learn's PCA divides by n_samples − 1; multiply by n_samples / (n_samples − 1) to compare.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        ``explained_variance_`` over the trace of S.
    mean_, scale_ : ndarray of shape (n_features,)
        What ``transform`` subtracts from each variable and divides it by: the mean, or zero if S was a matrix; the
        standard deviation with ``kind="correlation"``, else one.
    n_components_ : int
        Number of components.
    component_number_ : fantope.selection.ComponentNumber
        With ``n_components="auto"``: what each criterion says.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of features seen during fit; only if they are all strings.
    n_samples_seen_ : int or None
        Number of samples; None if S was a matrix.
    n_samples_ : int or None
        The same, under the name that scikit-learn's PCA uses.
    n_iter_ : int
        Number of iterations, of all convex steps.
    projection_ : sparse array of shape (n_features, n_features)
        X.
    support_ : ndarray of int
        Indices of the features in use.
    alpha_ : float
        The penalty that was used.
    gap_ : float
        Certified relative duality gap.
    solution_ : fantope.Solution
        The answer with its certificate; ``solution_.verify()`` checks it afresh.

    See Also
    --------
    fantope.solve : The same for a covariance matrix, without scikit-learn.

    Notes
    -----
    Fit on data forms S, an array of shape (n_features, n_features). Sparse data are not made dense.

    If Ctrl-C stops the solver, the best certified answer so far is stored before ``KeyboardInterrupt`` is raised.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(200, 60, sizes=(8, 6))
    >>> pca = fantope.SparsePCA(n_components=2, alpha=0.4).fit(sim.Z)
    >>> pca.support_.tolist()
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]
    >>> pca.gap_ <= pca.tol
    True
    >>> pca.transform(sim.Z).shape
    (200, 2)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [COUNT, one_of("auto")],
        "alpha": [NOT_NEGATIVE, Penalty, Concave, None],
        "penalty": [one_of("auto", "l1", *CONCAVE), Penalty, Concave],
        "refit": ["boolean", one_of("auto", "all")],
        "kind": [one_of("covariance", "correlation", "precomputed")],
        "solver": [one_of(*SOLVERS), with_methods("init", "step", "candidate")],
        "tol": [POSITIVE],
        "max_iter": [COUNT, None],
        "step_size": [POSITIVE, None],
    }

    def __init__(
        self,
        n_components: int | Literal["auto"] = 2,
        *,
        alpha: float | Penalty | Concave | None = None,
        penalty: Any = "auto",
        refit: bool | Literal["auto", "all"] = "auto",
        kind: str = "covariance",
        solver: Any = "auto",
        tol: float = 1e-4,
        max_iter: int | None = None,
        step_size: float | None = None,
    ) -> None:
        self.n_components = n_components
        self.alpha = alpha
        self.penalty = penalty
        self.refit = refit
        self.kind = kind
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.step_size = step_size

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the components.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data; with ``kind="precomputed"``, S of shape (n_features, n_features).
        y : Ignored
            There for pipelines.

        Returns
        -------
        self : object
            The fitted estimator.

        Warns
        -----
        ConvergenceWarning
            If the gap is above ``tol``; the best certified answer is kept.
        """
        moments = self._moments(X)
        d = self._asked(X) if self.n_components == "auto" else self._n_components(moments.covariance.size)
        options = {name: getattr(self, name) for name in ("solver", "tol", "max_iter", "step_size")}
        penalty, init = self._penalty(moments, d, options)
        if init is not None and init.status is Status.INTERRUPTED:
            solution = init
        else:
            solution = solve(moments.covariance, d, penalty, init=init, **options)
        self._store(moments, solution)
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if solution.status is not Status.SOLVED:
            full = solution.status is Status.FULL
            remedy = solution.status.remedy if full else "raise max_iter, loosen tol or try another solver"
            warnings.warn(
                f"SparsePCA {solution.status.reason}: relative gap {solution.gap:.3g}, tol {self.tol:g}, "
                f"{solution.n_iter} iterations. The answer is certified to that gap only; {remedy}.",
                ConvergenceWarning,
                stacklevel=3,  # past the wrapper of scikit-learn, to the call of fit
            )
        return self

    def transform(self, X: Any) -> AnyArray:
        """Project data on the components.

        Each row is centred and scaled with what was learnt by ``fit``, so its scores do not depend on other rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data, also where S was precomputed; if that was a matrix, the caller centres them.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_components)
            The scores; float32 for float32 data.
        """
        check_is_fitted(self)
        X = check_data(self, X, fitting=False)
        return self._scores(X).astype(X.dtype, copy=False)

    def inverse_transform(self, X: Any) -> AnyArray:
        """Return the data that scores stand for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Scores.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            Data in the original units.
        """
        check_is_fitted(self)
        X = check_array(X, dtype=[np.float64, np.float32], input_name="X", estimator=self)
        if X.shape[1] != self.n_components_:
            raise ValueError(
                f"X must have one column for each of the {self.n_components_} components, got shape {X.shape}; pass "
                "what transform returns."
            )
        original = X @ self.components_
        original *= self.scale_
        original += self.mean_
        return np.asarray(original, dtype=X.dtype)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the share of variance that the components explain in new data.

        That is 1 − ‖Z − ZVᵀV‖² / ‖Z‖², where V holds the components and Z is the data, centred and scaled with what
        was learnt by ``fit``. 1 is the best. Components that follow the noise of the training data explain less of
        new data, so ``GridSearchCV`` can choose ``alpha`` by it. It cannot choose ``n_components``, with which it
        nearly always rises, nor compare values of ``kind``, which measure in different units.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Data; with ``kind="precomputed"``, the covariance of new data, (n_features, n_features).
        y : Ignored
            There for pipelines.

        Returns
        -------
        score : float
            Explained share.
        """
        check_is_fitted(self)
        X = check_data(self, X, fitting=False)
        if self.kind == "precomputed":
            S = check_covariance(_square(X))
            rows = self.support_
            V = self.components_[:, rows]
            return _share(float(((V @ S.block(rows, rows)) * V).sum()), float(S.diagonal().sum()))
        mean, variance = column_moments(X)
        total = float(((variance + (mean - self.mean_) ** 2) / self.scale_**2).sum())
        return _share(float((self._scores(X) ** 2).sum(axis=1).mean()), total)

    def _scores(self, X: Any) -> Array:
        """Return the scores in double precision."""
        if is_sparse(X):
            weights = self.components_ / self.scale_
            return np.asarray(X @ weights.T - weights @ self.mean_)
        rows = self.support_  # the other variables have no weight
        Z = (X[:, rows] - self.mean_[rows]) / self.scale_[rows]
        return np.asarray(Z @ self.components_[:, rows].T)

    def _moments(self, X: Any) -> Moments:
        operator = hasattr(X, "component_labels")
        if self.kind == "precomputed":
            if operator:
                self._take_features(X)
            else:
                X = _square(check_data(self, X, fitting=True))
            return precomputed_moments(check_covariance(X))
        if operator:
            raise ValueError(
                f"X is a covariance operator, but kind={self.kind!r} expects data; use kind='precomputed'."
            )
        X = check_data(self, X, fitting=True)
        self._n_components(X.shape[1])  # an error should come before the long product
        names = getattr(self, "feature_names_in_", None)
        return data_moments(X, correlation=self.kind == "correlation", names=names)

    def _penalty(
        self, moments: Moments, d: int, options: dict[str, Any]
    ) -> tuple[float | Penalty | Concave, Solution | None]:
        """Return the penalty that ``alpha`` and ``penalty`` stand for together, and a start if it needed one."""
        alpha, shape = self.alpha, named_penalty(self.penalty, self.alpha)
        if not isinstance(shape, str) or shape in CONCAVE:
            if isinstance(alpha, Penalty | Concave):
                raise ValueError("alpha and penalty are both penalties; give a number for alpha, or one of them only.")
            if not isinstance(shape, str):
                return (shape if alpha is None else shape.scaled(alpha)), None
            if alpha is None:
                return default_concave(moments, d, CONCAVE[shape](0.0, between=ROUGH), **options)
            return CONCAVE[shape](alpha), None
        return (default_alpha(moments, d) if alpha is None else alpha), None

    def _take_features(self, S: Any) -> None:
        """Do for an operator what scikit-learn does for an array: note how many features there are, and their names."""
        self.n_features_in_ = S.size
        names = getattr(S, "names", None)
        if names is not None:
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):  # of an earlier fit
            del self.feature_names_in_

    def _asked(self, X: Any) -> int:
        """Return the number of components that the data suggest, with what each criterion says kept."""
        if self.kind == "precomputed" or hasattr(X, "component_labels") or is_sparse(X):
            raise ValueError(
                "n_components='auto' needs data in an array, which it divides into folds and permutes; give a number, "
                "or pass X.toarray()."
            )
        kind: Any = self.kind
        self.component_number_ = select_n_components(X, kind=kind)
        return self.component_number_.n_components

    def _n_components(self, p: int) -> int:
        if self.n_components == "auto":
            return 1
        # The default must do for any data, and scikit-learn tries it on two features.
        return 1 if self.n_components == p == 2 else check_n_components(self.n_components, p)

    def _store(self, moments: Moments, solution: Solution) -> None:
        total = float(moments.covariance.diagonal().sum())
        self.solution_ = solution
        self.components_, self.explained_variance_ = self._loadings(moments, solution)
        # A precomputed S may be indefinite: without a positive trace there is no variance to share.
        self.explained_variance_ratio_ = self.explained_variance_ / (total if total > 0.0 else np.inf)
        self.mean_ = moments.mean
        self.scale_ = moments.scale
        self.n_components_ = solution.n_components
        self.n_samples_seen_ = self.n_samples_ = moments.n_samples
        # A step whose start is its optimum already takes none; scikit-learn asks for one at least.
        self.n_iter_ = max(1, sum(step.n_iter for step in solution.steps) or solution.n_iter)
        self.projection_ = solution.projection
        self.support_ = np.flatnonzero((self.components_ != 0.0).any(axis=0))
        self.alpha_ = solution.alpha
        self.gap_ = solution.gap

    def _loadings(self, moments: Moments, solution: Solution) -> tuple[Array, Array]:
        """Return the components and the variance of each, refitted if that was asked for."""
        n, refit = moments.n_samples, self.refit
        if refit in (True, "all") and n is None:
            raise ValueError(
                f"refit={refit!r} needs the number of samples, which a matrix S does not hold; pass the data."
            )
        if refit == "auto":
            refit = bool(solution.steps) and n is not None and ("all" if self.alpha is None else True)
        if not refit or n is None:
            return solution.components, solution.explained_variance
        V = shrink_loadings(moments.covariance, solution.components, n, add=refit == "all")
        rows = np.flatnonzero(V.any(axis=0))
        return V, np.einsum("ij,jk,ik->i", V[:, rows], moments.covariance.block(rows, rows), V[:, rows])

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kind == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _square(S: Any) -> Any:
    if S.shape[0] != S.shape[1]:
        raise ValueError(
            f"kind='precomputed' expects a square covariance matrix, got shape {S.shape}; for a data matrix use "
            "kind='covariance' or 'correlation'."
        )
    return S


def _share(explained: float, total: float) -> float:
    """Return explained / total; data without variance are explained in full."""
    return explained / total if total > 0.0 else 1.0
