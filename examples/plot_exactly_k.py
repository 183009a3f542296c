"""
As many variables as you want to read
=====================================

``solve_for_size`` looks for the penalty that puts k variables to use, ``solve_for_variance`` for the sparsest answer
that explains a given share of what PCA explains.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import fantope

data = load_breast_cancer(as_frame=True).data
S = fantope.covariance(data, kind="correlation")

ten = fantope.solve_for_size(S, 2, 10)
most = fantope.solve_for_variance(S, 2, 0.9)
for sol in (ten, most):
    print(f"{len(sol.support)} variables, explained {sol.explained_variance.sum():.2f}, gap {sol.gap:.1e}")
print(ten.to_frame().round(2))

# %%
# The two answers as heat maps; blank is exactly zero.

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, sol in zip(axes, (ten, most), strict=True):
    fantope.plotting.LoadingsDisplay.from_solution(sol, ax=ax)
plt.show()
