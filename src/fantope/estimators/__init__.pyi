# The public names: __init__.py loads each from the module given here when it is first used.
from .online_sparse_pca import OnlineSparsePCA as OnlineSparsePCA
from .online_sparse_precision import OnlineSparsePrecision as OnlineSparsePrecision
from .sparse_pca import SparsePCA as SparsePCA
from .sparse_pca_cv import SparsePCACV as SparsePCACV
from .sparse_precision import SparsePrecision as SparsePrecision
