"""Many variables: gene expression, words, the paper's model at p = 20,000, and growth with p.

`python -m benchmarks.scale [--quick] [CASE …]`. Each case runs in a process of its own, whose peak resident memory is
reported whole: interpreter, libraries, data and all. The tables go to docs/scale.md, the figures to
benchmarks/results/scale.json. Real data are not part of the project: cases that need them are left out, with the
reason, where FANTOPE_DATA (or a folder shared/data beside the repository) does not have them.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.preprocessing import normalize

import fantope
from benchmarks.competitors import sklearn_sparse_pca
from benchmarks.memory import peak, reset_peak, resident
from benchmarks.report import BUSY, describe
from benchmarks.timing import Array, Background, clock, machine, seconds, table, warm_up
from fantope.problem.decomposition import decompose
from fantope.solvers.solve import choose_solver, solve_parts

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "scale.md"
RESULTS = ROOT / "benchmarks" / "results"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"

D, TOL = 5, 1e-3
LIMIT_SECONDS = 900  # of one more alpha below the range that was asked for
PENALTIES = (1.0, 2.0, 4.0, 8.0)  # of scikit-learn's SparsePCA at p = 20,000; below 1 it takes minutes and is dense
GROWTH = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)


# Cases. Each returns a JSON-ready dict.


def kidney(quick: bool) -> dict[str, Any]:
    """Correlations of 13,822 genes, for normal and tumour samples."""
    X, _, group = _data().kidney()
    asked = [0.97, 0.96] if quick else [0.97, 0.96, 0.95, 0.94, 0.93, 0.92, 0.91, 0.90]
    beyond = [] if quick else [0.89, 0.88, 0.87, 0.86, 0.85]
    return {"groups": [_path(name, X[group == name], asked, beyond) for name in np.unique(group)]}


def mouse_liver(quick: bool) -> dict[str, Any]:
    """Correlations of 3,600 probes, for female and male mice."""
    X, _, group = _data().mouse_liver()
    asked = [0.95, 0.9] if quick else [round(0.95 - 0.01 * k, 2) for k in range(21)]
    beyond = [] if quick else [0.7, 0.65, 0.6, 0.55, 0.5]
    return {"groups": [_path(name, X[group == name], asked, beyond) for name in np.unique(group)]}


def _path(name: str, X: Array, asked: list[float], beyond: list[float]) -> dict[str, Any]:
    """Time a path from data to certified solutions and check each; then go on, alpha by alpha, while that is quick."""
    spent, (op, path) = clock(lambda: _solved(X, asked))
    rows = [_row(solution) for solution in path]
    checking, gaps = clock(lambda: [solution.verify(op).gap for solution in path])
    more, last = [], path[-1]
    for alpha in beyond:
        took, last = clock(lambda alpha=alpha, last=last: fantope.solve(op, D, alpha, tol=TOL, init=last))
        more.append(_row(last) | {"seconds": took, "verified": last.verify(op).gap})
        if took > LIMIT_SECONDS:
            break
    return {
        "name": str(name),
        "n": len(X),
        "p": X.shape[1],
        "seconds": spent,
        "verify_seconds": checking,
        "verified": max(gaps),
        "rows": rows,
        "beyond": more,
    }


def _solved(X: Array, alphas: list[float]) -> tuple[Any, fantope.Path]:
    op = fantope.covariance(X, kind="correlation")
    return op, fantope.solve_path(op, D, alphas, tol=TOL)


def _row(solution: fantope.Solution) -> dict[str, Any]:
    return {
        "alpha": solution.alpha,
        "kept": int((solution.dual.position >= 0).sum()),
        "support": len(solution.support),
        "gap": solution.gap,
        "status": solution.status.name,
        "eigenvalues": [round(float(value), 3) for value in solution.eigenvalues[: D + 3]],
    }


def news20(quick: bool) -> dict[str, Any]:
    """Covariance of 111,058 words, sparse: as log(1 + count), weighted by rarity, and with documents of unit length."""
    X, words, _ = _data().news20()
    X = X.log1p().tocsc()
    weighted = (X @ scipy.sparse.diags_array(np.log(X.shape[0] / np.diff(X.indptr)))).tocsc()
    runs = [
        ("log(1 + count)", X, 40 * D),
        ("log(1 + count)·log(documents/documents with the word)", weighted, 40 * D),
        ("the same, each document scaled to unit length", normalize(weighted).tocsc(), 20 * D),
    ]
    return {
        "n": X.shape[0],
        "p": X.shape[1],
        "runs": [_topics(name, Y, words, 10 * D if quick else size) for name, Y, size in runs],
    }


def _topics(name: str, X: Any, words: list[str], size: int) -> dict[str, Any]:
    spent, solution = clock(lambda: fantope.solve_for_size(fantope.covariance(X), D, size, tol=TOL))
    checking, certificate = clock(solution.verify)
    topics = []
    for component in varimax(solution.components):
        order = np.argsort(-np.abs(component))
        leading = [i for i in order[:25] if abs(component[i]) >= 0.05]
        signs = {"positive": 1, "negative": -1}
        topics.append({key: [words[i] for i in leading if sign * component[i] > 0] for key, sign in signs.items()})
    return {
        "name": name,
        "seconds": spent,
        "verify_seconds": checking,
        "verified": certificate.gap,
        **_row(solution),
        "topics": topics,
    }


def varimax(components: Array, rounds: int = 100) -> Array:
    """Turn the basis of the same subspace so that each row has few large loadings (Kaiser 1958), signs positive."""
    turn = np.eye(len(components))
    for _ in range(rounds):
        rows = turn @ components
        lift = (rows**3 - rows * (rows**2).mean(axis=1, keepdims=True)) @ components.T
        left, _, right = np.linalg.svd(lift)
        turn = left @ right
    rows = turn @ components
    return rows * np.where(rows.sum(axis=1, keepdims=True) < 0.0, -1.0, 1.0)


def paper(quick: bool) -> dict[str, Any]:
    """Draw the paper's model with many more variables than samples; fantope beside scikit-learn's SparsePCA."""
    n, p = 200, 2_000 if quick else 20_000
    Z, V = paper_model(n, p)
    alpha = 1.5 * float(np.sqrt(np.log(p) / n))
    spent, solution = clock(lambda: fantope.solve(fantope.covariance(Z), 2, alpha, tol=TOL))
    rows = [
        {
            "name": "fantope",
            "penalty": alpha,
            "seconds": spent,
            "errors": _errors(solution.components, V),
            "support": len(solution.support),
        }
    ]
    for penalty in PENALTIES[-1:] if quick else PENALTIES:
        spent, components = clock(lambda penalty=penalty: sklearn_sparse_pca.fit(Z, 2, penalty))
        rows.append(
            {
                "name": sklearn_sparse_pca.NAME,
                "penalty": penalty,
                "seconds": spent,
                "errors": _errors(components, V),
                "support": int((components != 0).any(axis=0).sum()),
            }
        )
    return {"n": n, "p": p, "gap": solution.gap, "verified": solution.verify().gap, "rows": rows}


def _errors(components: Array, V: Array) -> dict[str, Any]:
    """Return ‖Π̂ − Π‖_F and how much of each true eigenvector lies in the estimated subspace, 0 to 1."""
    used = components[np.linalg.norm(components, axis=1) > 0]
    basis = np.linalg.qr(used.T)[0] if len(used) else np.zeros((components.shape[1], 0))
    inside = np.linalg.norm(basis.T @ V, axis=0)
    distance = basis.shape[1] + V.shape[1] - 2 * float((inside**2).sum())
    return {"subspace": float(np.sqrt(max(distance, 0.0))), "found": [float(value) for value in inside]}


def paper_model(n: int, p: int, seed: int = 0) -> tuple[Array, Array]:
    """Draw (n, p) data of the paper's model and its (p, 2) sparse eigenvectors without a p × p matrix.

    The noise is G Λ^{1/2} Qᵀ with G (n, p − 2) normal and Q a uniformly random basis of what is orthogonal to the
    sparse eigenvectors. With the thin decomposition G Λ^{1/2} = A B Wᵀ the noise is A B (Q W)ᵀ, and Q W is a uniformly
    random n-frame in that space: it is drawn as the thin QR factor of a projected normal matrix. So this is the same
    distribution as ``fantope.simulate``'s, not an approximation; only Σ is not known as a matrix.
    """
    rng = np.random.default_rng(seed)
    V = np.zeros((p, 2))
    V[:20, 0] = rng.uniform(0.9, 1.1, 20)
    V[20:35, 1] = rng.uniform(0.9, 1.1, 15)
    V /= np.linalg.norm(V, axis=0)
    noise = rng.standard_normal((n, p - 2)) * np.sqrt(rng.uniform(0.0, 2.0, p - 2))
    A, B, _ = np.linalg.svd(noise, full_matrices=False)
    frame = rng.standard_normal((p, n))
    frame -= V @ (V.T @ frame)
    frame = np.linalg.qr(frame)[0]
    Z = (A * B) @ frame.T + (rng.standard_normal((n, 2)) * np.sqrt([12.0, 6.0])) @ V.T
    return Z, V


def growth(quick: bool, p: int = GROWTH[0]) -> dict[str, Any]:
    """One p: the parts of a solve, and the memory that they took beyond that of the process before."""
    n = 200
    Z, _ = paper_model(n, p)
    alpha = 1.5 * float(np.sqrt(np.log(p) / n))
    before = resident()
    reset_peak()
    moments, op = clock(lambda: fantope.covariance(Z))
    scan, labels = clock(lambda: op.component_labels(alpha))
    reduce, parts = clock(lambda: decompose(op, 2, alpha, labels))
    solve, solution = clock(lambda: solve_parts(op, parts, choose_solver("auto"), TOL))
    highest = peak()
    certify, certificate = clock(solution.verify)
    return {
        "p": p,
        "data_bytes": Z.nbytes,
        "kept": len(parts.kept),
        "support": len(solution.support),
        "moments": moments,
        "scan": scan,
        "reduce": reduce,
        "solve": solve,
        "total": moments + scan + reduce + solve,
        "verify": certify,
        "gap": certificate.gap,
        "extra_bytes": max(highest - before, 0),
    }


CASES: dict[str, Callable[..., dict[str, Any]]] = {
    "kidney": kidney,
    "mouse_liver": mouse_liver,
    "news20": news20,
    "paper": paper,
    "growth": growth,
}
NEEDS_DATA = ("kidney", "mouse_liver", "news20")


# Running.


def run(quick: bool, names: list[str] | None = None) -> dict[str, Any]:
    """Run each case in a process of its own; fill docs/scale.md unless ``quick``."""
    background = Background()
    result: dict[str, Any] = {}
    for name in names or CASES:
        if name in NEEDS_DATA and _data_folder() is None:
            result[name] = {"skipped": "the data are not here: set FANTOPE_DATA to the folder that holds load.py"}
        elif name == "growth":
            sizes = GROWTH[:3] if quick else GROWTH
            result[name] = {"rows": [_child(name, quick, str(p)) for p in sizes]}
        else:
            result[name] = _child(name, quick)
        print(f"  {name}: {json.dumps(result[name])[:160]}", flush=True)
    if not quick:
        stored = RESULTS / "scale.json"
        if names and stored.exists():  # the other cases stay as they were
            result = json.loads(stored.read_text(encoding="utf-8"))["result"] | result
        fill_page(result, background.share())
    return result


def _child(name: str, quick: bool, *more: str) -> dict[str, Any]:
    options = ["--quick"] if quick else []
    found = subprocess.run(
        [sys.executable, "-m", "benchmarks.scale", *options, "--measure", name, *more],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    measured: dict[str, Any] = json.loads(found.stdout.splitlines()[-1])
    return measured


def _measure(name: str, quick: bool, more: list[str]) -> None:
    warm_up()
    small = np.random.default_rng(0).standard_normal((20, 30))
    fantope.solve(fantope.covariance(small, kind="correlation"), 1, 0.3, tol=1e-2).verify()
    measured = CASES[name](quick, *map(int, more))
    print(json.dumps(measured | {"peak_bytes": _peak_of_process()}))


def _data_folder() -> Path | None:
    for folder in (os.environ.get("FANTOPE_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (Path(folder) / "load.py").exists():
            return Path(folder)
    return None


def _data() -> Any:
    folder = _data_folder()
    assert folder is not None
    sys.dont_write_bytecode = True  # the folder may be read-only, and is not ours
    spec = importlib.util.spec_from_file_location("fantope_benchmark_data", folder / "load.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _peak_of_process() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# Reporting.


def report(result: dict[str, Any]) -> str:
    """Return the section in Markdown."""
    parts = ["## Many variables: measured\n"]
    for name, of in SECTIONS.items():
        if name in result:
            skipped = result[name].get("skipped")
            parts.append(f"### {TITLES[name]}\n\nNot run: {skipped}.\n" if skipped else of(result[name]))
    return "\n".join(parts)


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.2f} GB"


def _groups(title: str, result: dict[str, Any], target: str) -> str:
    lines = [f"### {title}\n"]
    total = sum(group["seconds"] for group in result["groups"])
    for group in result["groups"]:
        rows = [_cells(row, "") for row in group["rows"]]
        rows += [_cells(row, seconds(row["seconds"])) for row in group["beyond"]]
        lines.append(
            f"**{group['name']}**, {group['n']} samples × {group['p']:,} variables: {len(group['rows'])} alphas in "
            f"{seconds(group['seconds'])} from the data matrix to the last certificate. Checked again by `verify` in "
            f"{seconds(group['verify_seconds'])}, largest gap {group['verified']:.1e}.\n\n"
            + table(["alpha", "after the scan", "in use", "gap", "leading eigenvalues of X", "further, alone"], rows)
            + "\n"
        )
    lines.append(
        f"Together {seconds(total)}; peak resident memory of the process {_gigabytes(result['peak_bytes'])}. {target}\n"
    )
    return "\n".join(lines)


def _cells(row: dict[str, Any], alone: str) -> list[Any]:
    values = ", ".join(f"{value:.2f}" for value in row["eigenvalues"][: D + 1])
    solved = "" if row["status"] == "SOLVED" else f" ({row['status']})"
    return [f"{row['alpha']:g}", f"{row['kept']:,}", row["support"], f"{row['gap']:.1e}{solved}", values, alone]


def _kidney(result: dict[str, Any]) -> str:
    return _groups(TITLES["kidney"], result, "Wanted for alpha 0.97 … 0.90: at most 2 minutes and 3 GB.")


def _mouse_liver(result: dict[str, Any]) -> str:
    return _groups(TITLES["mouse_liver"], result, "Wanted for alpha 0.95 … 0.75: at most 60 s a group.")


def _news20(result: dict[str, Any]) -> str:
    lines = [
        f"### {TITLES['news20']}\n",
        f"{result['n']:,} documents × {result['p']:,} words, sparse, covariance, `solve_for_size`. "
        "The basis of the certified subspace is turned by varimax before it is printed. "
        f"Wanted: at most 60 s and 3 GB; peak resident memory {_gigabytes(result['peak_bytes'])}.\n",
    ]
    for run_ in result["runs"]:
        rows = [
            [k + 1, " ".join(topic["positive"]), " ".join(topic["negative"]) or "–"]
            for k, topic in enumerate(run_["topics"])
        ]
        lines.append(
            f"**{run_['name']}**: alpha = {run_['alpha']:.4g}, {run_['support']} words in use, {run_['kept']:,} after "
            f"the scan, gap {run_['gap']:.1e} (verified {run_['verified']:.1e}), the whole search "
            f"{seconds(run_['seconds'])}, `verify` {seconds(run_['verify_seconds'])}.\n\n"
            + table(["component", "largest loadings, positive", "negative"], rows)
            + "\n"
        )
    return "\n".join(lines)


def _paper(result: dict[str, Any]) -> str:
    rows = [
        [
            row["name"],
            f"{row['penalty']:.3g}",
            seconds(row["seconds"]),
            f"{row['errors']['subspace']:.3f}",
            ", ".join(f"{value:.2f}" for value in row["errors"]["found"]),
            row["support"],
        ]
        for row in result["rows"]
    ]
    return f"""### {TITLES["paper"]}

n = {result["n"]}, p = {result["p"]:,}, λ = 1.5√(log p/n); drawn exactly from the paper's model. fantope's gap is
{result["gap"]:.1e}, verified {result["verified"]:.1e}.

{table(["method", "penalty", "time", "‖Π̂ − Π‖_F", "of v₁, v₂ found", "variables in use"], rows)}
"""


def _growth(result: dict[str, Any]) -> str:
    rows = [
        [
            f"{row['p']:,}",
            row["kept"],
            row["support"],
            *(seconds(row[part]) for part in ("moments", "scan", "reduce", "solve", "total", "verify")),
            f"{row['data_bytes'] / 1e6:.0f} MB",
            f"{row['extra_bytes'] / 1e6:.0f} MB",
        ]
        for row in result["rows"]
    ]
    head = ["p", "kept", "in use", "moments", "scan", "reduce", "solve", "total", "verify", "data", "memory besides"]
    exponents = ", ".join(
        f"{part} {_exponent(result['rows'], part):.2f}" for part in ("moments", "scan", "reduce", "solve", "total")
    )
    return f"""### {TITLES["growth"]}

The paper's model with n = 200 and λ = 1.5√(log p/n), whose support stays the same. Exponents b of time ∝ p^b, by least
squares on the logarithms over p ≥ 5,000: {exponents}; of the memory besides the data
{_exponent(result["rows"], "extra_bytes"):.2f}. S itself would take {_gigabytes(8 * result["rows"][-1]["p"] ** 2)} at
the largest p.

{table(head, rows)}
"""


def _exponent(rows: list[dict[str, Any]], part: str, least: int = 5_000) -> float:
    large = [row for row in rows if row["p"] >= least] if rows[-1]["p"] > least else rows
    x, y = np.log([row["p"] for row in large]), np.log([max(row[part], 1e-9) for row in large])
    return float(np.polyfit(x, y, 1)[0])


TITLES = {
    "kidney": "Kidney RNA-seq, correlation, d = 5",
    "mouse_liver": "Mouse liver, correlation, d = 5",
    "news20": "Newsgroups, d = 5",
    "paper": "The paper's model",
    "growth": "Growth with p at a fixed support",
}
SECTIONS = {"kidney": _kidney, "mouse_liver": _mouse_liver, "news20": _news20, "paper": _paper, "growth": _growth}


def fill_page(result: dict[str, Any], background: float | None) -> None:
    """Put the section between the markers of docs/scale.md."""
    text = PAGE.read_text(encoding="utf-8")
    head, rest = text.split(BEGIN)
    tail = rest.split(END)[1]
    noisy = ""
    if background is not None and background > BUSY:
        noisy = f"*Other programs took {100 * background:.0f} % of the processor meanwhile: times are too long.*\n\n"
    body = report(result).replace("\n", f"\n\n{describe(machine())}\n{noisy}", 1)
    PAGE.write_text(f"{head}{BEGIN}\n\n{body}\n{END}{tail}", encoding="utf-8")


def main(argv: list[str] | None = None) -> int:
    """Run cases and write their results; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description="Measure and fill docs/scale.md.")
    parser.add_argument("--quick", action="store_true", help="small parts; nothing is written to docs/")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; default all")
    chosen = parser.parse_args(argv)
    if chosen.measure:
        _measure(chosen.cases[0], chosen.quick, chosen.cases[1:])
        return 0
    unknown = [name for name in chosen.cases if name not in CASES]
    if unknown:
        parser.error(f"no case {unknown[0]!r}; there are {', '.join(CASES)}")
    folder = RESULTS / "raw" / "quick" if chosen.quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    background = Background()
    result = run(chosen.quick, chosen.cases or None)
    stored = {"machine": machine(), "background": background.share(), "result": result}
    (folder / "scale.json").write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")
    print(report(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
