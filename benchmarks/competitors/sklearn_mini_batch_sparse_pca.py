"""scikit-learn's MiniBatchSparsePCA: faster than SparsePCA and less accurate, by its own documentation."""

from sklearn.decomposition import MiniBatchSparsePCA

NAME = "scikit-learn MiniBatchSparsePCA"
PENALTIES = (0.5, 1.0, 2.0, 4.0)


def fit(Z, n_components, penalty):
    return MiniBatchSparsePCA(n_components, alpha=penalty, random_state=0).fit(Z).components_
