"""The one walk along alpha: every solution certified and warm-started, few scans of the data."""

from __future__ import annotations

from collections.abc import Callable

from fantope.operators import Covariance, DenseCovariance
from fantope.operators.graph import ThresholdGraph
from fantope.penalties import L1, Entrywise, Penalty
from fantope.problem.decomposition import common_graph, component_labels, decompose, pose
from fantope.solvers import Solution
from fantope.solvers.base import Solver
from fantope.solvers.result import Record
from fantope.solvers.solve import choose_solver, solve_parts


class Walk:
    """Solutions of one problem for one alpha after the other, in any order.

    Parameters
    ----------
    S : Covariance
    n_components : int
    tol : float
        Relative gap of each solution.
    penalty : Penalty, optional
        Each alpha takes the place of its own. By default the ℓ₁ norm.
    solver : Solver, optional
        By default that of "auto".
    max_iter : int, optional
        For each alpha.

    Attributes
    ----------
    solutions : list of Solution
        So far. Solutions from elsewhere may be added: they serve as starts like the others.
    """

    def __init__(
        self,
        S: Covariance,
        n_components: int,
        tol: float,
        *,
        penalty: Penalty | None = None,
        solver: Solver | None = None,
        max_iter: int | None = None,
    ) -> None:
        self.S, self.n_components, self.tol, self.max_iter = S, n_components, tol, max_iter
        self.penalty = L1(0.0) if penalty is None else penalty
        self._posed = pose(S, self.penalty)
        self.solver = choose_solver("auto", None, self.penalty) if solver is None else solver
        self.solutions: list[Solution] = []
        self._scan: tuple[float, ThresholdGraph] | None = None

    def solve(self, alpha: float, *, ahead: float, callback: Callable[[Record], object] | None = None) -> Solution:
        """Return the solution at ``alpha``, started from the one nearest to it, and keep it.

        Ctrl-C and a lack of memory are raised as what they are.

        Parameters
        ----------
        alpha : float
        ahead : float
            At most alpha: if the data have to be scanned, the scan serves every penalty from here on.
        callback : callable, optional
            Called with each :class:`Record`.
        """
        posed = self._posed.scaled(float(alpha))
        labels = None
        if isinstance(posed.own, Entrywise):
            labels = component_labels(posed.S, posed.own, self._graph(alpha, ahead))
        parts = decompose(self.S, self.n_components, posed.penalty, labels, posed)
        start = min(self.solutions, key=lambda solution: abs(solution.alpha - alpha), default=None)
        found = solve_parts(self.S, parts, self.solver, self.tol, self.max_iter, init=start, callback=callback)
        self.solutions.append(found)
        return found

    def _graph(self, alpha: float, ahead: float) -> ThresholdGraph | None:
        S, own = self._posed.S, self._posed.own
        if isinstance(S, DenseCovariance) or not isinstance(own, Entrywise) or len(own.rows) == S.size:
            return None
        if self._scan is None or self._scan[0] > alpha:
            self._scan = ahead, common_graph(S, own.scaled(float(ahead)))
        return self._scan[1]
