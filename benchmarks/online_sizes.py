"""Online-T, the tracker and dense PCA on real streams by number of variables: tables, and a picture in docs/images.

python -m benchmarks.online_sizes
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.cases import data_folder
from benchmarks.online_figures import BLUE, GREY, ORANGE, _axes, _save, follow
from fantope.online import IncrementalPCA, OnlineT, Stream, Tracker

# Penalties that lead to a few up to all variables, samples between two judgements and before the first, forgetting.
STOCKS = ((0.3, 0.45, 0.7), 21, 252, 0.996)
TOL = 1e-2  # relative gap of the tracker; 1e-3 takes twice as long
GAS = ((0.01, 0.05, 0.2), 100, 300, 0.99)


def stocks() -> Any:
    """Return the daily returns of 395 stocks in units of their early deviation."""
    z = np.load(data_folder() / "sp500_returns_2000_2016.npz", allow_pickle=False)  # type: ignore[operator]
    R = np.clip(z["R"][:, ~np.isnan(z["R"]).any(axis=0)], -0.25, 0.25)
    return R / R[:500].std(axis=0)


def gas() -> Any:
    """Return the gas sensors' readings in units of their early deviation."""
    z = np.load(data_folder() / "gas_sensor_drift_8of10.npz", allow_pickle=False)  # type: ignore[operator]
    X = np.asarray(z["X"], dtype=float)
    return np.clip((X - X[:300].mean(axis=0)) / np.maximum(X[:300].std(axis=0), 1e-9), -10, 10)


def judge(stream: Stream, X: Any, block: int, first: int, d: int) -> tuple[float, float, float]:
    """Return mean share of the next block's scatter, mean number of variables, and seconds per 1,000 samples."""
    sizes: list[int] = []

    def count(last: int) -> None:
        if last + 1 >= first:
            sizes.append(len(stream.learner.estimate().rows))

    start = time.process_time()
    shares = follow({"": stream}, X, block, first, d, count)[""]
    return float(np.mean(shares)), float(np.mean(sizes)), 1e3 * (time.process_time() - start) / len(X)


def rows(X: Any, d: int, alphas: Any, block: int, first: int, forgetting: float) -> list[tuple[Any, ...]]:
    """Return (method, alpha, variables, share, seconds) for every method and penalty."""
    p, found = X.shape[1], []
    window = round(1.0 / (1.0 - forgetting))
    for alpha in alphas:
        learners = {
            f"Online-T, forgetting {forgetting}": Stream(
                OnlineT(p, d, alpha, forgetting=forgetting), forgetting=forgetting
            ),
            f"tracker, forgetting {forgetting}": Stream(
                Tracker(p, d, alpha, forgetting=forgetting, every=block, tol=TOL), forgetting=forgetting
            ),
            f"tracker, window {window}": Stream(
                Tracker(p, d, alpha, window=window, every=block, tol=TOL), window=window
            ),
        }
        for name, stream in learners.items():
            share, size, seconds = judge(stream, X, block, first, d)
            found.append((name, alpha, size, share, seconds))
            print(f"| {name} | {alpha} | {size:.0f} | {share:.3f} | {seconds:.2f} |", flush=True)
    dense = judge(Stream(IncrementalPCA(p, d)), X, block, first, d)
    found.append(("IncrementalPCA", 0.0, p, dense[0], dense[2]))
    print(f"| IncrementalPCA | 0 | {p} | {dense[0]:.3f} | {dense[2]:.2f} |", flush=True)
    return found


def main() -> None:
    if data_folder() is None:
        print("skipped: no data; set FANTOPE_DATA to the folder that holds the streams")
        return
    axes = _axes(2)
    cases = (("S&P 500, three components", stocks, 3, STOCKS), ("gas sensors, two components", gas, 2, GAS))
    for axis, (title, data, d, settings) in zip(axes, cases, strict=True):
        print(f"\n{title}\n| method | alpha | variables | share | CPU s per 1,000 samples |\n|---|---|---|---|---|")
        found = rows(data(), d, *settings)
        for name in dict.fromkeys(row[0] for row in found):
            points = sorted((size, share) for method, _, size, share, _ in found if method == name)
            colour = GREY if "Incremental" in name else BLUE if "Online-T" in name else ORANGE
            style = "o--" if "window" in name else "o-"
            axis.plot(*zip(*points, strict=True), style, color=colour, label=name, lw=1.4, ms=4)
        axis.set(
            xlabel="variables in use (mean over the stream)", ylabel="share of the next samples' scatter", title=title
        )
        axis.set_ylim(0, 1)
        axis.grid(axis="y", color="#e5e5e5", lw=0.6)
        axis.spines[["top", "right"]].set_visible(False)
        axis.legend(fontsize=7, frameon=False)
    _save(axes, "online_sizes.png")


if __name__ == "__main__":
    main()
