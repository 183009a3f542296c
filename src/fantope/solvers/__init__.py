"""Solvers: one loop (iterate), one result (result), one file per algorithm."""

from fantope.solvers.active_set import ActiveSet
from fantope.solvers.admm import Admm
from fantope.solvers.gradfps import GradFps
from fantope.solvers.near_admm import NearAdmm
from fantope.solvers.projected_subgradient import ProjectedSubgradient
from fantope.solvers.result import Record, Solution, Status
from fantope.solvers.solve import alpha_max, solve
from fantope.solvers.structured import StructuredAdmm
from fantope.solvers.subgradient import Subgradient

__all__ = [
    "ActiveSet",
    "Admm",
    "GradFps",
    "NearAdmm",
    "ProjectedSubgradient",
    "Record",
    "Solution",
    "Status",
    "StructuredAdmm",
    "Subgradient",
    "alpha_max",
    "solve",
]
