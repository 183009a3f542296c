"""Figures of the model, of solutions and of their certificates, and by name those that applications add.

Importing this package does not import matplotlib; calling one of its functions does.
"""

from functools import cache
from typing import Any

from fantope import extensions
from fantope.plotting.choice import plot_cardinality, plot_cross_validation, plot_scree, plot_stability
from fantope.plotting.components import plot_biplot, plot_loadings_heatmap
from fantope.plotting.displays import (
    BiplotDisplay,
    CardinalityDisplay,
    ConvergenceDisplay,
    CrossValidationDisplay,
    LeverageDisplay,
    LoadingsDisplay,
    ScreeDisplay,
    StabilityDisplay,
)
from fantope.plotting.path import plot_explained_variance, plot_leverages, plot_path_gaps, plot_top_loadings
from fantope.plotting.solution import plot_convergence, plot_loadings, plot_projection, plot_setting

__all__ = [
    "BiplotDisplay",
    "CardinalityDisplay",
    "ConvergenceDisplay",
    "CrossValidationDisplay",
    "LeverageDisplay",
    "LoadingsDisplay",
    "ScreeDisplay",
    "StabilityDisplay",
    "plot_biplot",
    "plot_cardinality",
    "plot_convergence",
    "plot_cross_validation",
    "plot_explained_variance",
    "plot_leverages",
    "plot_loadings",
    "plot_loadings_heatmap",
    "plot_path_gaps",
    "plot_projection",
    "plot_scree",
    "plot_setting",
    "plot_stability",
    "plot_top_loadings",
]


def __getattr__(name: str) -> Any:
    for module in _applications() if name.startswith("plot_") else ():
        if name in module.__all__:
            return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *(name for module in _applications() for name in module.__all__)])


@cache
def _applications() -> list[Any]:
    found = (extensions.find("figures", name) for name in extensions.names("figures"))
    return [module for module in found if module is not None]
