"""The regularisation path: from the largest penalty down, each solution warm-started from the one before."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fantope.checks import check_nonnegative, check_whole
from fantope.errors import need, require
from fantope.notebook import card, curve, table
from fantope.operators import Covariance
from fantope.path.walk import Walk
from fantope.penalties import Concave, Penalty
from fantope.penalties.l1 import as_shape
from fantope.problem.decomposition import largest_alpha
from fantope.solvers import Solution
from fantope.solvers.base import Solver
from fantope.solvers.result import Record
from fantope.solvers.solve import Interrupted, choose_solver
from fantope.solvers.validation import check_covariance, check_max_iter, check_n_components, check_tol
from fantope.typing import Array, IntArray

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_MAX_VARIABLES = 500  # where an automatic grid ends: below it lies what nobody wants to read
GRID_RATIO = 0.1  # of an automatic grid's smallest to its largest alpha


@dataclass(frozen=True)
class Path:
    """Certified solutions by descending alpha.

    Attributes
    ----------
    solutions : tuple of Solution
    interrupted : bool
        Whether Ctrl-C ended it early.
    """

    solutions: tuple[Solution, ...]
    interrupted: bool = False

    @property
    def alphas(self) -> Array:
        """(k,) penalties, in descending order."""
        return np.array([solution.alpha for solution in self.solutions])

    @property
    def n_active(self) -> IntArray:
        """(k,) number of variables in use."""
        return np.array([len(solution.support) for solution in self.solutions], dtype=np.intp)

    @property
    def explained_variance(self) -> Array:
        """(k,) variance that the components explain together, tr(V S Vᵀ)."""
        return np.array([solution.explained_variance.sum() for solution in self.solutions])

    @property
    def gaps(self) -> Array:
        """(k,) certified relative gaps."""
        return np.array([solution.gap for solution in self.solutions])

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, index: int) -> Solution:
        return self.solutions[index]

    def __iter__(self) -> Iterator[Solution]:
        return iter(self.solutions)

    def leverages(self) -> tuple[IntArray, Array]:
        """Return the variables used anywhere on the path and their leverages diag X, one row per alpha."""
        variables = np.unique(np.concatenate([solution.support for solution in self.solutions]))
        diagonals = [solution.projection.diagonal()[variables] for solution in self.solutions]
        return variables, np.array(diagonals)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per alpha (needs pandas)."""
        need("pandas", "frames", "a DataFrame")
        import pandas as pd

        return pd.DataFrame(
            {
                "alpha": self.alphas,
                "n_variables": self.n_active,
                "explained_variance": self.explained_variance,
                "objective": [solution.objective for solution in self.solutions],
                "dual_bound": [solution.dual_bound for solution in self.solutions],
                "gap": self.gaps,
                "is_projection": [solution.is_projection for solution in self.solutions],
                "n_iter": [solution.n_iter for solution in self.solutions],
                "status": [solution.status.name for solution in self.solutions],
            }
        )

    def _repr_html_(self) -> str:
        k = len(self)
        if not k:
            return card("An empty path", {})
        rows = np.unique(np.linspace(0, k - 1, min(k, 12)).astype(int))
        shown = (
            (f"{s.alpha:.4g}", str(len(s.support)), f"{s.explained_variance.sum():.4g}", f"{s.gap:.1e}", s.status.name)
            for s in (self[i] for i in rows)
        )
        facts = {
            "alpha": f"{k} values from {self.alphas[0]:.4g} down to {self.alphas[-1]:.4g}",
            "certified": f"every one over all {self[0].n_features} variables, gap at most {self.gaps.max():.2g}",
        }
        return card(
            f"Path of {self[0].n_components} sparse components" + (" (interrupted)" if self.interrupted else ""), facts,
            curve(self.alphas.tolist(), self.n_active.tolist(), label="variables in use; alpha descends to the right"),
            table(("alpha", "variables", "explained", "gap", "status"), shown),
        )  # fmt: skip


def solve_path(
    S: Any,
    n_components: int,
    alphas: Any = None,
    *,
    penalty: Penalty | Concave | None = None,
    n_alphas: int = 30,
    max_variables: int | None = None,
    tol: float = 1e-3,
    max_iter: int | None = None,
    solver: str | Solver = "auto",
    callback: Callable[[float, Record], object] | None = None,
) -> Path:
    """Solve for a range of penalties, from the largest down, each certified on its own over all variables.

    Parameters
    ----------
    S : (p, p) array or covariance operator
    n_components : int
    alphas : sequence of float, optional
        Solved in descending order. By default ``n_alphas`` values, evenly spaced on a log scale from ``alpha_max``
        down to a tenth of it.
    penalty : Penalty, optional
        Ω of :mod:`fantope.penalties`; each alpha takes the place of its own. By default the ℓ₁ norm.
    n_alphas : int, default 30
    max_variables : int, optional
        Stop before the first solution with more variables than this. Default: no limit for given ``alphas``, 500 for
        an automatic grid.
    tol : float, default 1e-3
        Relative gap of each solution.
    max_iter : int, optional
        For each alpha.
    solver : str or solver object, default "auto"
    callback : callable, optional
        Called with alpha and a :class:`Record`.

    Returns
    -------
    Path
        Ctrl-C ends it early: the solutions so far are returned, ``interrupted`` is True, and a solution that was under
        way has status INTERRUPTED; before the first one, ``KeyboardInterrupt`` is raised. A penalty whose problem
        memory cannot hold ends it too, with a warning.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(200, 60)
    >>> path = fantope.solve_path(sim.Z.T @ sim.Z / 200, 2, [1.0, 0.5, 0.2])
    >>> path.n_active.tolist() == sorted(path.n_active)
    True
    """
    covariance = check_covariance(S)
    d = check_n_components(n_components, covariance.size)
    tol = check_tol(tol, covariance.size)
    max_iter = check_max_iter(max_iter)
    require(callback is None or callable(callback), "callback", "be a function of alpha and one record", repr(callback))
    if alphas is None and max_variables is None:
        max_variables = DEFAULT_MAX_VARIABLES
    shape = as_shape(penalty, covariance.size)
    chosen = choose_solver(solver, None, shape)
    grid = _grid(covariance, shape, alphas, n_alphas)
    walk = Walk(covariance, d, tol, penalty=shape, solver=chosen, max_iter=max_iter)
    solutions: list[Solution] = []
    interrupted = False
    try:
        for alpha in map(float, grid):
            report = None if callback is None else partial(callback, alpha)
            solution = walk.solve(alpha, ahead=float(grid[-1]), callback=report)
            if max_variables is not None and len(solution.support) > max_variables and solutions:
                break
            solutions.append(solution)
    except KeyboardInterrupt as stop:
        interrupted = True
        if isinstance(stop, Interrupted):
            solutions.append(stop.solution())
        if not solutions:
            raise
    except MemoryError as error:
        if not solutions:
            raise
        warnings.warn(f"The path ends at alpha = {solutions[-1].alpha:g}: {error}", RuntimeWarning, stacklevel=2)
    return Path(tuple(solutions), interrupted)


def _grid(S: Covariance, penalty: Penalty | Concave, alphas: Any, n_alphas: int) -> Array:
    """Return the penalties, distinct and in descending order."""
    if alphas is not None:
        values = [check_nonnegative("alphas", float(alpha)) for alpha in np.ravel(alphas)]
        require(values, "alphas", "hold at least one number", "none", "leave it out for an automatic grid")
        return np.unique(values)[::-1]
    count = check_whole("n_alphas", n_alphas, 1)
    largest = largest_alpha(S, penalty)
    return largest * np.geomspace(1.0, GRID_RATIO, count) if largest > 0 else np.zeros(1)
