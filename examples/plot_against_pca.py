"""
Beside PCA and scikit-learn's SparsePCA
=======================================

Few samples, many variables. PCA loads on everything; scikit-learn's ``SparsePCA`` is sparse, but its problem is not
convex and nothing says how good its answer is; fantope's answer is sparse and certified.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA, SparsePCA

import fantope

sim = fantope.simulate(60, 120, sizes=(15, 10), random_state=3)
fits = {
    "truth": sim.loadings.T,
    "PCA": PCA(2).fit(sim.Z).components_,
    "sklearn SparsePCA": SparsePCA(2, alpha=2.0, max_iter=100, random_state=0).fit(sim.Z).components_,
    "fantope": fantope.SparsePCA(2, alpha=0.3).fit(sim.Z).components_,
}

# %%
# How far is each from the true subspace, and how many variables does it use?

for name, components in fits.items():
    used = np.abs(components).max(axis=0) > 0
    basis = np.linalg.qr(components.T)[0]
    error = np.linalg.norm(basis @ basis.T - sim.projection)
    print(f"{name:18} {used.sum():4d} variables, distance from the true subspace {error:.2f}")

figure = plt.figure(figsize=(8, 5), layout="constrained")
scaled = {name: row / np.linalg.norm(row, axis=1, keepdims=True) for name, row in fits.items()}
fantope.plotting.plot_loadings(scaled, groups=(15, 10), fig=figure)
plt.show()
