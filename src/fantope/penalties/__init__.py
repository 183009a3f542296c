"""Penalties: what is subtracted from ⟨S, X⟩, by value, prox and dual set; one file for each."""

from fantope.penalties.base import Entrywise, Penalty
from fantope.penalties.l1 import L1
from fantope.penalties.weighted import WeightedL1

__all__ = ["L1", "Entrywise", "Penalty", "WeightedL1"]
