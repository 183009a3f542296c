"""scikit-learn estimators."""

from fantope.estimators.sparse_pca import SparsePCA
from fantope.estimators.sparse_pca_cv import SparsePCACV

__all__ = ["SparsePCA", "SparsePCACV"]
