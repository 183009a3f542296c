"""
Checking a certificate
======================

A result folder carries the answer and its proof. ``verify_folder`` reads the data again and recomputes the bracket
without any solver; a single changed number is noticed. At the prompt: ``fantope verify result``.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import fantope
from fantope.cli import main
from fantope.io import verify_folder

folder = Path(tempfile.mkdtemp())
np.save(folder / "data.npy", fantope.simulate(80, 60, random_state=0).Z)
main(["fit", str(folder / "data.npy"), "-d", "2", "-a", "0.4", "-o", str(folder / "result"), "--quiet"])

found = verify_folder(folder / "result")
certificate = found.solutions[0].certificate
print("holds:", found.holds, f"optimum between {certificate.objective:.6f} and {certificate.dual_bound:.6f}")

# %%
# One value of the data is changed by a thousandth.

data = np.load(folder / "data.npy")
data[0, 0] += 1e-3
np.save(folder / "data.npy", data)
changed = verify_folder(folder / "result")
print("holds:", changed.holds)
print(changed.failures[-1])

figure, ax = plt.subplots(figsize=(6, 1.6), layout="constrained")
ax.plot([certificate.objective, certificate.dual_bound], [0, 0], marker="|", ms=18, color="#0072B2", lw=3)
ax.set(yticks=[], xlabel=f"the optimum lies in here: relative width {certificate.gap:.0e}")
plt.show()
