"""
How many components?
====================

Count the eigenvalues that independent variables would not have, then ask the solution itself: its eigenvalues are all 1
if the data single out a subspace of that dimension, and fractions if they do not.
"""

import matplotlib.pyplot as plt

import fantope

sim = fantope.simulate(120, 60, sizes=(12, 9, 6), eigenvalues=(12, 8, 5), random_state=0)
S = sim.Z.T @ sim.Z / 120

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
display = fantope.plotting.ScreeDisplay.from_data(sim.Z, max_components=10, ax=left)
print(display.analysis.n_components, "eigenvalues exceed those of permuted data")

# %%
# With d = 3 there are three ones. With d = 4 the fourth has to be made up of noise, and is shared out.

for d, colour in ((2, "#D55E00"), (3, "#0072B2"), (4, "#009E73"), (5, "#CC79A7")):
    sol = fantope.solve(S, d, 0.25)
    print(f"d = {d}: eigenvalues of X", sol.eigenvalues[: d + 2].round(2), "projection" if sol.is_projection else "")
    right.plot(range(1, len(sol.eigenvalues) + 1), sol.eigenvalues, marker="o", ms=4, color=colour, label=f"d = {d}")
right.set(xlabel="number", ylabel="eigenvalue of X", xlim=(0.5, 10.5))
right.legend(frameon=False)
plt.show()
