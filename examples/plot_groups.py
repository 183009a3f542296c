"""
Whole sectors, and parts that add up
====================================

Returns of stocks in eight sectors, made up here; three sectors have a factor of their own, and one of them is hedged by
some of its stocks, which go the other way. The ℓ₁ norm picks stocks, ``Group`` whole sectors, and
``NonNegative`` never combines stocks that cancel: those that go the other way become a part of their own.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope
from fantope.penalties import L1, Group, NonNegative

SECTORS, EACH = 8, 6
sector = np.repeat([f"sector {k + 1}" for k in range(SECTORS)], EACH)
rng = np.random.default_rng(1)
returns = rng.standard_normal((250, SECTORS * EACH))
for k, size in enumerate((1.2, 0.9, 0.7)):
    own = np.full(EACH, size) * rng.uniform(0.4, 1.2, EACH)
    if k == 1:
        own[-2:] *= -1.0
    returns[:, k * EACH : (k + 1) * EACH] += np.outer(rng.standard_normal(250), own)
S = np.corrcoef(returns, rowvar=False)

figure, axes = plt.subplots(1, 3, figsize=(11, 3.8), layout="constrained")
penalties = {"ℓ₁": L1(0.2), "Group": Group(0.18, sector), "NonNegative": NonNegative(0.2)}
for ax, (name, penalty) in zip(axes, penalties.items(), strict=True):
    sol = fantope.solve(S, 3, penalty)
    sizes = ", ".join(f"{(sector[sol.support] == label).sum()} of {label}" for label in np.unique(sector[sol.support]))
    print(f"{name}: {sizes}; smallest entry of X {sol.projection.toarray().min():.2f}, gap {sol.gap:.1e}")
    fantope.plotting.plot_projection(sol.projection, variables=range(4 * EACH), ax=ax)
    ax.set_title(name, loc="left")
plt.show()
