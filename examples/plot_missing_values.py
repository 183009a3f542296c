"""
Missing values and outliers
===========================

A tenth of the values is missing and some are wild. Each entry of S is computed from the samples that have both
variables, by ranks. S is then perhaps indefinite; the problem stays convex and the certificate holds.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope

sim = fantope.simulate(150, 60, sizes=(10, 8), random_state=0)
rng = np.random.default_rng(0)
X = sim.Z.copy()
X[rng.random(X.shape) < 0.01] *= 30  # wild
X[rng.random(X.shape) < 0.10] = np.nan  # missing

filled = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
ways = {
    "nothing missing, nothing wild": fantope.covariance(sim.Z, kind="correlation"),
    "means filled in": fantope.covariance(filled, kind="correlation"),
    "pairwise, by ranks": fantope.covariance(X, kind="correlation", method="spearman", missing="pairwise"),
}
print("samples behind the entry of S with fewest:", ways["pairwise, by ranks"].fewest_pairs)

# %%
# The same number of variables for each.

figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for ax, (name, S) in zip(axes, ways.items(), strict=True):
    sol = fantope.solve_for_size(S, 2, 18)
    right = int((sol.support < 18).sum())
    print(f"{name:30} {right} of 18 right among {len(sol.support)}, gap {sol.gap:.0e}")
    fantope.plotting.plot_projection(sol.projection, variables=range(40), ax=ax)
    ax.set_title(f"{name}: {right} of 18", loc="left", fontsize=9)
plt.show()
