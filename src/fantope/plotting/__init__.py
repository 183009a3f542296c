"""Figures of the model, of solutions and of their certificates.

Importing this package does not import matplotlib; calling one of its functions does.
"""

from fantope.plotting.coexpression import plot_comparison, plot_modules, plot_selection, plot_volcano
from fantope.plotting.path import plot_explained_variance, plot_leverages, plot_path_gaps, plot_top_loadings
from fantope.plotting.reproduce import (
    plot_bound,
    plot_error_over_time,
    plot_gaps,
    plot_online_errors,
    plot_penalty_constant,
    plot_recovery,
    plot_regret,
)
from fantope.plotting.simulation import plot_setting
from fantope.plotting.solution import plot_convergence, plot_loadings, plot_projection

__all__ = [
    "plot_bound",
    "plot_comparison",
    "plot_convergence",
    "plot_error_over_time",
    "plot_explained_variance",
    "plot_gaps",
    "plot_leverages",
    "plot_loadings",
    "plot_modules",
    "plot_online_errors",
    "plot_path_gaps",
    "plot_penalty_constant",
    "plot_projection",
    "plot_recovery",
    "plot_regret",
    "plot_selection",
    "plot_setting",
    "plot_top_loadings",
    "plot_volcano",
]
