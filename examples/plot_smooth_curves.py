"""
Smooth curves
=============

Where the variables are points along a curve, a component should be smooth, and zero where nothing happens. ``Smooth``
penalises roughness beside the ℓ₁ norm, ``Trend`` allows a few jumps.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope
from fantope.penalties import Smooth, Trend

t = np.linspace(0, 1, 80)
bump = np.exp(-0.5 * ((t - 0.3) / 0.05) ** 2)
rng = np.random.default_rng(0)
curves = np.outer(rng.standard_normal(60), bump) + 0.7 * rng.standard_normal((60, 80))
S = np.cov(curves, rowvar=False)

fits = {
    "PCA": fantope.solve(S, 1, 0),
    "ℓ₁": fantope.solve(S, 1, 0.25),
    "Smooth": fantope.solve(S, 1, Smooth(0.1, 1.0)),
    "Trend": fantope.solve(S, 1, Trend(0.1, order=1, l1=0.3)),
}
truth = bump / np.linalg.norm(bump)
figure, axes = plt.subplots(2, 2, figsize=(8, 4.6), layout="constrained", sharex=True, sharey=True)
for ax, (name, sol) in zip(axes.flat, fits.items(), strict=True):
    v = sol.components[0] * np.sign(sol.components[0] @ truth)
    print(f"{name:7} gap {sol.gap:.0e}, {len(sol.support)} points in use, distance {np.linalg.norm(v - truth):.2f}")
    ax.plot(t, truth, color="grey", lw=1, ls="--")
    ax.plot(t, v, color="#0072B2", lw=1.2)
    ax.set_title(name, loc="left")
plt.show()
