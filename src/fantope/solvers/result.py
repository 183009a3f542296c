"""What every solver returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
import scipy.sparse

from fantope.checks import check_nonnegative
from fantope.errors import check_choice
from fantope.operators import Covariance
from fantope.penalties import Penalty
from fantope.problem.certificate import Certificate, CertificateError, relative_gap, verify_reported
from fantope.problem.decomposition import pose
from fantope.problem.dual import LiftedDual
from fantope.problem.leverage import leverage_bounds
from fantope.problem.projection import Factors, principal_axes
from fantope.problem.sparse_basis import sparse_basis
from fantope.solvers.show import about_zero, solution_frame, solution_html
from fantope.solvers.validation import check_covariance
from fantope.typing import Array, IntArray, StringArray

if TYPE_CHECKING:
    import pandas as pd

HOPELESS = 0.2  # relative gap that says nothing about single variables: they are not looked at


class Status(Enum):
    """How a run ended, ``reason``, and what to do next, ``remedy``; its text is both."""

    SOLVED = "solved", "the certified gap is within the tolerance"
    MAX_ITER = (
        "stopped at max_iter before the tolerance was reached",
        "raise max_iter, loosen tol, or start from this solution with init",
    )
    STALLED = "stopped because the gap no longer falls", "loosen tol, try another solver, or another step_size"
    FULL = (
        "stopped because X needs more variables than a problem without an array of all of them can have at work",
        "raise alpha, or leave variables out",
    )
    NON_FINITE = (
        "stopped because an iterate was not finite; this is the last good answer",
        "check the scale of S, or use a smaller step_size",
    )
    INTERRUPTED = "interrupted", "this is the best answer so far; pass it as init to go on"

    reason: str
    remedy: str

    def __new__(cls, reason: str, remedy: str) -> Self:
        """Make a status whose value is the text."""
        status = object.__new__(cls)
        status._value_, status.reason, status.remedy = f"{reason}: {remedy}", reason, remedy
        return status

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class Record:
    """What is known after an iteration that was checked.

    Attributes
    ----------
    iteration : int
    time : float
        Seconds since the start of the run.
    objective, dual_bound : float
        The best certified bracket so far.
    gap : float
        Its relative width.
    n_active : int
        Variables that the solver works with.
    """

    iteration: int
    time: float
    objective: float
    dual_bound: float
    gap: float
    n_active: int


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a solve: inside the library an exception like any other.

    Only public entries that promise the best answer so far ask for it, by ``solution()``; its status is INTERRUPTED.
    """

    def __init__(self, solution: Callable[[], Solution]) -> None:
        super().__init__()
        self.solution = solution

    def __reduce__(self) -> tuple[type[KeyboardInterrupt], tuple[()]]:
        return KeyboardInterrupt, ()  # between processes


@dataclass(frozen=True)
class Step:
    """One convex step of a folded concave penalty.

    Attributes
    ----------
    objective, dual_bound, gap : float
        The certified bracket of the step's optimum.
    concave_objective : float
        ⟨S, X⟩ − Ω(X) with the concave penalty itself, after the step. It never falls from one step to the next.
    mean_weight : float
        Of the entries of the X before, in units of alpha: 0 is not shrunk at all, 1 as much as by the ℓ₁ norm.
    n_free : int
        Entries of the X before that are not shrunk at all.
    n_variables : int
        In use after the step.
    n_iter : int
    status : str
        Name of the step's :class:`Status`.
    """

    objective: float
    dual_bound: float
    gap: float
    concave_objective: float
    mean_weight: float
    n_free: int
    n_variables: int
    n_iter: int
    status: str


@dataclass(frozen=True)
class Solution:
    """A certified answer to ``max ⟨S, X⟩ − Ω(X)`` over the Fantope.

    Attributes
    ----------
    objective, dual_bound : float
        The optimum lies between them.
    gap : float
        (dual_bound − objective) / max(|objective|, |dual_bound|).
    status : Status
    n_iter : int
    solver : str
    penalty : Penalty
        Ω.
    alpha : float
        Ω's alpha.
    n_components : int
    n_features : int
    factors : Factors
        X by its eigenvectors and eigenvalues.
    dual : LiftedDual
        U; ``dual.block(rows, cols)`` yields any part of it.
    step_size : float or None
        The step size at which the run ended; a warm start goes on with it.
    history : tuple of Record
    steps : tuple of Step
        The convex steps of a folded concave penalty; empty for a convex one. Everything else is about the last of them.
    """

    objective: float
    dual_bound: float
    status: Status
    n_iter: int
    solver: str
    penalty: Penalty
    n_components: int
    n_features: int
    factors: Factors = field(repr=False)
    dual: LiftedDual = field(repr=False)
    covariance: Covariance = field(repr=False)
    step_size: float | None = field(repr=False)
    history: tuple[Record, ...] = field(repr=False)
    steps: tuple[Step, ...] = field(default=(), repr=False)

    @property
    def alpha(self) -> float:
        """The penalty's alpha."""
        return self.penalty.alpha

    @property
    def gap(self) -> float:
        """Relative duality gap."""
        return relative_gap(self.objective, self.dual_bound)

    @property
    def support(self) -> IntArray:
        """Indices of the variables in use, ascending."""
        return self.factors.rows

    @property
    def eigenvalues(self) -> Array:
        """The positive eigenvalues of X, descending: all 1 means that X is a projection."""
        return self.factors.weights

    @property
    def is_projection(self) -> bool:
        """Whether X is (nearly) a projection of rank d: its first d eigenvalues exceed 0.99."""
        return bool(len(self.eigenvalues) >= self.n_components and self.eigenvalues[self.n_components - 1] > 0.99)

    @cached_property
    def projection(self) -> scipy.sparse.csr_array:
        """X as a sparse (p, p) array, in the Fantope, exact zeros where it is zero or has to be."""
        return self.factors.matrix(self.n_features, lambda X: self.penalty.forbidden(X, self.support))

    @cached_property
    def components(self) -> Array:
        """(d, p) orthonormal basis V of the leading range of X that diagonalises V S Vᵀ.

        By descending explained variance; the entry of largest magnitude of each component is positive; exact zeros
        off the support.
        """
        V = self.factors.vectors[: self.n_components]
        S = self.covariance.block(self.support, self.support)
        result = np.zeros((self.n_components, self.n_features))
        result[:, self.support] = principal_axes(V, S)[0]
        return result

    @cached_property
    def explained_variance(self) -> Array:
        """(d,) vᵀSv of each component, descending."""
        return self._variances(self.components[:, self.support])

    def loadings(self, rotation: str | None = "sparse") -> Array:
        """Return a basis of the certified subspace as columns: one row for each variable.

        Parameters
        ----------
        rotation : "sparse" or None
            "sparse" is the orthonormal basis with the smallest ℓ₁ norm, in which each component has its own variables
            if the subspace allows it; None is ``components``, whose scores are uncorrelated. The subspace, the
            certificate and the variance explained together are the same.

        Returns
        -------
        (p, d) array
            By descending variance; the largest entry of each column is positive.

        Examples
        --------
        >>> import numpy as np, fantope
        >>> S = np.kron(np.eye(2), np.full((3, 3), 0.5)) + 0.05
        >>> np.count_nonzero(fantope.solve(S, 2, 0.1).loadings(), axis=0)
        array([3, 3])
        """
        check_choice("rotation", rotation, ("sparse", None))
        if rotation is None:
            return self.components.T
        rows = self.support
        basis = sparse_basis(self.components[:, rows].T)
        variance = self._variances(basis.T)
        basis = basis[:, np.argsort(-variance, kind="stable")]
        basis *= np.sign(basis[np.abs(basis).argmax(axis=0), np.arange(self.n_components)])
        result = np.zeros((self.n_features, self.n_components))
        result[rows] = basis + 0.0  # no negative zeros
        return result

    def loading_variances(self, rotation: str | None = "sparse") -> Array:
        """Return (d,) vᵀSv of each column of :meth:`loadings`; those of a sparse basis may overlap."""
        return self._variances(self.loadings(rotation)[self.support].T)

    def _variances(self, V: Array) -> Array:
        S = self.covariance.block(self.support, self.support)
        return np.asarray(np.einsum("ij,jk,ik->i", V, S, V))

    def verify(self, S: object = None) -> Certificate:
        """Recompute feasibility, objective and dual bound from X and U alone.

        Parameters
        ----------
        S : (p, p) array or covariance operator, optional
            The matrix to check against; the one that was solved if omitted.

        Returns
        -------
        Certificate
            The recomputed bracket.

        Raises
        ------
        CertificateError
            If X is not in the Fantope, U is not in the box, or the bracket is not the one reported.
        """
        matrix = self.covariance if S is None else check_covariance(S)
        if matrix.size != self.n_features:
            raise CertificateError(
                f"S must have the {self.n_features} variables of the problem solved, got {matrix.size}."
            )
        reported = Certificate(self.objective, self.dual_bound)
        matrix = pose(matrix, self.penalty).S
        found, difference = verify_reported(matrix, self.projection, self.dual, self.n_components, reported)
        if difference:
            raise CertificateError(f"{difference}: this is not the matrix that was solved.")
        return found

    @cached_property
    def _leverage_bounds(self) -> tuple[Array, Array]:
        if self.gap > HOPELESS:
            return np.zeros(self.n_features), np.ones(self.n_features)
        S = pose(self.covariance, self.penalty).S
        return leverage_bounds(S, self.dual, self.factors, self.n_components, self.objective)

    def leverage_bounds(self) -> tuple[Array, Array]:
        """Return (p,) lower and upper bounds of the leverage X*_jj that hold for every optimal X*.

        They follow from the certificate alone, are safe against rounding, and close in on X_jj as the gap does where
        the optimum is unique.

        Examples
        --------
        >>> import fantope
        >>> sol = fantope.solve([[2.0, 0.9, 0.0], [0.9, 1.8, 0.0], [0.0, 0.0, 1.0]], 1, 0.1)
        >>> lower, upper = sol.leverage_bounds()
        >>> (lower > 0).tolist(), bool(upper[2] < 1e-3)
        ([True, True, False], True)
        """
        lower, upper = self._leverage_bounds
        return lower.copy(), upper.copy()

    def verdicts(self, threshold: float | None = None) -> StringArray:
        """Return for each variable what the certificate proves: "in", "out" or "undecided".

        Parameters
        ----------
        threshold : float, optional
            "out" says that the leverage is below it in every optimum. By default a tenth of the mean leverage in the
            support, d/|support|. "in" says that the leverage is positive in every optimum. A smaller ``tol`` decides
            more variables.

        Examples
        --------
        >>> import fantope
        >>> fantope.solve([[2.0, 0.9, 0.0], [0.9, 1.8, 0.0], [0.0, 0.0, 1.0]], 1, 0.1).verdicts().tolist()
        ['in', 'in', 'out']
        """
        if threshold is None:
            threshold = 0.1 * self.n_components / len(self.support)
        lower, upper = self._leverage_bounds
        below = upper < check_nonnegative("threshold", threshold)
        return np.where(below, "out", np.where(lower > 0.0, "in", "undecided"))

    def summary(self) -> str:
        """Return what was found, in sentences."""
        d, k = self.n_components, len(self.support)
        lines = [
            f"{d} sparse component{'s' if d > 1 else ''} on {k} of {self.n_features} variables "
            f"(alpha = {self.alpha:g}, {self.solver}, {self.n_iter} iterations).",
            f"The optimum lies between {self.objective:.8g} and {self.dual_bound:.8g}: relative gap {self.gap:.2g}. "
            f"Status: {self.status}.",
            *about_zero(self),
        ]
        if self.steps:
            lines.append(
                f"The penalty is folded concave, by {len(self.steps)} convex steps. Certified is the optimum of each "
                "step (the bracket is the last one's). Not certified is that no other X does better under the concave "
                f"penalty itself, where this one has {self.steps[-1].concave_objective:.8g}; no step made that worse."
            )
        shown = ", ".join(f"{value:.2f}" for value in self.eigenvalues[: d + 3])
        if self.is_projection:
            lines.append(
                f"X is a projection (eigenvalues {shown}): the data single out a {d}-dimensional sparse subspace."
            )
        else:
            lines.append(
                f"X is not a projection (eigenvalues {shown}{', …' if len(self.eigenvalues) > d + 3 else ''}): at this "
                f"alpha the data do not single out a {d}-dimensional sparse subspace; read the components with care, "
                "and try another n_components or a smaller alpha."
            )
        said, of_step = self.verdicts(), " of the last step" if self.steps else ""
        lines.append(
            f"Proven by the certificate: {np.count_nonzero(said == 'in')} variables are in use in every "
            f"optimum{of_step} and {np.count_nonzero(said == 'out')} carry no weight to speak of in any; "
            f"{np.count_nonzero(said == 'undecided')} are undecided at this gap."
        )
        return "\n".join(lines)

    def to_frame(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Return one row per variable in use: its leverage X_jj and its loading on each component (needs pandas).

        Parameters
        ----------
        names : sequence of str, optional
            Of all p variables; by default those that the data came with, or indices. ``.reindex(names, fill_value=0)``
            adds the variables that are not in use.

        Examples
        --------
        >>> import fantope
        >>> sol = fantope.solve([[2.0, 0.9, 0.0], [0.9, 1.8, 0.0], [0.0, 0.0, 1.0]], 1, 0.1)
        >>> sol.to_frame(["a", "b", "c"]).round(2)
                  leverage  component_1
        variable
        a             0.56         0.75
        b             0.44         0.66
        """
        return solution_frame(self, names)

    def _repr_html_(self) -> str:
        return solution_html(self)
