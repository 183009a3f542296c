"""
Which variables can be named
============================

Solve in random halves of the samples, and keep what is nearly always in use. If the variables without a signal are
exchangeable, the number of them that get in by chance is bounded.
"""

import matplotlib.pyplot as plt

import fantope

sim = fantope.simulate(200, 80, sizes=(10, 7), random_state=0)
pca = fantope.SparsePCA(2, alpha=0.45).fit(sim.Z)

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
display = fantope.plotting.StabilityDisplay.from_estimator(pca, sim.Z, n_subsamples=30, ax=ax)
found = display.found
print("selected:", found.selected.tolist(), f"(true: 0 to 16); by chance at most {found.error_bound:.2g}")
plt.show()
