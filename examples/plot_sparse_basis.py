"""
One group of variables for each component
=========================================

The certificate is about a subspace; its basis is a matter of taste. The usual one has uncorrelated scores, as PCA has,
and mixes groups that explain about as much. The sparsest one gives each group a component of its own.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope

rng = np.random.default_rng(0)
X = rng.standard_normal((120, 60))
for start in (0, 12, 24):  # three groups of twelve, equally strong
    X[:, start : start + 12] += 1.5 * rng.standard_normal((120, 1))
sol = fantope.solve(np.cov(X.T), 3, 0.6)
usual, sparse = sol.components, sol.loadings(rotation="sparse").T
for name, basis in (("usual", usual), ("sparse", sparse)):
    print(f"{name:7} loadings above 0.01: {(np.abs(basis) > 0.01).sum(axis=1).tolist()}")

figure = plt.figure(figsize=(8.5, 3.2), layout="constrained")
fantope.plotting.plot_loadings({"uncorrelated": usual, "sparsest": sparse}, groups=(12, 12, 12), fig=figure)
plt.show()
