"""
An alarm with a proof
=====================

``watch`` compares what was learnt with the certified optimum of the latest samples. An alarm is not a hunch: it says
that at least so much of what could be explained is missed, whatever the data are.
"""

import matplotlib.pyplot as plt

import fantope

Z = fantope.simulate(1_600, 40, sizes=(10, 8), random_state=0).Z
Z[1_000:] = Z[1_000:, ::-1]  # other variables take over

pca = fantope.OnlineSparsePCA(2).watch(0.3, window=200, every=25).partial_fit(Z)
first = next(check for check in pca.checks_ if check.alarm)
print(f"alarm at sample {first.sample}: at least {first.at_least:.0%} of what can be explained is missed")

# %%
# The band holds the true share; the threshold is dashed. Nothing is forgotten here, so the alarm stays on.

figure, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
samples = [check.sample for check in pca.checks_]
low, high = [check.at_least for check in pca.checks_], [check.at_most for check in pca.checks_]
ax.fill_between(samples, low, high, color="#0072B2", alpha=0.3, lw=0)
ax.plot(samples, low, color="#0072B2", lw=1.2, label="proven to be missed")
ax.axhline(0.3, color="grey", ls="--", lw=0.8)
ax.axvline(first.sample, color="#D55E00", lw=1, label=f"alarm, {first.sample - 1_000} samples after the change")
ax.set(xlabel="sample", ylabel="share missed", ylim=(0, 1))
ax.legend(frameon=False)
plt.show()
