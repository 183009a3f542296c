"""Solutions over a range of penalties, and the penalty that meets a target."""

from fantope.path.solve_path import Path, solve_path
from fantope.path.targets import ConstrainedSolution, solve_for_norm, solve_for_size, solve_for_variance

__all__ = ["ConstrainedSolution", "Path", "solve_for_norm", "solve_for_size", "solve_for_variance", "solve_path"]
