"""The one walk along alpha: every solution certified and warm-started, few scans of the data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from fantope.operators import Covariance, DenseCovariance
from fantope.operators.graph import ThresholdGraph
from fantope.penalties import L1, Concave, Entrywise, Penalty
from fantope.problem.decomposition import Posed, common_graph, component_labels, decompose, pose
from fantope.solvers import Solution
from fantope.solvers.base import Solver
from fantope.solvers.concave import concave_steps, steps_graph
from fantope.solvers.result import Record
from fantope.solvers.solve import choose_solver, solve_parts


class Walk:
    """Solutions of one problem for one alpha after the other, in any order; ``solutions`` are those so far.

    Each alpha takes the place of the penalty's own, by default of the ℓ₁ norm; each solution has a relative gap of
    ``tol``, and ``max_iter`` iterations at most, of the solver that "auto" stands for by default. Solutions from
    elsewhere may be added: they serve as starts like the others.
    """

    def __init__(
        self,
        S: Covariance,
        n_components: int,
        tol: float,
        *,
        penalty: Penalty | Concave | None = None,
        solver: Solver | None = None,
        max_iter: int | None = None,
    ) -> None:
        self.S, self.n_components, self.tol, self.max_iter = S, n_components, tol, max_iter
        self.penalty: Penalty | Concave = L1(0.0) if penalty is None else penalty
        self._posed = None if isinstance(self.penalty, Concave) else pose(S, self.penalty)
        self.solver = choose_solver("auto", None, self.penalty) if solver is None else solver
        self.solutions: list[Solution] = []
        self._starts: list[Solution] = []  # of concave penalties: ℓ₁ solutions
        self._scan: tuple[float, ThresholdGraph | None] | None = None

    def solve(
        self,
        alpha: float,
        *,
        ahead: float,
        tol: float | None = None,
        callback: Callable[[Record], object] | None = None,
    ) -> Solution:
        """Return the solution at ``alpha``, started from the one nearest to it, and keep it.

        If the data have to be scanned, the scan serves every penalty from ``ahead`` on, which is at most alpha. ``tol``
        takes the place of the walk's own. Ctrl-C and a lack of memory are raised as what they are.
        """
        tol, graph = self.tol if tol is None else tol, self._graph(alpha, ahead)

        def convex(posed: Posed, init: Solution | None, enough: float = 0.0) -> Solution:
            own = posed.own
            labels = component_labels(posed.S, own, graph) if isinstance(own, Entrywise) else None
            parts = decompose(self.S, self.n_components, posed.penalty, labels, posed)
            return solve_parts(self.S, parts, self.solver, tol, self.max_iter, init, callback, enough)

        def step(penalty: Entrywise, init: Solution | None, enough: float = 0.0) -> Solution:
            """Begin with the nearest of the ℓ₁ solutions, and keep the one found; steps go on from the last X."""
            posed = pose(self.S, penalty)
            if init is not None:
                return convex(posed, init, enough)
            nearest = _nearest(self._starts, penalty.alpha)
            if nearest is not None and nearest.alpha == penalty.alpha:
                return nearest
            # Its step size, which suits another alpha, took 1.0 to 2.2 times the iterations to so rough a gap.
            warm = None if nearest is None else replace(nearest, step_size=None)
            self._starts.append(convex(posed, warm, enough))
            return self._starts[-1]

        if isinstance(self.penalty, Concave):
            found = concave_steps(self.S, self.penalty.scaled(float(alpha)), step)
        else:
            found = convex(self._posed_at(alpha), _nearest(self.solutions, alpha))
        self.solutions.append(found)
        return found

    def _posed_at(self, alpha: float) -> Posed:
        assert self._posed is not None  # for all penalties but the concave ones
        return self._posed.scaled(float(alpha))

    def _graph(self, alpha: float, ahead: float) -> ThresholdGraph | None:
        S, own = (self.S, None) if self._posed is None else (self._posed.S, self._posed.own)
        if isinstance(S, DenseCovariance) or (isinstance(own, Entrywise) and len(own.rows) == S.size):
            return None
        if self._scan is None or self._scan[0] > alpha:
            self._scan = ahead, self._scanned(S, float(ahead))
        return self._scan[1]

    def _scanned(self, S: Covariance, alpha: float) -> ThresholdGraph | None:
        if isinstance(self.penalty, Concave):
            return steps_graph(S, self.penalty.scaled(alpha))
        own = self._posed_at(alpha).own
        return common_graph(S, own) if isinstance(own, Entrywise) else None


def _nearest(solutions: list[Solution], alpha: float) -> Solution | None:
    return min(solutions, key=lambda solution: abs(solution.alpha - alpha), default=None)
