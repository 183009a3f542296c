"""Penalties: what is subtracted from ⟨S, X⟩, by value, prox and dual set; one file for each."""

from fantope.penalties.base import Entrywise, Penalty
from fantope.penalties.concave import MCP, SCAD, Concave
from fantope.penalties.group import Group
from fantope.penalties.l1 import L1
from fantope.penalties.nonnegative import NonNegative
from fantope.penalties.smooth import Smooth
from fantope.penalties.structured import Structured
from fantope.penalties.trend import Trend
from fantope.penalties.weighted import WeightedL1

__all__ = [
    "L1", "MCP", "SCAD", "Concave", "Entrywise", "Group", "NonNegative", "Penalty", "Smooth", "Structured", "Trend",
    "WeightedL1",
]  # fmt: skip
