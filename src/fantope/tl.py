"""Tools on AnnData: the public door to :mod:`fantope.coexpression.tl`."""

from fantope.coexpression.tl import *
from fantope.coexpression.tl import __all__ as __all__
