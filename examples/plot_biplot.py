"""
Samples and variables in one picture
====================================

Thirteen measurements of 178 wines from three growers (scikit-learn's wine data). Sparse components are read like those
of PCA, with fewer arrows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

import fantope

wine = load_wine(as_frame=True)
pca = fantope.SparsePCA(2, alpha=0.35, kind="correlation").fit(wine.data)
print(f"{len(pca.support_)} of 13 measurements explain {pca.explained_variance_ratio_.sum():.0%} of the variance")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained", width_ratios=[3, 2])
growers = [f"grower {k + 1}" for k in wine.target]
fantope.plotting.BiplotDisplay.from_estimator(pca, wine.data, groups=growers, ax=left)
fantope.plotting.LoadingsDisplay.from_estimator(pca, ax=right)
plt.show()
