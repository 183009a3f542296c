"""Online algorithms on streams of real data: tables on standard output, pictures in docs/images.

python -m benchmarks.online_figures stocks
python -m benchmarks.online_figures gas
python -m benchmarks.online_figures sparse   # what `python -m benchmarks.online sparse` has stored

Figures 3 and 4 of the paper: `fantope reproduce regret` and `fantope reproduce online`.
"""

from __future__ import annotations

import argparse
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cases import data_folder
from benchmarks.online import PAGE
from fantope.online import IncrementalPCA, OnlineT, Stream, Tracker

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
MARKS = ("2007-06", "2008-12", "2012-06")
SMALL = 0.03  # sectors that never have this share are drawn as one
# Okabe and Ito's colours, told apart by readers who do not see red and green; grey for the dense method.
BLUE, ORANGE, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#7f7f7f"
SECTOR_COLOURS = {
    "Consumer Staples": "#E69F00", "Energy": "#56B4E9", "Financials": "#D55E00", "Real Estate": "#009E73",
    "not stated": "#bdbdbd", "others": "#e8e8e8",
}  # fmt: skip
SPARE_COLOURS = ("#CC79A7", "#F0E442", "#0072B2")


def follow(learners: dict[str, Stream], X: Any, block: int, first: int, d: int, after: Any = None) -> dict[str, Any]:
    """Return for each learner the share of each next block's scatter about the running mean that it explains."""
    curves: dict[str, Any] = {name: [] for name in learners}
    for start in range(0, len(X), block):
        rows = X[start : start + block]
        for name, stream in learners.items():
            if start >= first:
                found = stream.learner.estimate()
                centred = rows - stream.mean
                scores = centred[:, found.rows] @ found.vectors[:d].T
                curves[name].append(float((scores**2).sum() / (centred**2).sum()))
            stream.update_many(rows)
        if after is not None:
            after(min(start + block, len(X)) - 1)
    return curves


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
    p = R.shape[1]
    dates, sectors = z["date"].astype("U10"), np.where(z["sector"][full] == "", "not stated", z["sector"][full])
    learners = {
        f"Online-T, forgetting {forgetting}": Stream(OnlineT(p, 3, alpha, forgetting=forgetting), True, forgetting),
        "Online-T": Stream(OnlineT(p, 3, alpha), True, 1.0),
        f"tracker, forgetting {forgetting}": Stream(
            Tracker(p, 3, alpha, forgetting=forgetting, every=21, tol=1e-2), True, forgetting
        ),
        "IncrementalPCA (dense)": Stream(IncrementalPCA(p, 3), True, 1.0),
    }
    held: dict[str, Any] = {}

    def hold(last: int) -> None:
        for mark in MARKS:
            if mark not in held and dates[last] >= mark:
                held[mark] = next(iter(learners.values())).learner.estimate()

    curves = follow(learners, R, 21, 252, 3, hold)
    names = [str(name) for name in np.unique(sectors)]
    shares = {}
    for mark, X in held.items():
        weight = np.zeros(p)
        weight[X.rows] = (X.vectors[:3] ** 2).sum(axis=0) / 3
        shares[mark] = {name: float(weight[sectors == name].sum()) for name in names}
    print("| sector | " + " | ".join(held) + " |\n|---|" + "---|" * len(held))
    for name in names:
        print(f"| {name} | " + " | ".join(f"{shares[mark][name]:.2f}" for mark in held) + " |")
    for name, curve in curves.items():
        print(f"{name}: {np.mean(curve):.3f} of the variance of the next 21 days on average, {p} stocks")
    years = dates[252::21].astype("U4").astype(int)
    _print_parts(
        "years",
        np.select([years < 2008, years < 2012, years < 2014], ["2001-07", "2008-11", "2012-13"], "2014-16"),
        curves,
    )
    axes = _axes(2)
    _draw_sectors(axes[0], shares, names)
    # The months are those of the blocks explained; each point is the mean of six, drawn at the last of them.
    days = dates[252 + 5 * 21 :: 21].astype("datetime64[D]")
    smooth = {name: np.convolve(curve, np.ones(6) / 6, "valid") for name, curve in curves.items()}
    _draw_curves(axes[1], {name: (days[: len(curve)], curve) for name, curve in smooth.items()})
    axes[1].axvspan(*np.array(["2007-12-01", "2009-06-30"], dtype="datetime64[D]"), color="#f0f0f0", zorder=0)
    axes[1].text(np.datetime64("2008-09-15"), 0.02, "recession", ha="center", va="bottom", fontsize=7, color="#555555")
    axes[1].set(
        xlabel="year",
        ylabel="share of variance",
        title="Components explain most from 2008 to 2011;\nforgetting gains then, and loses from 2014 on",
    )
    axes[1].text(0.01, 0.97, "next 21 days, mean of 6 blocks", transform=axes[1].transAxes, va="top", fontsize=7)
    _save(axes, "online_stocks.png")


def _print_parts(title: str, parts: Any, curves: dict[str, Any]) -> None:
    """Print the mean of each curve over each part of the stream."""
    print(f"| {title} | " + " | ".join(curves) + " |\n|---|" + "---|" * len(curves))
    for part in np.unique(parts):
        print(f"| {part} | " + " | ".join(f"{np.mean(np.array(c)[parts == part]):.2f}" for c in curves.values()) + " |")


def _draw_sectors(axis: Any, shares: dict[str, dict[str, float]], names: list[str]) -> None:
    """Stacked bars from the earliest mark down, each part named inside where it fits."""
    shown = [name for name in names if max(share[name] for share in shares.values()) >= SMALL and name != "not stated"]
    spare = iter(SPARE_COLOURS)
    colours = {name: SECTOR_COLOURS.get(name) or next(spare) for name in [*shown, "not stated", "others"]}
    for row, share in enumerate(shares.values()):
        parts = {name: share[name] for name in [*shown, "not stated"]}
        parts["others"] = 1.0 - sum(parts.values())
        left = 0.0
        for name, value in parts.items():
            axis.barh(row, 100 * value, left=100 * left, height=0.7, color=colours[name], edgecolor="white", lw=0.8)
            if value >= 0.06:
                label = f"{name.replace(' ', chr(10))}\n{100 * value:.0f} %"
                axis.text(100 * (left + value / 2), row, label, ha="center", va="center", fontsize=7)
            left += value
    axis.set_yticks(range(len(shares)), list(shares))
    axis.invert_yaxis()
    axis.set(
        xlim=(0, 100),
        xlabel="weight in three sparse components, % (lightest grey: other sectors)",
        title="By the end of 2008 financials\nhave replaced consumer staples",
    )
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.tick_params(left=False)


def _draw_curves(axis: Any, curves: dict[str, Any]) -> None:
    for name, (where, curve) in curves.items():
        colour = GREY if "Incremental" in name else GREEN if "tracker" in name else ORANGE if "0.9" in name else BLUE
        axis.plot(where, curve, label=name, lw=1.4, color=colour)
    axis.set_ylim(0, 1)
    axis.grid(axis="y", color="#e5e5e5", lw=0.6)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(fontsize=7, frameon=False, loc="upper right")


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
        "tracker, forgetting 0.99": Stream(Tracker(p, 2, alpha, forgetting=0.99, every=100, tol=1e-2), True, 0.99),
        "IncrementalPCA (dense)": Stream(IncrementalPCA(p, 2), True, 1.0),
    }
    curves = follow(learners, X, 100, 300, 2)
    for name, curve in curves.items():
        print(f"{name}: {np.mean(curve):.3f} of the next 100 samples' scatter about the running mean on average")
    _print_parts("batch", z["batch"][300::100], curves)
    axes = _axes(1)
    # Single blocks jump with the gas that happens to be measured; the mean of five shows the drift.
    smooth = {name: np.convolve(curve, np.ones(5) / 5, "valid") for name, curve in curves.items()}
    _draw_curves(axes[0], {name: (np.arange(len(y)) * 100 + 800, y) for name, y in smooth.items()})
    starts = np.flatnonzero(np.diff(z["batch"])) + 1
    for start in starts:
        axes[0].axvline(start, color="#999999", lw=0.7, ls=":", zorder=0)
    edges = [0, *starts, len(X)]
    for a, b in pairwise(edges):
        if b - a >= 250:  # narrower ones have no room for a number
            axes[0].text((a + b) / 2, 0.01, f"{z['batch'][a]}", ha="center", fontsize=7, color="#555555")
    axes[0].set(
        xlim=(0, len(X)),
        xlabel="samples seen (dotted: a new batch; its number if there is room)",
        ylabel="share of the scatter, next 100 samples\n(mean of 5 blocks)",
        title="The tracker stays near dense components\nup to batch 6; Online-T stays below",
        ylim=(0, 1.15),
    )
    axes[0].legend(fontsize=7, frameon=False, loc="upper left", ncol=2, columnspacing=1.0)
    _save(axes, "online_gas.png")


def sparse() -> None:
    """Sparse storage: memory against the non-zeros, from the stored benchmark."""
    rows = json.loads(PAGE.stored(False).read_text(encoding="utf-8"))["sparse"]["rows"]
    axes = _axes(1)
    axis = axes[0]
    for what, count, held, colour in (
        ("X", "non_zeros", "held_bytes", BLUE),
        ("running mean", "non_zeros_of_mean", "mean_bytes", ORANGE),
    ):
        axis.loglog([row[count] for row in rows], [row[held] / 1e6 for row in rows], "o-", color=colour, label=what)
    p = rows[0]["p"]
    axis.axhline(8e-6 * p * p, color=GREY, ls="--")
    axis.text(rows[0]["non_zeros"], 8e-6 * p * p * 0.8, "a dense array", va="top", fontsize=8, color=GREY)
    axis.set(
        xlabel="non-zero pairs",
        ylabel="MB",
        title=f"p = {p:,}: memory follows the non-zeros",
        ylim=(None, 1e-5 * p * p),
    )
    axis.legend(fontsize=8, frameon=False, loc="center left")
    _save(axes, "online_sparse.png")


def _axes(n: int) -> Any:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = np.atleast_1d(plt.subplots(1, n, figsize=(5.4 * n, 3.6), layout="constrained")[1])
    for axis in axes:
        axis.title.set_fontsize(10)
        axis.tick_params(labelsize=8)
        axis.xaxis.label.set_fontsize(8)
        axis.yaxis.label.set_fontsize(8)
    return axes


def _save(axes: Any, name: str) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    axes[0].figure.savefig(IMAGES / name, dpi=160)
    print(f"written docs/images/{name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["stocks", "gas", "sparse"])
    arguments = parser.parse_args()
    {"stocks": stocks, "gas": gas, "sparse": sparse}[arguments.what]()


if __name__ == "__main__":
    main()
