"""
A stream whose structure changes
================================

``OnlineSparsePCA`` learns sample by sample in constant memory. Halfway through, other variables take over: with
forgetting the estimate follows.
"""

import matplotlib.pyplot as plt
import numpy as np

import fantope

before, after = (fantope.simulate(1_500, 40, sizes=sizes, random_state=1) for sizes in ((10, 8), (8, 10)))
turn = np.random.default_rng(0).permutation(40)
stream = np.vstack([before.Z, after.Z[:, turn]])
truth = after.projection[np.ix_(turn, turn)]

learners = {
    "nothing is forgotten": fantope.OnlineSparsePCA(2, alpha=0.05),
    "forgetting = 0.99": fantope.OnlineSparsePCA(2, alpha=0.05, forgetting=0.99),
}
figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
for (name, learner), colour in zip(learners.items(), ("#D55E00", "#0072B2"), strict=True):
    errors = []
    for start in range(0, 3_000, 100):
        learner.partial_fit(stream[start : start + 100])
        V = learner.components_
        errors.append(np.linalg.norm(V.T @ V - (before.projection if start < 1_500 else truth)))
    ax.plot(range(100, 3_001, 100), errors, marker="o", ms=3, color=colour, label=name)
    print(f"{name}: distance {errors[14]:.2f} before the change, {errors[-1]:.2f} at the end")
ax.axvline(1_500, color="grey", ls="--", lw=0.8)
ax.set(xlabel="samples seen", ylabel="distance from the true subspace", ylim=(0, None))
ax.legend(frameon=False)
plt.show()
