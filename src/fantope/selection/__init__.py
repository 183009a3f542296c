"""Which penalty and how many components: rules that say why they choose what they choose."""

from fantope.selection.components import ParallelAnalysis, parallel_analysis
from fantope.selection.cross_validation import CrossValidation, cross_validate
from fantope.selection.overlap import Overlap, select_by_overlap
from fantope.selection.stability import Stability, stability_selection

__all__ = [
    "CrossValidation",
    "Overlap",
    "ParallelAnalysis",
    "Stability",
    "cross_validate",
    "parallel_analysis",
    "select_by_overlap",
    "stability_selection",
]
