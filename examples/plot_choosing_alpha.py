"""
Choosing alpha by cross-validation
==================================

``SparsePCACV`` solves a path in each fold and scores how much of the held-out samples' variance each solution explains.
The curve is flat over a wide range, and the rule "1se" takes the sparse end of it.
"""

import matplotlib.pyplot as plt

import fantope

sim = fantope.simulate(150, 60, sizes=(10, 7), random_state=2)
pca = fantope.SparsePCACV(n_components=2, penalty="l1", cv=5).fit(sim.Z)
print(f"alpha = {pca.alpha_:.3g}, {len(pca.support_)} variables, gap {pca.gap_:.1e}")

# %%
# Above the curve: variables in use. Dashed: what was chosen.

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
fantope.plotting.CrossValidationDisplay.from_estimator(pca, ax=ax)
plt.show()
