"""Distance from the true subspace and time, for this library and others (one file each in competitors/)."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np

from benchmarks.competitors import ALL
from benchmarks.timing import Array, D, clock, instance, note, seconds, spread, table, with_spread

SIZES = ((50, 200), (100, 400), (200, 800))
QUICK_SIZES = ((25, 100), (50, 200))
SEEDS = (0, 1, 2)


def run(quick: bool) -> dict[str, Any]:
    """Fit every method on the same draws; where a penalty has to be chosen, the truth chooses it."""
    small = instance(20, 60).sim.Z
    for method in ALL:  # imports and compilation stay outside the timing
        method.fit(small, D, method.PENALTIES[0])
    rows = []
    for n, p in QUICK_SIZES if quick else SIZES:
        found: dict[str, list[dict[str, float]]] = {method.NAME: [] for method in ALL}
        for seed in SEEDS:
            sim = instance(n, p, seed).sim
            for method in ALL:
                trials = []
                for penalty in method.PENALTIES:
                    spent, components = clock(
                        lambda method=method, sim=sim, penalty=penalty: method.fit(sim.Z, D, penalty)
                    )
                    trials.append({"penalty": penalty, "time": spent, **_score(components, sim)})
                found[method.NAME].append(min(trials, key=lambda trial: trial["error"]))
        note(f"p = {p}: done")
        for method in ALL:
            best = found[method.NAME]
            rows.append(
                {
                    "n": n,
                    "p": p,
                    "method": method.NAME,
                    "penalties": sorted({trial["penalty"] for trial in best if trial["penalty"] is not None}),
                    "grid": [penalty for penalty in method.PENALTIES if penalty is not None],
                    "time": spread([trial["time"] for trial in best]),
                    "error": spread([trial["error"] for trial in best]),
                    "support": median(trial["support"] for trial in best),
                    "recall": median(trial["recall"] for trial in best),
                }
            )
    return {"rows": rows, "seeds": len(SEEDS)}


def _score(components: Array, sim: Any) -> dict[str, float]:
    """Compare the span of the components, made orthonormal, with the true subspace."""
    _, values, Vt = np.linalg.svd(components, full_matrices=False)
    V = Vt[values > 1e-10 * max(values[0], 1e-300)]
    used = np.flatnonzero(np.abs(components).max(axis=0) > 0.0)
    return {
        "error": float(np.linalg.norm(V.T @ V - sim.projection)),
        "support": len(used),
        "recall": len(np.intersect1d(used, sim.support)) / len(sim.support),
    }


def report(result: dict[str, Any]) -> str:
    """Return the section in Markdown."""
    rows = []
    for row in result["rows"]:
        edge = bool(row["grid"]) and any(x in (row["grid"][0], row["grid"][-1]) for x in row["penalties"])
        chosen = ", ".join(f"{x:g}" for x in row["penalties"]) + (" (edge of the grid)" if edge else "")
        rows.append(
            [
                f"({row['n']}, {row['p']})",
                row["method"],
                with_spread(row["error"], lambda x: f"{x:.3f}"),
                f"{row['support']:.0f}",
                f"{row['recall']:.2f}",
                with_spread(row["time"], seconds),
                chosen or "–",
            ]
        )
    head = ["(n, p)", "method", "error", "support", "recall", "time of one fit", "penalty"]
    return f"""## Other libraries

The same data for all, {result["seeds"]} draws of the paper's model, d = 2. The error is ‖Π̂ − Π‖_F between the
projection on the span of the components and the true one; support is the median number of variables in use, of which
the truth has 35, and recall the share of those 35 among them. scikit-learn's methods get the penalty with the smallest
true error out of a grid, which no user could know, and the time of that one fit; fantope's penalty is 0.5√(log p / n),
fixed beforehand. scikit-learn minimises another objective, so no gap can be compared.

{table(head, rows)}
"""
