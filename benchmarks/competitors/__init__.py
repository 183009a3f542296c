"""One small file for each method compared: NAME, PENALTIES and fit(Z, n_components, penalty) → components."""

from benchmarks.competitors import (
    fantope_sparse_pca,
    sklearn_mini_batch_sparse_pca,
    sklearn_pca,
    sklearn_sparse_pca,
)

ALL = (fantope_sparse_pca, sklearn_pca, sklearn_sparse_pca, sklearn_mini_batch_sparse_pca)
