"""
A certificate at every moment
=============================

The tracker keeps the covariance of the latest samples and solves the batch problem every so often, starting from the
last answer: a stream of certified solutions.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope

sim = fantope.simulate(1_200, 30, sizes=(6, 5), random_state=1)
rows = np.vstack([sim.Z[:600], np.roll(sim.Z[600:], 12, axis=1)])  # after 600 rows the signal moves by twelve variables

pca = fantope.OnlineSparsePCA(2, alpha=0.4, algorithm="tracker", window=200, solve_every=25)
used, gaps = [], []
for start in range(0, 1_200, 25):
    pca.partial_fit(rows[start : start + 25])
    used.append(np.abs(pca.components_).max(axis=0))
    gaps.append(pca.gap_)
print(f"largest gap of {len(gaps)} answers: {max(gaps):.1e}")

# %%
# One column for each moment: which variables are in use. Blank is exactly zero.

figure, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
image = ax.imshow(np.ma.masked_equal(np.array(used).T, 0), aspect="auto", cmap="viridis", extent=(0, 1_200, 29.5, -0.5))
ax.set(xlabel="samples seen", ylabel="variable")
figure.colorbar(image, label="largest loading")
plt.show()
