"""scikit-learn's SparsePCA: dictionary learning, not convex; its loadings need not be orthogonal."""

from sklearn.decomposition import SparsePCA

NAME = "scikit-learn SparsePCA"
PENALTIES = (0.5, 1.0, 2.0, 4.0)


def fit(Z, n_components, penalty):
    return SparsePCA(n_components, alpha=penalty, random_state=0).fit(Z).components_
