"""How time grows with p, as a fitted exponent."""

from __future__ import annotations

from statistics import median
from typing import Any

import numpy as np
import scipy.linalg

import fantope
from benchmarks.timing import D, clock, instance, note, seconds, table

# Half-octaves: enough points for a fit, n = p/4 as in the paper's settings.
VARIABLES = (200, 284, 400, 564, 800, 1132, 1600, 2264, 3200)
QUICK_VARIABLES = (100, 140, 200, 284)
SEEDS = (0, 1, 2)
REPEATS = 2
LARGE = 800  # from here on the overhead of single calls no longer shows
TOL = 1e-4


def run(quick: bool) -> dict[str, Any]:
    """Time one eigh and one solve for each p, and fit log time = a + b log p."""
    rows = []
    for p in QUICK_VARIABLES if quick else VARIABLES:
        eigh, solve = [], []
        for seed in SEEDS:
            given = instance(p // 4, p, seed)
            for _ in range(REPEATS):
                eigh.append(clock(lambda given=given: scipy.linalg.eigh(given.S))[0])
                spent, sol = clock(lambda given=given: fantope.solve(given.S, D, given.alpha, tol=TOL))
                solve.append(spent)
            sol.verify(given.S)
        note(f"p = {p}: {seconds(median(solve))}")
        rows.append({"p": p, "eigh": median(eigh), "solve": median(solve)})
    large = [row for row in rows if row["p"] >= LARGE]
    fits = {"all": _fits(rows)} | ({"large": _fits(large)} if len(large) > 2 else {})
    return {"rows": rows, "fits": fits, "tol": TOL, "large": LARGE, "seeds": len(SEEDS), "repeats": REPEATS}


def _fits(rows: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    return {name: _exponent([row["p"] for row in rows], [row[name] for row in rows]) for name in ("solve", "eigh")}


def _exponent(sizes: list[float], times: list[float]) -> dict[str, float]:
    """Return the slope of log time on log p by least squares, and its standard error."""
    x, y = np.log(sizes), np.log(times)
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    residual = y - y.mean() - slope * x
    error = float(np.sqrt(residual @ residual / max(len(x) - 2, 1) / (x @ x)))
    return {"slope": slope, "error": error}


def report(result: dict[str, Any]) -> str:
    """Return the section in Markdown."""
    rows = [
        [row["p"], seconds(row["eigh"]), seconds(row["solve"]), f"{row['solve'] / row['eigh']:.2f}"]
        for row in result["rows"]
    ]
    names = {"all": f"p ≥ {result['rows'][0]['p']}", "large": f"p ≥ {result['large']}"}
    fits = [
        [names[key], *(f"{found[name]['slope']:.2f} ± {found[name]['error']:.2f}" for name in ("solve", "eigh"))]
        for key, found in result["fits"].items()
    ]
    return f"""## Growth with p

n = p/4; medians over {result["seeds"]} draws × {result["repeats"]} repeats of `fantope.solve(S, 2, λ,
tol={result["tol"]:g})` and of `scipy.linalg.eigh(S)`.

{table(["p", "eigh", "solve", "ratio"], rows)}

Exponent b in time ∝ p^b, by least squares on the logarithms, with its standard error:

{table(["fitted on", "solve", "eigh"], fits)}
"""
