"""Exactly k variables: how much variance they can explain, between two certified numbers."""

from fantope.cardinality.bracket import Bracket, BracketCurve, cardinality_bracket

__all__ = ["Bracket", "BracketCurve", "cardinality_bracket"]
