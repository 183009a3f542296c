"""
Curves: smooth, localised, piecewise constant
=============================================

The variables are points along a curve, as wavelengths or ages are. The truth is known here: two bumps that are zero
nearly everywhere, or two steps. `Smooth` penalises the roughness of the components and localises them by the ℓ₁ norm,
`Trend` their jumps; beside them PCA, functional PCA (the roughness alone) and the ℓ₁ norm alone. Each has the
weights, out of a few, with which it comes nearest to the truth.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope
from fantope.penalties import L1, Smooth, Trend

t = np.linspace(0, 1, 120)
bumps = [np.exp(-0.5 * ((t - 0.3) / 0.04) ** 2), np.where(abs(t - 0.7) < 0.12, np.sin((t - 0.7) / 0.12 * np.pi), 0.0)]
steps = [1.0 * (abs(t - 0.3) < 0.08), np.where(abs(t - 0.7) < 0.1, np.sign(t - 0.7 + 1e-9), 0.0)]
ALPHAS, RHOS = (0.05, 0.1, 0.2, 0.45), (1.0, 10.0, 100.0)
METHODS = {
    "PCA": [L1(0.0)],
    "ℓ₁": [L1(alpha) for alpha in ALPHAS],
    "functional PCA": [Smooth(0.0, rho) for rho in RHOS],
    "Smooth": [Smooth(alpha, rho) for alpha in ALPHAS for rho in RHOS],
    "Trend": [Trend(alpha, l1=0.3) for alpha in ALPHAS],
}


def best(S, truth, penalties):
    """Return the components nearest to the truth, their error, and their share outside of where the truth lives."""
    found = [fantope.solve(S, 2, penalty, tol=1e-3).components for penalty in penalties]
    errors = [np.linalg.norm(V.T @ V - truth.T @ truth) for V in found]
    V = found[int(np.argmin(errors))]
    outside = (truth**2).sum(axis=0) < 1e-6
    return V, min(errors), (V[:, outside] ** 2).sum() / 2


figure, axes = plt.subplots(2, len(METHODS), figsize=(13, 4.4), sharex=True, sharey="row", layout="constrained")
for row, (name, shapes) in zip(axes, (("bumps", bumps), ("steps", steps)), strict=True):
    truth = np.array([shape / np.linalg.norm(shape) for shape in shapes])
    rng = np.random.default_rng(0)
    curves = (rng.standard_normal((50, 2)) * (3.0, 2.0)) @ truth + 0.5 * rng.standard_normal((50, 120))
    S = np.cov(curves, rowvar=False)
    for ax, (method, penalties) in zip(row, METHODS.items(), strict=True):
        V, error, leaked = best(S, truth, penalties)
        print(f"{name}, {method}: error {error:.2f}, {100 * leaked:.1f} % outside")
        signs = np.sign((V * truth).sum(axis=1, keepdims=True))
        ax.plot(t, truth.T, color="0.8", lw=3)
        ax.plot(t, (signs * V).T, lw=1)
        ax.set_title(f"{method}: error {error:.2f}", loc="left", fontsize=9)
    row[0].set_ylabel(name)
plt.show()
