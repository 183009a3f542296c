"""Preparation of AnnData: the public door to :mod:`fantope.coexpression.pp`."""

from fantope.coexpression.pp import *
from fantope.coexpression.pp import __all__ as __all__
