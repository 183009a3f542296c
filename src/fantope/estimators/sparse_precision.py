"""The graphical lasso as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from fantope.checks import unmasked
from fantope.estimators.constraints import COUNT, NOT_NEGATIVE, POSITIVE
from fantope.estimators.moments import data_moments
from fantope.graphical import graphical_lasso
from fantope.graphical.certificate import log_det_below
from fantope.solvers import Status
from fantope.typing import Array


class SparsePrecision(BaseEstimator):  # type: ignore[misc]
    """A sparse precision matrix by the graphical lasso: which variables depend on each other given all others.

    Minimises −log det Θ + ⟨S, Θ⟩ + alpha·Σ_{i≠j}|Θ_ij| over positive definite Θ, to a certified gap.

    Parameters
    ----------
    alpha : float, default=0.1
        Penalty, in units of S.
    correlation : bool, default=False
        Whether S is the correlation matrix, so that alpha does not depend on the units of the variables.
    diagonal : bool, default=False
        Whether the diagonal is penalised too.
    tol : float, default=1e-4
        Certified gap in nats.
    max_iter : int, default=2000

    Attributes
    ----------
    precision_ : ndarray of shape (n_features, n_features)
        Of the variables, or of the variables divided by their deviation if ``correlation``.
    covariance_ : ndarray of shape (n_features, n_features)
        The dual point, within alpha of S off the diagonal; the inverse of ``precision_`` up to the gap.
    location_, scale_ : ndarray of shape (n_features,)
    gap_ : float
    solution_ : PrecisionSolution
    n_iter_, n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Examples
    --------
    >>> import fantope
    >>> Z = fantope.simulate(500, 40).Z
    >>> network = fantope.SparsePrecision(alpha=0.3).fit(Z)
    >>> network.gap_ < 1e-4, network.solution_.n_edges > 0
    (True, True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "alpha": [NOT_NEGATIVE],
        "correlation": ["boolean"],
        "diagonal": ["boolean"],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
    }

    def __init__(
        self,
        alpha: float = 0.1,
        *,
        correlation: bool = False,
        diagonal: bool = False,
        tol: float = 1e-4,
        max_iter: int = 2000,
    ) -> None:
        self.alpha = alpha
        self.correlation = correlation
        self.diagonal = diagonal
        self.tol = tol
        self.max_iter = max_iter

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the samples in the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, p)
        y : None
            Ignored.
        """
        X = validate_data(self, unmasked("X", X), dtype=np.float64, ensure_min_samples=2, ensure_min_features=2)
        moments = data_moments(X, correlation=self.correlation, names=getattr(self, "feature_names_in_", None))
        everything = np.arange(self.n_features_in_)
        S = moments.covariance.block(everything, everything)
        self.solution_ = graphical_lasso(S, self.alpha, diagonal=self.diagonal, tol=self.tol, max_iter=self.max_iter)
        if self.solution_.status is not Status.SOLVED:
            warnings.warn(str(self.solution_.status), ConvergenceWarning, stacklevel=2)
        self.precision_, self.covariance_ = self.solution_.precision.toarray(), self.solution_.covariance
        self.location_, self.scale_ = moments.mean, moments.scale
        self.gap_, self.n_iter_ = self.solution_.gap, max(self.solution_.n_iter, 1)
        return self

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean Gaussian log-likelihood of the rows of X, whatever their scale, up to rounding."""
        check_is_fitted(self)
        Z: Array = (validate_data(self, X, reset=False, dtype=np.float64) - self.location_) / self.scale_
        square = float(np.einsum("ij,ij->", Z @ self.precision_, Z)) / len(Z)
        log_det = log_det_below(self.precision_) - 2.0 * float(np.log(self.scale_).sum())
        return float(0.5 * (log_det - square - self.n_features_in_ * float(np.log(2.0 * np.pi))))
