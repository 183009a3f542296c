"""
Topics of documents
===================

Word counts are sparse and there are many words. Each sparse component is a topic: a short list of words that occur
together. Documents are made up here; ``CountVectorizer`` gives the same kind of matrix.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse

import fantope

topics = {
    "space": ["orbit", "nasa", "shuttle", "launch", "moon", "satellite", "mission", "rocket"],
    "hockey": ["goal", "team", "season", "puck", "coach", "playoff", "ice", "score"],
    "medicine": ["patient", "disease", "doctor", "treatment", "drug", "symptom", "dose", "cancer"],
}
words = [word for group in topics.values() for word in group] + [f"word{k}" for k in range(2_000)]
rng = np.random.default_rng(0)
counts = rng.poisson(0.02, size=(1_500, len(words)))
about = rng.random((1_500, 3)) < (0.35, 0.25, 0.18)  # a document may be about several things, or about none
for k, group in enumerate(np.hsplit(np.arange(24), 3)):
    counts[np.ix_(about[:, k], group)] += rng.poisson(1.2, size=(about[:, k].sum(), 8))

X = scipy.sparse.csr_array(np.log1p(counts))
sol = fantope.solve_for_size(fantope.covariance(X), 3, 24)
print(f"{len(sol.support)} words of {len(words)}, gap {sol.gap:.1e}")
for k, row in enumerate(sol.components, start=1):
    print(f"component {k}:", ", ".join(words[j] for j in np.argsort(-row)[:8] if row[j] > 0.05))

# %%
# Loadings on the left; on the right documents by their scores, in colour those about space alone, hockey alone or both.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", width_ratios=[2, 3])
fantope.plotting.plot_loadings_heatmap(sol.components, words, ax=left)
names = np.array(["neither", "hockey", "space", "both"])[2 * about[:, 0] + about[:, 1]]
fantope.plotting.plot_biplot(X @ sol.components.T, sol.components, words, groups=names.tolist(), n_arrows=8, ax=right)
plt.show()
