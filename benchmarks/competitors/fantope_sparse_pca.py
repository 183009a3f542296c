"""The estimator of this library, with a penalty fixed beforehand by the paper's formula."""

import numpy as np

import fantope

NAME = "fantope.SparsePCA"
PENALTIES = (None,)


def fit(Z, n_components, penalty):
    n, p = Z.shape
    alpha = 0.5 * float(np.sqrt(np.log(p) / n))
    return fantope.SparsePCA(n_components, alpha=alpha, tol=1e-4).fit(Z).components_
