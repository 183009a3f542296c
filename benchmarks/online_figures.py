"""Figures 3 and 4 of the paper, and the stock-return stream: tables on standard output, pictures in docs/images.

python -m benchmarks.online_figures regret --runs 10 --loosen 1000
python -m benchmarks.online_figures error --runs 10 --loosen 1000
python -m benchmarks.online_figures stocks
python -m benchmarks.online_figures gas
"""

from __future__ import annotations

import argparse
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from fantope.online import FollowTheLeader, IncrementalPCA, OnlineP, OnlineT, RegretTracker, Stream
from fantope.simulation import simulate

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"


def data_folder() -> Path | None:
    """Return where the real data are: FANTOPE_DATA, or ../shared/data beside the repository."""
    for folder in (os.environ.get("FANTOPE_DATA"), ROOT.parent / "shared" / "data"):
        if folder and Path(folder).is_dir():
            return Path(folder)
    return None


def regret(runs: int, loosen: float, p: int = 400, T: int = 100) -> None:
    """Figure 3: cumulative regret of Online-P and FTL against the true projection."""
    alpha = 0.5 * math.sqrt(math.log(p) / T)
    curves: dict[str, list[list[float]]] = {"Online-P": [], "FTL": []}
    for seed in range(runs):
        sim = simulate(T + 1, p, random_state=seed)
        for name in curves:
            learner = OnlineP(p, 2, alpha, loosen=loosen) if name == "Online-P" else FollowTheLeader(p, 2, alpha)
            tracker = RegretTracker(2, alpha, 1.0, 1, sim.projection)
            stream = Stream(learner, False, 1.0, tracker)
            curve = []
            for z in sim.Z:
                stream.update_many(z[None])
                curve.append(tracker.regret())
            curves[name].append(curve[1:])
        ends = {name: curve[-1][-1] for name, curve in curves.items()}
        print(f"run {seed}: " + ", ".join(f"{name} {value:.1f}" for name, value in ends.items()), flush=True)
    means = {name: np.mean(curve, axis=0) for name, curve in curves.items()}
    print(f"| method | regret at T = {T} | average regret |\n|---|---|---|")
    for name, mean in means.items():
        print(f"| {name} | {mean[-1]:.1f} | {mean[-1] / T:.3f} |")
    print(f"ratio {means['Online-P'][-1] / means['FTL'][-1]:.3f}")
    axes = _axes(2)
    t = np.arange(1, T + 1)
    for name, color in (("Online-P", "tab:blue"), ("FTL", "tab:orange")):
        for curve in curves[name]:
            axes[0].plot(t, curve, color=color, alpha=0.25, lw=0.8)
            axes[1].plot(t, np.array(curve) / t, color=color, alpha=0.25, lw=0.8)
        axes[0].plot(t, means[name], color=color, lw=2, label=name)
        axes[1].plot(t, means[name] / t, color=color, lw=2)
    axes[0].set(xlabel="t", ylabel="regret", title="(a) cumulative")
    axes[1].set(xlabel="t", ylabel="regret / t", title="(b) average")
    axes[0].legend(frameon=False)
    _save(axes, "online_regret.png")


def error(runs: int, loosen: float, p: int = 200, T1: int = 1000, T2: int = 200) -> None:
    """Figure 4: error against samples and against time."""
    alpha = 0.5 * math.sqrt(math.log(p) / T2)
    warm = simulate(2, p).Z
    OnlineT(p, 2, alpha).update_many(warm)
    curves: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"Online-T": [], "Online-P": []}
    for seed in range(runs):
        sim = simulate(T1, p, random_state=seed)
        for name, T in (("Online-T", T1), ("Online-P", T2)):
            learner: Any = OnlineT(p, 2, alpha) if name == "Online-T" else OnlineP(p, 2, alpha, loosen=loosen)
            seconds, errors, spent = [], [], 0.0
            for z in sim.Z[:T]:
                began = time.perf_counter()
                learner.update_many(z[None])
                spent += time.perf_counter() - began
                seconds.append(spent)
                X = learner.average_iterate() if name == "Online-T" else learner.iterate()
                errors.append(float(np.linalg.norm(X - sim.projection)))
            curves[name].append((np.array(seconds), np.array(errors)))
    print("| method | error after 200 samples | after 1000 | seconds per sample |\n|---|---|---|---|")
    for name, runs_of in curves.items():
        at = [np.mean([e[k - 1] for _, e in runs_of]) if len(runs_of[0][1]) >= k else math.nan for k in (200, 1000)]
        cost = np.mean([s[-1] / len(s) for s, _ in runs_of])
        print(f"| {name} | {at[0]:.3f} | {at[1]:.3f} | {cost:.2g} |")
    axes = _axes(2)
    for name, color in (("Online-T", "tab:green"), ("Online-P", "tab:blue")):
        for k, (seconds, errors) in enumerate(curves[name]):
            label = name if k == 0 else None
            axes[0].plot(np.arange(1, len(errors) + 1), errors, color=color, lw=0.8, label=label)
            axes[1].semilogx(seconds, errors, color=color, lw=0.8)
    axes[0].set(xlabel="samples", ylabel="‖X − Π‖")
    axes[1].set(xlabel="seconds", ylabel="‖X − Π‖")
    axes[0].legend(frameon=False)
    _save(axes, "online_error.png")


def stocks(alpha: float = 0.3, forgetting: float = 0.996) -> None:
    """S&P 500: the sparse components before, in and after 2008, by sector, and the variance of the days that follow."""
    folder = data_folder()
    if folder is None:
        print("skipped: no data; set FANTOPE_DATA to the folder that holds sp500_returns_2000_2016.npz")
        return
    z = np.load(folder / "sp500_returns_2000_2016.npz", allow_pickle=False)
    full = ~np.isnan(z["R"]).any(axis=0)
    R = np.clip(z["R"][:, full], -0.25, 0.25)
    R = R / R[:500].std(axis=0)
    dates, sectors = z["date"].astype("U10"), z["sector"][full]
    learners = {
        "Online-T, forgetting": Stream(OnlineT(R.shape[1], 3, alpha, forgetting=forgetting), True, forgetting),
        "Online-T": Stream(OnlineT(R.shape[1], 3, alpha), True, 1.0),
        "IncrementalPCA": Stream(IncrementalPCA(R.shape[1], 3), True, 1.0),
    }
    curves: dict[str, list[float]] = {name: [] for name in learners}
    held: dict[str, Any] = {}
    for start in range(0, len(R), 21):
        block = R[start : start + 21]
        for name, stream in learners.items():
            if start >= 252:
                V = stream.learner.estimate().vectors[:3]
                rows = stream.learner.estimate().rows
                centred = block - stream.mean
                curves[name].append(float(((centred[:, rows] @ V.T) ** 2).sum() / (centred**2).sum()))
            stream.update_many(block)
        day = str(dates[min(start + 20, len(R) - 1)])
        for mark in ("2007-06", "2008-12", "2012-06"):
            if mark not in held and day >= mark:
                held[mark] = learners["Online-T, forgetting"].learner.estimate()
    names = np.unique(sectors)
    print("| sector | " + " | ".join(held) + " |\n|---|" + "---|" * len(held))
    shares = {}
    for mark, X in held.items():
        weight = np.zeros(len(sectors))
        weight[X.rows] = (X.vectors[:3] ** 2).sum(axis=0)
        shares[mark] = [weight[sectors == name].sum() / 3 for name in names]
    for k, name in enumerate(names):
        print(f"| {name} | " + " | ".join(f"{shares[mark][k]:.2f}" for mark in held) + " |")
    for name, curve in curves.items():
        print(f"{name}: {np.mean(curve):.3f} of the variance of the next 21 days on average")
    axes = _axes(2)
    left = np.zeros(len(held))
    for k, name in enumerate(names):
        values = np.array([shares[mark][k] for mark in held])
        axes[0].barh(list(held), values, left=left, label=str(name)[:22])
        left += values
    axes[0].legend(fontsize=5, ncol=2, loc="upper center", bbox_to_anchor=(0.5, -0.15), frameon=False)
    axes[0].set_title("share of the components by sector")
    for name, curve in curves.items():
        axes[1].plot(np.convolve(curve, np.ones(6) / 6, "valid"), label=name, lw=1)
    axes[1].set(xlabel="months", title="variance of the next month explained")
    axes[1].legend(fontsize=6, frameon=False)
    _save(axes, "online_stocks.png")


def gas(alpha: float = 0.05) -> None:
    """Gas sensors: explained variance on the next samples with and without forgetting, across batches."""
    folder = data_folder()
    if folder is None:
        print("skipped: no data; set FANTOPE_DATA to the folder that holds gas_sensor_drift_8of10.npz")
        return
    z = np.load(folder / "gas_sensor_drift_8of10.npz", allow_pickle=False)
    X = np.asarray(z["X"], dtype=float)
    X = (X - X[:300].mean(axis=0)) / np.maximum(X[:300].std(axis=0), 1e-9)
    X = np.clip(X, -10, 10)
    p = X.shape[1]
    learners = {
        "Online-T": Stream(OnlineT(p, 2, alpha), True, 1.0),
        "Online-T, forgetting 0.99": Stream(OnlineT(p, 2, alpha, forgetting=0.99), True, 0.99),
        "IncrementalPCA": Stream(IncrementalPCA(p, 2), True, 1.0),
    }
    curves: dict[str, list[float]] = {name: [] for name in learners}
    for start in range(0, len(X), 100):
        block = X[start : start + 100]
        for name, stream in learners.items():
            if start >= 300:
                found = stream.learner.estimate()
                centred = block - stream.mean
                scores = centred[:, found.rows] @ found.vectors[:2].T
                curves[name].append(float((scores**2).sum() / (centred**2).sum()))
            stream.update_many(block)
    for name, curve in curves.items():
        print(f"{name}: {np.mean(curve):.3f} of the next 100 samples' scatter about the running mean on average")
    axes = _axes(1)
    for name, curve in curves.items():
        axes[0].plot(np.arange(len(curve)) * 100 + 300, curve, label=name, lw=1)
    axes[0].set(xlabel="samples", ylabel="explained on the next 100")
    axes[0].legend(fontsize=6, frameon=False)
    _save(axes, "online_gas.png")


def _axes(n: int) -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return np.atleast_1d(plt.subplots(1, n, figsize=(4.5 * n, 3.4), layout="constrained")[1])


def _save(axes: Any, name: str) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    axes[0].figure.savefig(IMAGES / name, dpi=160)
    print(f"written docs/images/{name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["regret", "error", "stocks", "gas"])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--loosen", type=float, default=1000.0, help="factor on Online-P's tolerance")
    arguments = parser.parse_args()
    if arguments.what in ("regret", "error"):
        globals()[arguments.what](arguments.runs, arguments.loosen)
    else:
        globals()[arguments.what]()


if __name__ == "__main__":
    main()
