"""scikit-learn estimators."""

from lazy_loader import attach_stub

# On first use: the penalty of `fantope fit` needs a part of one of them, and no more.
__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
