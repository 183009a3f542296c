"""Checks for those who write their own penalty, solver or covariance operator.

Each raises AssertionError with a sentence that says what does not hold, and returns nothing if all does. They recompute
with NumPy what they compare with, and share no code with the engine.
"""

from fantope.testing.covariance import check_covariance
from fantope.testing.penalty import check_penalty
from fantope.testing.solver import check_solver

__all__ = ["check_covariance", "check_penalty", "check_solver"]
