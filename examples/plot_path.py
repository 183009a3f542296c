"""
A path of penalties
===================

From one or two variables to many: which enter first, and what does each buy? Thirty measurements of cell nuclei, from
scikit-learn's breast cancer data.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import fantope

data = load_breast_cancer(as_frame=True).data
path = fantope.solve_path(fantope.covariance(data, kind="correlation"), 2, n_alphas=25)
print(path.to_frame()[["alpha", "n_variables", "explained_variance", "gap"]].iloc[::6].round(4))

# %%
# The leverage of a variable, X_jj, is 0 where it is out and at most 1.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", width_ratios=[3, 2])
fantope.plotting.LeverageDisplay.from_path(path, n_named=8, ax=left)
fantope.plotting.plot_explained_variance(path.n_active, path.explained_variance, path.alphas, ax=right)
plt.show()
