"""The graphical lasso beside scikit-learn's: objective, gap and processor time, in one run.

python -m benchmarks.precision
python -m benchmarks.precision network    # the network of stocks before, in and after 2008, from a stream
"""

from __future__ import annotations

import sys
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
    Z = rng.standard_normal((1000, 500))
    Z[:, 1:] += 0.5 * Z[:, :-1]
    yield "chain of 500", np.corrcoef(Z.T), 0.05
    Z = rng.standard_normal((200, 60))
    Z[:, 1] = Z[:, 0] + 1e-6 * Z[:, 1]
    yield "60, one a near copy of another", np.corrcoef(Z.T), 0.01
    yield "60, 30 samples", np.corrcoef(Z[:30].T), 0.01
    if data_folder() is not None:
        X = stocks()
        yield "60 stocks", np.corrcoef(X[:, :60].T), 0.2
        yield "150 stocks", np.corrcoef(X[:, :150].T), 0.3
        yield "395 stocks", np.corrcoef(X.T), 0.4
        yield "128 gas sensors", np.corrcoef(gas()[:1000].T), 0.3


def network(alpha: float = 0.15, forgetting: float = 0.996) -> None:
    """Every fourth stock, each return in units of its own recent deviation: what changes is who moves with whom."""
    folder = data_folder()
    if folder is None:
        print("skipped: no data; set FANTOPE_DATA to the folder that holds sp500_returns_2000_2016.npz")
        return
    z = np.load(folder / "sp500_returns_2000_2016.npz", allow_pickle=False)
    full = np.flatnonzero(~np.isnan(z["R"]).any(axis=0))[::4]
    R, dates = np.clip(z["R"][:, full], -0.25, 0.25), z["date"].astype("U10")
    sectors = np.where(z["sector"][full] == "", "not stated", z["sector"][full])
    variance = (R[:60] ** 2).mean(axis=0)
    for t, row in enumerate(R.copy()):
        R[t] = row / np.sqrt(variance)
        variance += 0.02 * (row**2 - variance)
    learner = fantope.OnlineSparsePrecision(alpha=alpha, forgetting=forgetting, solve_every=21, track=5)
    known, same = sectors != "not stated", sectors[:, None] == sectors
    began, start = time.process_time(), 0
    print("| up to | edges | of them within a sector | strength within, between | gap | average regret |")
    print("|---|---|---|---|---|---|")
    for mark in ("2007-06", "2008-12", "2012-06", "2016-06"):
        end = int(np.searchsorted(dates, mark))
        end -= end % 21
        learner.partial_fit(R[start:end])
        start, strength = end, np.abs(np.triu(learner.partial_correlations_.toarray(), 1))
        judged = strength * np.outer(known, known)
        within = np.count_nonzero(judged * same) / max(np.count_nonzero(judged), 1)
        print(
            f"| {dates[end - 1]} | {learner.n_edges_} | {within:.2f} | {(judged * same).sum():.1f}, "
            f"{(judged * ~same).sum():.1f} | {learner.gap_:.1e} | {learner.average_regret_:.2f} |"
        )
        sums = {name: strength[np.ix_(sectors == name, sectors == name)].sum() for name in np.unique(sectors[known])}
        leading = sorted(sums, key=lambda name: -sums[name])[:4]
        print("  within:", ", ".join(f"{name} {sums[name]:.2f}" for name in leading), flush=True)
    print(f"{len(full)} stocks, {start} days, {time.process_time() - began:.0f} s of processor time")


def main() -> None:
    if sys.argv[1:] == ["network"]:
        network()
        return
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
