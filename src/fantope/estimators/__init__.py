"""scikit-learn estimators."""

from fantope.estimators.sparse_pca import SparsePCA

__all__ = ["SparsePCA"]
