"""
Exactly k variables
===================

How much can k variables explain? There are too many subsets to try. ``cardinality_bracket`` returns one of exactly k
variables, what it explains, and a bound that no other subset exceeds.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import fantope

data = load_breast_cancer(as_frame=True).data
S = fantope.covariance(data, kind="correlation")

five = fantope.cardinality_bracket(S, 5)
print("five measurements:", ", ".join(data.columns[five.support]))
print(f"explain {five.lower:.3f}; no other five explain more than {five.upper:.3f}")

# %%
# For every k at once, from one walk along alpha. On the right the answer of the convex problem that is nearest to ten
# variables, for two components.

curve = fantope.cardinality_bracket(S, range(1, 21))
ten = fantope.solve_for_size(S, 2, 10)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", width_ratios=[3, 2])
fantope.plotting.plot_cardinality(curve, ax=left)
fantope.plotting.LoadingsDisplay.from_solution(ten, ax=right)
plt.show()
