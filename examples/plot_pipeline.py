"""
In a pipeline with grid search
==============================

``SparsePCA`` is a scikit-learn transformer. Here it feeds a classifier, and the penalty is chosen by how well that
does: fewer measurements, hardly any loss.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import fantope

X, y = load_breast_cancer(return_X_y=True)
model = make_pipeline(StandardScaler(), fantope.SparsePCA(3, tol=1e-3), LogisticRegression())
alphas = [0.3, 0.5, 0.7, 0.8, 0.85]
search = GridSearchCV(model, {"sparsepca__alpha": alphas}, cv=4).fit(X, y)
sizes = [len(fantope.SparsePCA(3, alpha=a, tol=1e-3).fit(StandardScaler().fit_transform(X)).support_) for a in alphas]
print("best:", search.best_params_, f"accuracy {search.best_score_:.3f}")

figure, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
mean, spread = (search.cv_results_[name] for name in ("mean_test_score", "std_test_score"))
ax.errorbar(sizes, mean, spread / np.sqrt(4), marker="o", color="#0072B2")
ax.set(xlabel="measurements in use, of 30", ylabel="accuracy in held-out samples")
plt.show()
