"""The paper's constants and bounds: the public door to :mod:`fantope.paper.theory`."""

from fantope.paper.theory import *
from fantope.paper.theory import __all__ as __all__
