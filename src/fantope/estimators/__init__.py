"""scikit-learn estimators."""

from fantope.estimators.online_sparse_pca import OnlineSparsePCA
from fantope.estimators.sparse_pca import SparsePCA
from fantope.estimators.sparse_pca_cv import SparsePCACV

__all__ = ["OnlineSparsePCA", "SparsePCA", "SparsePCACV"]
