"""
Knowing something beforehand: weights
=====================================

Every entry of X can have a penalty of its own: a variable that is expensive to measure must earn its place, and a pair
that must not be combined is forbidden.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope
from fantope.penalties import WeightedL1

sim = fantope.simulate(100, 40, sizes=(10, 8), random_state=0)
S = sim.Z.T @ sim.Z / 100
weights = np.ones((40, 40))
weights[:5] = weights[:, :5] = 3.0  # the first five are expensive
weights[5, 6] = weights[6, 5] = np.inf  # these two never go together

plain = fantope.solve(S, 2, 0.3)
weighted = fantope.solve(S, 2, WeightedL1(0.3, weights))
print("expensive ones in use:", [int((sol.support < 5).sum()) for sol in (plain, weighted)])
print("forbidden entry:", weighted.projection[5, 6], f"gap {weighted.gap:.1e}")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
for ax, sol, title in zip(axes, (plain, weighted), ("one alpha for all", "with weights"), strict=True):
    fantope.plotting.plot_projection(sol.projection, variables=range(20), ax=ax)
    ax.set_title(title, loc="left")
plt.show()
