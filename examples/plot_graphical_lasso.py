"""
Which variables are linked directly
===================================

Correlations go along chains: neighbours of neighbours are correlated too. The graphical lasso looks for direct links,
a sparse inverse of the covariance matrix, and here it comes with a certificate as well.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope

p = 25
precision = np.eye(p) * 2.0 - 0.9 * (np.eye(p, k=1) + np.eye(p, k=-1))  # a chain
X = np.random.default_rng(0).multivariate_normal(np.zeros(p), np.linalg.inv(precision), size=400)
S = np.corrcoef(X.T)

found = fantope.graphical_lasso(S, 0.25)
links = found.precision.toarray()
true = np.abs(np.subtract.outer(range(p), range(p))) == 1
print(f"{found.n_edges} links, {int((links[true] != 0).sum()) // 2} of {p - 1} true ones, gap {found.gap:.1e} nats")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for ax, matrix, title in zip(axes, (S, links), ("correlations", "direct links, −Θ"), strict=True):
    shown = matrix if title == "correlations" else -(matrix - np.diag(np.diag(matrix)))
    limit = np.abs(shown - np.diag(np.diag(shown))).max()
    ax.imshow(shown, cmap="RdBu_r", vmin=-limit, vmax=limit)
    ax.set_title(title, loc="left")
plt.show()
