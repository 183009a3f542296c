"""Convex minimisation over an intersection of sets through an exact penalty (section 3.2 of the paper).

minimise f(x) over K = C₁ ∩ … ∩ C_l ∩ {g₁ ≤ 0} ∩ … ∩ {g_m ≤ 0}, touching one set at a time.
"""

from fantope.paper.intersection.incremental import incremental
from fantope.paper.intersection.problem import (
    Ball,
    Interior,
    Intersection,
    LevelSet,
    Objective,
    ProjectionSet,
    slater_weights,
)
from fantope.paper.intersection.ready import fps, largest_at_most, nearest_correlation, smallest_at_least
from fantope.paper.intersection.splitting import Minimum, splitting

__all__ = [
    "Ball",
    "Interior",
    "Intersection",
    "LevelSet",
    "Minimum",
    "Objective",
    "ProjectionSet",
    "fps",
    "incremental",
    "largest_at_most",
    "nearest_correlation",
    "slater_weights",
    "smallest_at_least",
    "splitting",
]
