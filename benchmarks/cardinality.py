"""Exactly k variables: certified brackets beside what other methods find, `python -m benchmarks.cardinality`.

Needs the classical matrices and the two microarrays in a folder; what is not there is left out. Values are λ_max of the
block of S on each method's support, the best that its choice of variables can give; only the bracket says how good they
are. The table goes to docs/cardinality.md.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import SparsePCA

import fantope

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"
RESULTS = ROOT / "benchmarks" / "results" / "cardinality.json"
PAGE = ROOT / "docs" / "cardinality.md"
MARKS = "<!-- table -->", "<!-- end of table -->"
CLASSICS = ("pitprops", "ionosphere", "lung", "geography", "communities", "miniBoone", "arrhythmia")
SIZES, LARGE_SIZES = (5, 10, 20), (10, 20, 50, 100)
RIVALS_UP_TO = 400  # variables: scikit-learn and abess take minutes beyond, and form p × p
EXACT_SECONDS = 20.0


def matrices(folder: Path) -> Iterator[tuple[str, Any, tuple[int, ...]]]:
    """Yield name, S and the numbers of variables."""
    if (folder / "spca_classics.npz").exists():
        stored = np.load(folder / "spca_classics.npz", allow_pickle=False)
        for name in CLASSICS:
            yield name, stored[name], tuple(k for k in SIZES if k < len(stored[name]))
    for name, file in (("colon, 62 × 2,000", "microarray_alon"), ("NCI60, 64 × 6,830", "nci60_islp")):
        if (folder / f"{file}.npz").exists():
            X = np.load(folder / f"{file}.npz", allow_pickle=False)["X"].astype(float)
            yield name, fantope.covariance(X, kind="correlation"), LARGE_SIZES


def value(S: Any, support: Any) -> float:
    rows = np.asarray(support, dtype=np.intp)
    block = S[np.ix_(rows, rows)] if isinstance(S, np.ndarray) else S.block(rows, rows)
    return float(np.linalg.eigvalsh(block)[-1])


def top(loadings: Any, k: int) -> Any:
    return np.argsort(-np.abs(loadings), kind="stable")[:k]


def leading(S: Any) -> Any:
    """Return the leading eigenvector, by a power method that needs products alone."""
    p = len(S) if isinstance(S, np.ndarray) else S.size
    v = np.random.default_rng(0).standard_normal(p)
    for _ in range(200):
        v = S @ v if isinstance(S, np.ndarray) else S.matmul(v)
        v /= np.linalg.norm(v)
    return v


def truncated_power(S: Any, start: Any, k: int) -> Any:
    """Yuan and Zhang's truncated power method (JMLR 14, 2013)."""
    x = np.zeros_like(start)
    x[top(start, k)] = start[top(start, k)]
    for _ in range(200):
        y = S @ x if isinstance(S, np.ndarray) else S.matmul(x)
        x = np.zeros_like(y)
        x[top(y, k)] = y[top(y, k)] / np.linalg.norm(y[top(y, k)])
    return np.flatnonzero(x)


def scikit_learn(S: Any, k: int) -> float:
    """Return the best over a grid of penalties of SparsePCA's k largest loadings; its data have covariance S."""
    values, vectors = np.linalg.eigh(S)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
    X = np.vstack([root, -root])  # mean zero
    best = 0.0
    for alpha in (0.1, 0.5, 1.0, 2.0):
        loadings = SparsePCA(1, alpha=alpha, random_state=0, max_iter=200).fit(X).components_[0]
        best = max(best, value(S, top(loadings, k)))
    return best


def abess(S: Any, k: int) -> float | None:
    try:
        from abess.decomposition import SparsePCA as BestSubset
    except ImportError:
        return None
    try:
        model = BestSubset(support_size=k).fit(Sigma=S)
    except ValueError:  # it takes no matrix that rounding made indefinite
        return None
    return value(S, np.flatnonzero(np.asarray(model.coef_).ravel()))


def one(name: str, S: Any, k: int) -> dict[str, Any]:
    p = len(S) if isinstance(S, np.ndarray) else S.size
    began = time.process_time()
    b = fantope.cardinality_bracket(S, k)
    row = {"data": name, "p": p, "k": k, "lower": b.lower, "upper": b.upper, "gap": b.gap}
    row["seconds"] = time.process_time() - began
    if p <= 101:
        exact = fantope.cardinality_bracket(S, k, tol=1e-6, time_limit=EXACT_SECONDS)
        row |= {"exact_gap": exact.gap, "nodes": exact.n_nodes, "exact_lower": exact.lower}
    start = leading(S)
    row["thresholded PCA"] = value(S, top(start, k))
    row["truncated power"] = value(S, truncated_power(S, start, k))
    if p <= RIVALS_UP_TO:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row["scikit-learn"] = scikit_learn(S, k)
            row["abess"] = abess(S, k)
    print(row, flush=True)
    return row


def report(rows: list[dict[str, Any]]) -> str:
    rivals = ("thresholded PCA", "truncated power", "scikit-learn", "abess")
    head = ["data", "p", "k", "attained", "bound", "gap", "CPU s", "gap after branch and bound", *rivals]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for row in rows:
        after = (
            f"{100 * row['exact_gap']:.2g} % ({row['nodes']} node{'s' * (row['nodes'] != 1)})"
            if "exact_gap" in row
            else "–"
        )
        cells = [
            row["data"], f"{row['p']:,}", row["k"], f"{row['lower']:.4f}", f"{row['upper']:.4f}",
            f"{100 * row['gap']:.2f} %", f"{row['seconds']:.1f}", after,
            *("–" if row.get(name) is None else f"{row[name]:.4f}" for name in rivals),
        ]  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the matrices")
    parser.add_argument("--quick", action="store_true", help="the small ones alone, nothing is written")
    chosen = parser.parse_args()
    rows = []
    for name, S, sizes in matrices(chosen.data):
        for k in sizes:
            if not chosen.quick or (isinstance(S, np.ndarray) and len(S) <= 60):
                rows.append(one(name, S, k))
        if not chosen.quick:  # after each, so that what is done is not lost
            RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
            before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
            after = rest.partition(MARKS[1])[2]
            PAGE.write_text(f"{before}{MARKS[0]}\n\n{report(rows)}\n\n{MARKS[1]}{after}", encoding="utf-8")
    print(report(rows))


if __name__ == "__main__":
    main()
