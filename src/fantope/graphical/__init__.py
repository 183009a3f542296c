"""The graphical lasso: sparse precision matrices with a log-determinant duality gap as certificate."""

from fantope.graphical.result import PrecisionSolution, partial_correlations
from fantope.graphical.solve import graphical_lasso

__all__ = ["PrecisionSolution", "graphical_lasso", "partial_correlations"]
