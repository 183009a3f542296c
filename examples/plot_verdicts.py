"""
What is proven about each variable
==================================

The gap bounds the objective. It also bounds the leverage of every variable in every optimal answer: some are in use for
sure, some are not, and the rest is decided by a smaller tolerance.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope

sim = fantope.simulate(60, 100, sizes=(15, 10), random_state=0)
S = sim.Z.T @ sim.Z / 60

figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained", sharey=True)
for ax, tol in zip(axes, (1e-3, 1e-5), strict=True):
    sol = fantope.solve(S, 2, 0.25, tol=tol)
    verdicts = sol.verdicts()
    counts = {word: int((verdicts == word).sum()) for word in ("in", "undecided", "out")}
    print(f"tol = {tol:g}: {counts}")
    lower, upper = sol.leverage_bounds()
    middle = sol.projection.diagonal()[:40]
    spread = np.maximum([middle - lower[:40], upper[:40] - middle], 0)
    ax.errorbar(range(40), middle, spread, fmt="o", ms=3, color="#0072B2", ecolor="#D55E00", elinewidth=1)
    ax.set(xlabel="variable", title=f"tol = {tol:g}", ylim=(-0.02, None))
axes[0].set_ylabel("leverage in every optimum")
plt.show()
