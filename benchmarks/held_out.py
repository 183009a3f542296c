"""Real data: variance of samples that were not seen, against the number of variables.

`python -m benchmarks.held_out` runs this alone, where the data are at hand. Components come from half of the samples,
the score from the other half: the share of what PCA's components explain of it. Each method has a path of penalties;
the table shows the best score with at most so many variables, and what our two penalties choose as they come.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, SparsePCA

import fantope
from benchmarks.cases import data, data_folder
from benchmarks.timing import table
from fantope.selection import shrink_loadings

TIMED = False
D = 3
SIZES = (10, 20, 50, 100, 200)
MOST = 300  # variables of each data set, those with the largest variance; SparsePCA takes minutes beyond
SHARES = np.geomspace(1.0, 0.003, 20)  # of alpha_max
PENALTIES = np.geomspace(0.01, 30.0, 12)  # of scikit-learn's SparsePCA, times √n·(median standard deviation)
METHODS = ("ℓ₁", "ℓ₁, refitted", "MCP", "MCP, refitted", "SparsePCA")
Array = np.ndarray[Any, Any]


def run(quick: bool) -> dict[str, Any]:
    """Split each data set in two and score every method."""
    rows = [_compare(name, X) for name, X in _data_sets() if not quick or name == "S&P 500"]
    return {"rows": rows}


def _data_sets() -> list[tuple[str, Array]]:
    if data_folder() is None:
        print("skipped: no data; set FANTOPE_DATA to the folder that holds them")
        return []
    load = data()
    words = load.news20()[0].astype(float)
    words.data = np.log1p(words.data)
    frequent = np.argsort(-np.asarray(words.getnnz(axis=0)), kind="stable")[:2000]
    return [
        ("mouse liver", load.mouse_liver()[0]),
        ("kidney", load.kidney()[0].astype(float)),
        ("S&P 500", load.sp500()[0]),
        ("news20", words[:, frequent][:4000].toarray()),
    ]


def _compare(name: str, X: Array) -> dict[str, Any]:
    order = np.random.default_rng(0).permutation(len(X))
    learn, check = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
    widest = np.argsort(-learn.var(axis=0), kind="stable")[:MOST]
    learn, check = learn[:, widest], check[:, widest]
    check = check - learn.mean(axis=0)
    whole = _explained(check, PCA(D, random_state=0).fit(learn).components_)
    curves: dict[str, list[tuple[int, float]]] = {method: [] for method in METHODS}
    for method, V in _fits(learn):
        curves[method].append((int((V != 0).any(axis=0).sum()), _explained(check, V) / whole))
    chosen = {}
    for label, penalty in (("ℓ₁", "l1"), ("MCP", "mcp")):
        began = time.process_time()
        V = fantope.SparsePCA(D, penalty=penalty, tol=1e-3).fit(learn).components_
        size = int((V != 0).any(axis=0).sum())
        chosen[label] = (size, _explained(check, V) / whole, time.process_time() - began)
    print(f"  {name}: {chosen}", flush=True)
    return {"data": name, "n": len(learn), "p": learn.shape[1], "curves": curves, "chosen": chosen}


def _fits(learn: Array) -> Any:
    """Yield each method's components along its path."""
    S = fantope.covariance(learn)
    alphas = fantope.alpha_max(S, D) * SHARES
    for method, shape in (("ℓ₁", None), ("MCP", fantope.penalties.MCP(0.0))):
        for solution in fantope.solve_path(S, D, alphas, penalty=shape, max_variables=max(SIZES), tol=5e-3):
            yield method, solution.components
            yield f"{method}, refitted", shrink_loadings(S, solution.components, len(learn))
    unit = float(np.sqrt(len(learn)) * np.median(learn.std(axis=0)))
    for factor in PENALTIES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield "SparsePCA", SparsePCA(D, alpha=factor * unit, random_state=0, tol=1e-4).fit(learn).components_


def _explained(check: Array, components: Array) -> float:
    """Return the variance of the samples that lies in the span of the components."""
    _, values, Vt = np.linalg.svd(components, full_matrices=False)
    basis = Vt[values > 1e-10 * max(float(values[0]), 1e-300)]
    return float(((check @ basis.T) ** 2).sum())


def report(result: dict[str, Any]) -> str:
    """Return the section of docs/benchmarks.md."""
    lines = []
    for row in result["rows"]:
        for k in SIZES:
            best = [max((share for size, share in row["curves"][m] if 0 < size <= k), default=None) for m in METHODS]
            shown = ["–" if share is None else f"{100 * share:.1f}" for share in best]
            lines.append([f"{row['data']}, {row['n']} × {row['p']}", str(k), *shown])
    kinds = []
    for row in result["rows"]:
        said = (f"{label} {size} variables, {100 * share:.1f} %" for label, (size, share, _) in row["chosen"].items())
        kinds.append(f"{row['data']}: {', '.join(said)}")
    return (
        "## Real data: held-out variance against the number of variables\n\n"
        f"{D} components from half of the samples; per cent of what PCA's, with all variables, explain of the other "
        f"half. The {MOST} variables of largest variance; the best of each method's path with at most k variables.\n\n"
        f"{table(['data', 'k', *METHODS], lines)}\n\n"
        f'`SparsePCA` with alpha from the data, ℓ₁ and `penalty="mcp"`. {"; ".join(kinds)}.\n'
    )


if __name__ == "__main__":
    from benchmarks.__main__ import main

    sys.exit(main(["--only", "held_out", *sys.argv[1:]]))
