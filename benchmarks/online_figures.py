"""Online algorithms on streams of real data: tables on standard output, pictures in docs/images.

python -m benchmarks.online_figures stocks
python -m benchmarks.online_figures gas

Figures 3 and 4 of the paper: `fantope reproduce regret` and `fantope reproduce online`.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import Any

import numpy as np

from fantope.online import IncrementalPCA, OnlineT, Stream

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"


def data_folder() -> Path | None:
    """Return where the real data are: FANTOPE_DATA, or ../shared/data beside the repository."""
    for folder in (os.environ.get("FANTOPE_DATA"), ROOT.parent / "shared" / "data"):
        if folder and Path(folder).is_dir():
            return Path(folder)
    return None


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
    dates, sectors = z["date"].astype("U10"), np.where(z["sector"][full] == "", "not stated", z["sector"][full])
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
    import matplotlib

    axes = _axes(2)
    left = np.zeros(len(held))
    for k, name in enumerate(names):
        values = np.array([shares[mark][k] for mark in held])
        axes[0].barh(list(held), values, left=left, label=str(name)[:22], color=matplotlib.colormaps["tab20"](k))
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
    parser.add_argument("what", choices=["stocks", "gas"])
    arguments = parser.parse_args()
    {"stocks": stocks, "gas": gas}[arguments.what]()


if __name__ == "__main__":
    main()
