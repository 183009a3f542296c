"""Which penalty and how many components: rules that say why they choose what they choose."""

from fantope.selection.components import ParallelAnalysis, parallel_analysis
from fantope.selection.cross_validation import CrossValidation, cross_validate
from fantope.selection.dimension import ComponentNumber, select_n_components
from fantope.selection.integrated import IntegratedStability, integrated_stability
from fantope.selection.overlap import Overlap, select_by_overlap
from fantope.selection.refitting import Refit, refit
from fantope.selection.shrinkage import shrink_loadings
from fantope.selection.stability import Stability, stability_selection

__all__ = [
    "ComponentNumber",
    "CrossValidation",
    "IntegratedStability",
    "Overlap",
    "ParallelAnalysis",
    "Refit",
    "Stability",
    "cross_validate",
    "integrated_stability",
    "parallel_analysis",
    "refit",
    "select_by_overlap",
    "select_n_components",
    "shrink_loadings",
    "stability_selection",
]
