"""What the graphical lasso returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse

from fantope.graphical.certificate import Weights, bound_below, objective_above
from fantope.graphical.inputs import as_covariance
from fantope.notebook import card, table
from fantope.problem.certificate import CertificateError
from fantope.solvers.result import Status
from fantope.typing import Array, IntArray

SHOWN = 8  # strongest pairs in a notebook


@dataclass(frozen=True)
class PrecisionSolution:
    """A sparse precision matrix with a certified distance from the optimum.

    Attributes
    ----------
    precision : sparse array of shape (p, p)
        Θ, positive definite, exact zeros where it is zero.
    covariance : ndarray of shape (p, p)
        W, the dual point: within alpha of S off the diagonal. At the optimum it is Θ⁻¹.
    objective, dual_bound : float
        −log det Θ + ⟨S, Θ⟩ + alpha·Σ|Θ_ij|, and a number that the optimum is not below, both safe against rounding.
    gap : float
        Their difference, in nats.
    status : Status
    n_iter : int
        Steps in the block that took most.
    weights : Weights
    labels : ndarray of shape (p,)
        The connected component of each variable.
    """

    precision: scipy.sparse.csr_array
    covariance: Array = field(repr=False)
    objective: float
    dual_bound: float
    status: Status
    n_iter: int
    weights: Weights
    labels: IntArray = field(repr=False)

    @property
    def gap(self) -> float:
        """Certified distance of the objective from the optimum, in nats."""
        return self.objective - self.dual_bound

    @property
    def n_edges(self) -> int:
        """Number of pairs of variables that are not independent given all others."""
        return int((self.precision.nnz - np.count_nonzero(self.precision.diagonal())) // 2)

    @property
    def partial_correlations(self) -> scipy.sparse.csr_array:
        """−Θ_ij/√(Θ_ii Θ_jj) off the diagonal."""
        return partial_correlations(self.precision)

    def verify(self, S: Any) -> None:
        """Recompute both bounds from S, Θ and W alone; raise ``CertificateError`` if they do not hold."""
        S, Theta = as_covariance(S), self.precision.toarray()
        if S.shape != Theta.shape:
            raise CertificateError(f"S must have shape {Theta.shape}, as precision has, got {S.shape}.")
        if not (np.array_equal(Theta, Theta.T) and np.array_equal(self.covariance, self.covariance.T)):
            raise CertificateError("precision and covariance must be symmetric, and are not.")
        if not np.array_equal(self.weights.into_box(self.covariance, S), self.covariance):
            raise CertificateError("covariance is not within alpha of S: it proves nothing about this S.")
        objective, bound = objective_above(S, Theta, self.weights), bound_below(self.covariance)
        slack = 1e-9 * max(1.0, abs(objective), len(S))
        if not (objective <= self.objective + slack and bound >= self.dual_bound - slack):
            raise CertificateError(
                f"the bracket is [{bound:.9g}, {objective:.9g}], not [{self.dual_bound:.9g}, {self.objective:.9g}]."
            )

    def _repr_html_(self) -> str:
        p, found = len(self.labels), scipy.sparse.coo_array(scipy.sparse.triu(self.partial_correlations))
        order = np.argsort(-np.abs(found.data), kind="stable")[:SHOWN]
        pairs = [(str(found.row[k]), str(found.col[k]), f"{found.data[k]:+.3f}") for k in order]
        lines = {
            "optimum": f"between {self.dual_bound:.8g} and {self.objective:.8g}, gap {self.gap:.2g} nats",
            "edges": f"{self.n_edges} of {p * (p - 1) // 2} pairs at alpha = {self.weights.alpha:g}",
            "status": f"{self.status} ({self.n_iter} iterations)",
        }
        strongest = [table(("i", "j", "partial correlation"), pairs)] if pairs else []
        return card(f"Sparse precision matrix of {p} variables", lines, *strongest)


def partial_correlations(precision: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Return −Θ_ij/√(Θ_ii Θ_jj) off the diagonal of a sparse Θ."""
    scale = scipy.sparse.diags_array(1.0 / np.sqrt(precision.diagonal()))
    found = scipy.sparse.coo_array(scale @ precision @ scale)
    row, column = found.coords
    off = row != column
    return scipy.sparse.csr_array((-found.data[off], (row[off], column[off])), shape=precision.shape)
