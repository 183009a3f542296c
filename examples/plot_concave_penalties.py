"""
Concave penalties
=================

The ℓ₁ norm shrinks what it keeps, and so it keeps more than is there. MCP and SCAD let go of large entries and use
fewer variables for the same subspace. They are solved by convex steps, each of them certified.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope
from fantope.penalties import MCP, SCAD

sim = fantope.simulate(100, 100, random_state=0)  # 20 and 15 variables matter
S = sim.Z.T @ sim.Z / 100
fits = {"truth": None, "ℓ₁": fantope.solve(S, 2, 0.12), "MCP": fantope.solve(S, 2, MCP(0.3))}
fits["SCAD"] = fantope.solve(S, 2, SCAD(0.3))

for name, sol in fits.items():
    if sol is not None:
        error = np.linalg.norm(sol.components.T @ sol.components - sim.projection)
        steps = len(sol.steps) if name != "ℓ₁" else 1
        print(f"{name:4} {len(sol.support):3d} variables, distance from the truth {error:.2f}, {steps} certified steps")

figure = plt.figure(figsize=(8, 5), layout="constrained")
shown = {name: sim.loadings.T if sol is None else sol.components for name, sol in fits.items()}
fantope.plotting.plot_loadings(shown, groups=(20, 15), fig=figure)
plt.show()
