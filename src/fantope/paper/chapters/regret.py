"""Figure 3 from its stored repetitions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fantope.paper.chapters.base import Chapter, Picture, Table, duration, several, tolerance
from fantope.paper.figures import plot_regret
from fantope.paper.store import Stored

HALF = 0.6  # up to here a ratio is about a half, or less


def chapter(runs: Sequence[Stored]) -> Chapter:
    """Return the section on regret."""
    config = runs[0].config
    curves = {name: np.array([run.result["regret"][name] for run in runs]) for name in ("Online-P", "FTL")}
    T = config["T"]
    ends = {name: curve[:, -1] for name, curve in curves.items()}
    ratio = float(ends["Online-P"].mean() / ends["FTL"].mean())
    wins = int((ends["Online-P"] < ends["FTL"]).sum())
    average = {name: curve.mean(axis=0) / np.arange(1, T + 1) for name, curve in curves.items()}
    unmet = sum(run.result["unmet"]["Online-P"] for run in runs)
    rows = [
        [
            name,
            f"{ends[name].mean():.1f}",
            f"{ends[name].min():.1f} – {ends[name].max():.1f}",
            f"{average[name][-1]:.3f}",
            duration(float(np.mean([run.result["seconds"][name] for run in runs])) / (T + 1)),
        ]
        for name in curves
    ]
    early, middle, late = (average["Online-P"][k - 1] for k in (max(T // 4, 1), T // 2, T))
    page = Chapter("Regret (figure 3)")
    page.claim(
        "5.3, figure 3",
        "At the end Online-P has about half the regret of FTL, or less.",
        f"mean regret after {T} samples of p = {config['p']}: {ends['Online-P'].mean():.1f} against "
        f"{ends['FTL'].mean():.1f}, ratio {ratio:.2f}; smaller in {wins} of {len(runs)} runs",
        [ratio < 1.0 and wins == len(runs), ratio <= HALF],
    )
    page.claim(
        "4.3",
        "Average regret of Online-P falls with the number of samples.",
        "mean average regret of Online-P after a quarter, half and all of the samples: "
        f"{several((early, middle, late))}",
        [late < middle < early],
    )
    page.add(
        f"Cumulative and average regret against the true Π; p = {config['p']}, T = {T}, {len(runs)} runs, λ = "
        f"0.5√(log p/T). Subproblems of Online-P are solved to {tolerance(config['loosen'])}, certified; {unmet} "
        f"of {len(runs) * (T + 1)} missed it. FTL solves each batch problem to a relative gap of 1e-3.",
        Picture("regret", "The paper's figure 3: (a) cumulative, (b) average regret.", plot_regret(curves)),
        Table(["method", "regret at the end", "range", "average regret", "time per sample"], rows),
    )
    return page
