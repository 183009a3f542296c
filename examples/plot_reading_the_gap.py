"""
Reading the gap
===============

``objective`` is what the answer achieves, ``dual_bound`` is what no answer can exceed, and ``gap`` is their distance
relative to the larger of the two. While the solver runs, the two close in on the optimum.
"""

import matplotlib.pyplot as plt

import fantope

sim = fantope.simulate(100, 150, random_state=1)
S = sim.Z.T @ sim.Z / 100
sol = fantope.solve(S, 2, 0.3, solver="gradfps", tol=1e-4)
print(f"optimum between {sol.objective:.6f} and {sol.dual_bound:.6f}: gap {sol.gap:.1e}")

# %%
# The bracket does not depend on the solver: ``verify`` computes it again from the answer, a dual point and S alone.
# For another matrix it does not hold.

print(f"checked again: gap {sol.verify(S).gap:.1e}")
try:
    sol.verify(S + 0.01 * S.max())
except fantope.CertificateError as error:
    print("refused:", error)

# %%
# Both sides on the left, their relative distance on the right.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
steps = [record.iteration for record in sol.history]
left.plot(steps, [record.dual_bound for record in sol.history], color="#D55E00", label="no answer exceeds this")
left.plot(steps, [record.objective for record in sol.history], color="#0072B2", label="this has been achieved")
left.set(xlabel="iteration", ylabel="objective")
left.legend(frameon=False)
fantope.plotting.ConvergenceDisplay.from_solution(sol, tol=1e-4, ax=right)
plt.show()
