"""Figures of the model, of solutions and of their certificates.

Importing this package does not import matplotlib; calling one of its functions does.
"""

from fantope.plotting.path import plot_explained_variance, plot_leverages, plot_path_gaps, plot_top_loadings
from fantope.plotting.simulation import plot_setting
from fantope.plotting.solution import plot_convergence, plot_loadings, plot_projection

__all__ = [
    "plot_convergence",
    "plot_explained_variance",
    "plot_leverages",
    "plot_loadings",
    "plot_path_gaps",
    "plot_projection",
    "plot_setting",
    "plot_top_loadings",
]
