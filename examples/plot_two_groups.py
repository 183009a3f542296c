"""
Gene modules in two groups of samples
=====================================

Thirty genes go together everywhere, twenty only in the treated samples. The analysis finds both modules, and tests what
differs on samples that did not choose it.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import fantope

rng = np.random.default_rng(0)
X = rng.standard_normal((80, 300))
X[:, :30] += 2.5 * rng.standard_normal((80, 1))
X[:40, 30:50] += 2.5 * rng.standard_normal((40, 1))
table = pd.DataFrame(X, index=[f"s{i}" for i in range(80)], columns=[f"gene{j}" for j in range(300)])
groups = ["treated"] * 40 + ["control"] * 40

found = fantope.coexpression.analyse(
    table, groups, n_components=2, alphas=[0.7, 0.6, 0.5, 0.4], min_genes=20, permutations=99
)
print(found.groups["treated"].modules.to_string())
pair = found.differential[0]
print(f"do the groups differ at all? p = {pair.p_value:.2f}")

# %%
# Each point is a gene: how its correlation with its module changes, and how surprising that is.

figure, ax = plt.subplots(figsize=(5.5, 3.8), layout="constrained")
fantope.plotting.plot_volcano(pair, ax=ax)
plt.show()
