"""Many variables: gene expression, words, the paper's model at p = 20,000, and growth with p.

`python -m benchmarks.scale [--quick] [CASE …]`. Each case runs in a process of its own, whose peak resident memory is
reported whole: interpreter, libraries, data and all. The tables go to docs/benchmarks/scale.md, the figures to
benchmarks/results/scale.json. Real data are not part of the project: cases that need them are left out, with the
reason, where FANTOPE_DATA (or a folder shared/data beside the repository) does not have them.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

import fantope
from benchmarks.cases import Case, Page, data
from benchmarks.competitors import sklearn_sparse_pca
from benchmarks.memory import peak, reset_peak, resident
from benchmarks.timing import Array, clock, seconds, table, warm_up
from fantope.penalties import L1
from fantope.problem.decomposition import decompose
from fantope.solvers.solve import choose_solver, solve_parts

D, TOL = 5, 1e-3
EIGH_UP_TO = 8_000  # variables whose eigenvalues are computed, as a unit
LIMIT_SECONDS = 900  # of one more alpha below the range that was asked for
PENALTIES = (1.0, 2.0, 4.0, 8.0)  # of scikit-learn's SparsePCA at p = 20,000; below 1 it takes minutes and is dense
WIDE = (30_000, 100_000)
GROWTH = (1_000, 2_000, 5_000, 10_000, 20_000, 50_000)


# Cases. Each returns a JSON-ready dict.


def kidney(quick: bool) -> dict[str, Any]:
    """Correlations of 13,822 genes, for normal and tumour samples."""
    X, _, group = data().kidney()
    asked = [0.97, 0.96] if quick else [0.97, 0.96, 0.95, 0.94, 0.93, 0.92, 0.91, 0.90]
    beyond = [] if quick else [0.89, 0.88, 0.87, 0.86, 0.85]
    return {"groups": [_path(name, X[group == name], asked, beyond) for name in np.unique(group)]}


def mouse_liver(quick: bool) -> dict[str, Any]:
    """Correlations of 3,600 probes, for female and male mice."""
    X, _, group = data().mouse_liver()
    asked = [0.95, 0.9] if quick else [round(0.95 - 0.01 * k, 2) for k in range(21)]
    beyond = [] if quick else [0.7, 0.65, 0.6, 0.55, 0.5]
    return {"groups": [_path(name, X[group == name], asked, beyond) for name in np.unique(group)]}


def defaults(quick: bool) -> dict[str, Any]:
    """`SparsePCA(d).fit(X)` as a newcomer would call it, on each set of real data."""
    load, rows = data(), []
    sets = {
        "gas sensors": lambda: load.raw("gas_sensor_drift_8of10")["X"],
        "stocks, in percent": lambda: 100.0 * load.sp500()[0],
        "colon": lambda: load.raw("microarray_alon")["X"],
        "mouse liver": lambda: load.mouse_liver()[0],
        "NCI60": lambda: load.raw("nci60_islp")["X"],
        "kidney": lambda: load.kidney()[0],
    }
    for name in list(sets)[: 3 if quick else None]:
        X = np.asarray(sets[name](), dtype=np.float64)
        for kind in ("covariance", "correlation"):
            unit = _eigh(X, kind) if X.shape[1] <= EIGH_UP_TO else None
            for d in (2, D):
                rows.append(_default(X, kind, d) | {"data": name, "n": X.shape[0], "p": X.shape[1], "eigh": unit})
    return {"rows": rows}


def _eigh(X: Array, kind: str) -> float:
    """Time the fastest of LAPACK's drivers: of few samples the default one takes several times as long."""
    every = np.arange(X.shape[1])
    S = fantope.covariance(X, kind=kind).block(every, every)
    return clock(lambda: scipy.linalg.eigh(S, driver="evd"))[0]


def _default(X: Array, kind: str, d: int) -> dict[str, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status says so too
        spent, pca = clock(lambda: fantope.SparsePCA(d, kind=kind).fit(X))
    solution = pca.solution_
    return {
        "kind": kind, "d": d, "seconds": spent, "iterations": int(pca.n_iter_), "gap": float(pca.gap_),
        "status": solution.status.name, "support": len(solution.support), "refitted": len(pca.support_),
    }  # fmt: skip


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
    X, words, _ = data().news20()
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


def growth(quick: bool, p: int) -> dict[str, Any]:
    """One p: the parts of a solve, and the memory that they took beyond that of the process before."""
    n = 200
    Z, _ = paper_model(n, p)
    return _timed(Z, 2, 1.5 * float(np.sqrt(np.log(p) / n)), "covariance")


def wide(quick: bool, p: int) -> dict[str, Any]:
    """One p at an alpha at which noise connects nearly all variables: more of them than an m × m array holds."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((150, p), dtype=np.float32)
    for start in range(0, 10_000, 100):  # modules
        Z[:, start : start + 100] += np.outer(rng.standard_normal(150), rng.uniform(0.3, 1.2, 100)).astype(np.float32)
    return _timed(Z, D, 0.30, "correlation")


def _timed(Z: Array, d: int, alpha: float, kind: str) -> dict[str, Any]:
    """Return the parts of a solve, and the memory that they took."""
    p = Z.shape[1]
    before = resident()
    reset_peak()
    moments, op = clock(lambda: fantope.covariance(Z, kind=kind))
    scan, labels = clock(lambda: op.component_labels(alpha))
    reduce, parts = clock(lambda: decompose(op, d, L1(alpha), labels))
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


# Reporting.


def _gigabytes(count: float) -> str:
    return f"{count / 1e9:.2f} GB"


def _groups(result: dict[str, Any], target: str) -> str:
    lines = []
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
    return _groups(result, "Wanted for alpha 0.97 … 0.90: at most 2 minutes and 3 GB.")


def _mouse_liver(result: dict[str, Any]) -> str:
    return _groups(result, "Wanted for alpha 0.95 … 0.75: at most 60 s a group.")


def _defaults(result: dict[str, Any]) -> str:
    head = ["data", "n × p", "S", "d", "time", "/ `eigh`", "status", "gap", "variables in X", "in components_"]
    rows = [
        [
            row["data"], f"{row['n']:,} × {row['p']:,}", row["kind"], row["d"], seconds(row["seconds"]),
            "–" if row["eigh"] is None else f"{row['seconds'] / row['eigh']:.1f}", row["status"], f"{row['gap']:.1e}",
            f"{row['support']:,}", f"{row['refitted']:,}",
        ]
        for row in result["rows"]
    ]  # fmt: skip
    return (
        '`SparsePCA(d, kind=…).fit(X)` and nothing else; `eigh` is `scipy.linalg.eigh(S, driver="evd")`, once. '
        "The default α follows from noise: where nearly all variables are correlated, as here, nearly all are in "
        "use. `FULL`: [what to do](../guarantees.md#status). Peak resident memory of all together "
        f"{_gigabytes(result['peak_bytes'])}.\n\n" + table(head, rows) + "\n"
    )


def _news20(result: dict[str, Any]) -> str:
    lines = [
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
    return f"""\
n = {result["n"]}, p = {result["p"]:,}, λ = 1.5√(log p/n); drawn exactly from the paper's model. fantope's gap is
{result["gap"]:.1e}, verified {result["verified"]:.1e}.

{table(["method", "penalty", "time", "‖Π̂ − Π‖_F", "of v₁, v₂ found", "variables in use"], rows)}
"""


def _wide(result: dict[str, Any]) -> str:
    names = ("moments", "scan", "reduce", "solve", "verify")
    rows = [
        [f"{row['p']:,}", f"{row['kept']:,}", row["support"], *(seconds(row[name]) for name in names),
         f"{row['gap']:.1e}", _gigabytes(row["extra_bytes"])]
        for row in result["rows"]
    ]  # fmt: skip
    text = f"150 samples, noise with a hundred modules, correlation, α = 0.30, d = {D}, gap {TOL:g}.\n\n"
    return text + table(["p", "kept", "in use", *names, "gap", "memory beyond the data"], rows) + "\n"


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
    return f"""\
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


def _warm_up() -> None:
    warm_up()
    small = np.random.default_rng(0).standard_normal((20, 30))
    fantope.solve(fantope.covariance(small, kind="correlation"), 1, 0.3, tol=1e-2).verify()


PAGE = Page(
    "scale",
    "Many variables: measured",
    {
        "kidney": Case("Kidney RNA-seq, correlation, d = 5", kidney, _kidney, needs_data=True),
        "mouse_liver": Case("Mouse liver, correlation, d = 5", mouse_liver, _mouse_liver, needs_data=True),
        "news20": Case("Newsgroups, d = 5", news20, _news20, needs_data=True),
        "defaults": Case("Real data, all defaults", defaults, _defaults, needs_data=True),
        "paper": Case("The paper's model", paper, _paper),
        "wide": Case("More variables than an array holds", wide, _wide, sizes=WIDE),
        "growth": Case("Growth with p at a fixed support", growth, _growth, sizes=GROWTH),
    },
    _warm_up,
)

if __name__ == "__main__":
    sys.exit(PAGE.main())
