"""Minimisation over an intersection of sets: the public door to :mod:`fantope.paper.intersection`."""

from fantope.paper.intersection import *
from fantope.paper.intersection import __all__ as __all__
