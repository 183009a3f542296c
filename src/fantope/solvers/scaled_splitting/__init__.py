"""The solver of Online-P's subproblem: a splitting method in a metric that follows the rows of X.

:mod:`schedule` holds every constant, :mod:`metric` what a subproblem starts from, :mod:`iteration` one iteration,
:mod:`recovery` an answer from its iterates, :mod:`solver` when to do what. Passes over arrays are in
:mod:`fantope.kernels.scaled_splitting`.
"""

from fantope.solvers.scaled_splitting.metric import Warm
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.solvers.scaled_splitting.solver import ScaledSplitting, solve_warm

__all__ = ["ScaledSplitting", "Schedule", "Warm", "solve_warm"]
