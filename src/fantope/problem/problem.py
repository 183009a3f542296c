"""The problem: max ⟨S, X⟩ − alpha‖X‖₁ over the Fantope {0 ⪯ X ⪯ I, tr X = d}."""

from __future__ import annotations

from dataclasses import dataclass

from fantope.kernels.elementwise import objective_terms
from fantope.problem.projection import Factors
from fantope.typing import Array, IntArray


@dataclass(frozen=True)
class Problem:
    """One instance, dense and already reduced by the exact decomposition.

    Parameters
    ----------
    S : (m, m) C-contiguous symmetric array
    n_components : int
    alpha : float
    labels : (m,) array, optional
        Component of each variable, if there are several. S is cut between them, and X must be.
    """

    S: Array
    n_components: int
    alpha: float
    labels: IntArray | None = None

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.S)

    def cut(self, A: Array) -> None:
        """Set A to zero between components, in place."""
        if self.labels is not None:
            A[self.labels[:, None] != self.labels] = 0.0

    def objective(self, X: Factors) -> float:
        """Return ⟨S, X⟩ − alpha‖X‖₁."""
        rows = X.rows
        block = self.S if len(rows) == self.size else self.S[rows[:, None], rows]
        inner, norm = objective_terms(block, X.vectors, X.weights)
        return float(inner - self.alpha * norm)
