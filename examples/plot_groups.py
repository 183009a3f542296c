"""
Groups of variables, and parts that add up
==========================================

``Group`` takes whole groups in or leaves them out: all levels of a factor, all probes of a gene. ``NonNegative`` asks
for loadings that add up and never cancel.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope
from fantope.penalties import Group, NonNegative

sim = fantope.simulate(80, 40, sizes=(10, 10), random_state=2)
S = sim.Z.T @ sim.Z / 80
groups = np.arange(40) // 5  # eight groups of five; the first four carry the signal

fits = {
    "ℓ₁": fantope.solve(S, 2, 0.3),
    "groups": fantope.solve(S, 2, Group(0.3, groups)),
    "non-negative": fantope.solve(S, 2, NonNegative(0.3)),
}
figure, axes = plt.subplots(1, 3, figsize=(10, 3.4), layout="constrained")
for ax, (name, sol) in zip(axes, fits.items(), strict=True):
    touched = np.unique(groups[sol.support])
    print(f"{name:13} {len(sol.support)} variables in groups {touched.tolist()}, gap {sol.gap:.0e}")
    fantope.plotting.plot_projection(sol.projection, variables=range(25), ax=ax)
    ax.set_title(name, loc="left")
plt.show()
