"""Ordinary PCA: what sparsity is worth."""

from sklearn.decomposition import PCA

NAME = "scikit-learn PCA"
PENALTIES = (None,)


def fit(Z, n_components, penalty):
    return PCA(n_components, random_state=0).fit(Z).components_
