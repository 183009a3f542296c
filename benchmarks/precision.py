"""The graphical lasso beside scikit-learn's: objective, gap and processor time, in one run.

python -m benchmarks.precision
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from sklearn.covariance import graphical_lasso as of_scikit_learn

import fantope
from benchmarks.cases import data_folder
from benchmarks.online_sizes import gas, stocks
from fantope.graphical.certificate import Weights, objective_above


def cases() -> Any:
    """Yield (name, S, alpha)."""
    rng = np.random.default_rng(0)
    for p in (50, 200):
        Z = rng.standard_normal((2 * p, p))
        Z[:, 1:] += 0.5 * Z[:, :-1]
        yield f"chain of {p}", np.corrcoef(Z.T), 0.15
    if data_folder() is not None:
        X = stocks()
        yield "60 stocks", np.corrcoef(X[:, :60].T), 0.2
        yield "150 stocks", np.corrcoef(X[:, :150].T), 0.3
        yield "395 stocks", np.corrcoef(X.T), 0.4
        yield "128 gas sensors", np.corrcoef(gas()[:1000].T), 0.3


def main() -> None:
    print(
        "| data | alpha | components | edges | fantope: CPU s, certified gap | scikit-learn: CPU s, above fantope's |"
    )
    print("|---|---:|---:|---:|---:|---:|")
    fantope.graphical_lasso(np.eye(3) + 0.5, 0.1)  # warm-up
    for name, S, alpha in cases():
        start = time.process_time()
        found = fantope.graphical_lasso(S, alpha)
        middle = time.process_time()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = of_scikit_learn(S, alpha, tol=1e-4, max_iter=200)[1]
            above = objective_above(S, 0.5 * (theirs + theirs.T), Weights(alpha)) - found.objective
            other = f"{time.process_time() - middle:.2f}, {above:+.1e}"
        except FloatingPointError as error:
            other = f"{time.process_time() - middle:.2f}, fails: {str(error).partition('.')[0]}"
        print(
            f"| {name} | {alpha} | {found.labels.max() + 1} | {found.n_edges} | "
            f"{middle - start:.2f}, {found.gap:.1e} | {other} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
