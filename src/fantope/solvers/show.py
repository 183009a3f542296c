"""A solution as a notebook and a table show it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fantope.errors import need
from fantope.notebook import card, loadings
from fantope.problem.certificate import ABOUT_ZERO, size_of_terms

if TYPE_CHECKING:
    import pandas as pd

    from fantope.solvers.result import Solution


def variable_names(solution: Solution) -> list[str] | None:
    """Return the names that the data came with, if any."""
    names = getattr(solution.covariance, "names", None)
    return None if names is None else [str(name) for name in names]


def facts(solution: Solution) -> dict[str, str]:
    """Return what is to be known of a solution, in a line each."""
    d, k = solution.n_components, len(solution.support)
    values = ", ".join(f"{value:.2f}" for value in solution.eigenvalues[: d + 3])
    kind = "a projection" if solution.is_projection else "not a projection: read the components with care"
    return {
        "optimum": f"between {solution.objective:.8g} and {solution.dual_bound:.8g}, relative gap {solution.gap:.2g}",
        "support": f"{k} of {solution.n_features} variables at alpha = {solution.alpha:g}",
        "X": f"{kind} (eigenvalues {values}{', …' if len(solution.eigenvalues) > d + 3 else ''})",
        "status": f"{solution.status} ({solution.solver}, {solution.n_iter} iterations)",
    }


def about_zero(solution: Solution) -> list[str]:
    """Return how wide the bracket is beside S and alpha where the optimum is tiny beside them; else nothing."""
    terms = size_of_terms(solution.dual.S, solution.projection, solution.dual.penalty)
    if max(abs(solution.objective), abs(solution.dual_bound)) >= ABOUT_ZERO * terms:
        return []
    width = max(solution.dual_bound - solution.objective, 0.0)
    return [
        f"The optimum is about zero beside the terms of {terms:.3g} whose difference it is: a gap relative to it says "
        f"little, and the bracket is {width / terms:.2g} of them wide."
    ]


def solution_html(solution: Solution) -> str:
    """Return bracket, support and loadings as HTML."""
    d = solution.n_components
    title = f"{d} sparse component{'s' if d > 1 else ''}"
    drawn = loadings(solution.components, variable_names(solution), solution.explained_variance)
    return card(title, facts(solution), drawn)


def solution_frame(solution: Solution, names: Sequence[str] | None) -> pd.DataFrame:
    """Return one row for each variable in use."""
    need("pandas", "frames", "a DataFrame")
    import pandas as pd

    p, rows = solution.n_features, solution.support
    known = variable_names(solution) if names is None else list(names)
    if known is not None and len(known) != p:
        raise ValueError(f"names must hold one name for each of the {p} variables, got {len(known)}.")
    index = rows if known is None else np.array(known, dtype=object)[rows]
    columns = {f"component_{k}": row[rows] for k, row in enumerate(solution.components, start=1)}
    leverage = solution.projection.diagonal()[rows]
    return pd.DataFrame({"leverage": leverage, **columns}, index=pd.Index(index, name="variable"))
