"""
A first fit
===========

Two groups of related variables among noise: sparse PCA finds them, says how far from the optimum its answer can be,
and leaves everything else at exactly zero.
"""

import matplotlib.pyplot as plt

import fantope

sim = fantope.simulate(100, 200, sizes=(20, 15), random_state=0)  # 100 samples of 200 variables, 35 of which matter
pca = fantope.SparsePCA(n_components=2, alpha=0.25).fit(sim.Z)

print(pca.solution_.summary())

# %%
# Loadings of the fit below those of the truth. Blank is exactly zero.

figure = plt.figure(figsize=(8, 3), layout="constrained")
fantope.plotting.plot_loadings({"truth": sim.loadings.T, "fantope": pca.components_}, groups=(20, 15), fig=figure)
plt.show()
