"""Streams: what a step costs, what it holds in memory, and a million rows through `fantope stream`.

`python -m benchmarks.online [--quick] [CASE …]`. Costs are ratios within one run. The tables go to
docs/benchmarks/online.md, the figures to benchmarks/results/online.json. The pictures of
real streams are `python -m benchmarks.online_figures`.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import scipy.linalg

from benchmarks.cases import Case, Page
from benchmarks.memory import peak, reset_peak, resident
from benchmarks.timing import Array, clock, seconds, table
from fantope.eigen import one_blas_thread
from fantope.online import OnlineP, OnlineT, RegretTracker
from fantope.simulation import simulate

BLOCK = 5000  # rows that the soak sends at a time
OTHERS = ((0.5, 1), (0.5, 2), (1.0, 0))  # λ as a multiple of √(log p/T), seed of the data
PERIODS = 4  # of a stream of Online-P: whether a step costs more later on


def online_t(quick: bool) -> dict[str, Any]:
    """One step against ``X += outer(z, z)``, alternating, after some steps have filled the matrix."""
    p, warm, n = (200, 20, 10) if quick else (1600, 150, 40)
    Z = simulate(warm + n, p).Z
    learner = OnlineT(p, 2, 0.5 * math.sqrt(math.log(p) / 1000))
    learner.update_many(Z[:2])  # compilation
    tracemalloc.start()
    again = OnlineT(p, 2, learner.alpha)
    again.update_many(Z[:3])
    arrays = tracemalloc.get_traced_memory()[1] / (8.0 * p * p)
    tracemalloc.stop()
    learner.update_many(Z[2:warm])
    return {"p": p, "first": warm + 1, "last": warm + n, "arrays": arrays} | _against_update(learner, Z[warm:])


def _against_update(learner: OnlineT, Z: Array) -> dict[str, float]:
    """Return the median cost of a step over that of a dense rank-one update, one after the other."""
    X = np.zeros((learner.n_features, learner.n_features))
    ours, theirs, products = [], [], []
    for z in Z:
        began = time.perf_counter()
        X += np.outer(z, z)
        between = time.perf_counter()
        learner.update_many(z[None])
        theirs.append(between - began)
        ours.append(time.perf_counter() - between)
        products.append(learner.diagnostics["products"])
    return {
        "ratio": float(np.median(ours) / np.median(theirs)),
        "seconds": float(np.median(ours)),
        "products": float(np.mean(products)),
    }


def long_stream(quick: bool) -> dict[str, Any]:
    """Online-T at p = 400: windows of a long stream."""
    p, ends = (100, (100, 200)) if quick else (400, (100, 1_000, 10_000, 40_000))
    rng, window = np.random.default_rng(0), 50
    sim = simulate(2000, p)
    learner = OnlineT(p, 2, 0.5 * math.sqrt(math.log(p) / ends[-1]))
    learner.update_many(sim.Z[:2])
    rows = []
    for end in ends:
        while learner.n_samples < end - window:
            rest = min(end - window - learner.n_samples, 1000)
            learner.update_many(sim.Z[rng.integers(0, len(sim.Z), rest)])
        rows.append({"t": end} | _against_update(learner, sim.Z[rng.integers(0, len(sim.Z), window)]))
    return {"p": p, "window": window, "rows": rows}


def sparse(quick: bool, alpha: int) -> dict[str, Any]:
    """Sparse storage at p = 20,000 under one λ: memory and time follow the non-zeros."""
    p, n = (2000, 6) if quick else (20_000, 100)
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, p))
    Z[:, :50] += 4.0 * rng.standard_normal((n, 1))
    OnlineT(50, 1, float(alpha), storage="sparse").update_many(Z[:3, :50])  # compilation
    before = resident()
    reset_peak()
    learner = OnlineT(p, 1, float(alpha), storage="sparse")
    spent, _ = clock(lambda: learner.update_many(Z))
    held = learner.indices.nbytes + learner.data.nbytes + learner.indptr.nbytes + learner.diagonal.nbytes
    return {
        "p": p,
        "alpha": alpha,
        "samples": n,
        "non_zeros": len(learner.data),
        "non_zeros_of_mean": len(learner.sum.keys) + learner.sum.pending,
        "held_bytes": held,
        "mean_bytes": learner.sum.nbytes,
        "extra_bytes": peak() - before,
        "seconds": spent / n,
    }


def online_p(quick: bool, loosen: int) -> dict[str, Any]:
    """Time steps of Online-P to the theorem's tolerance and to looser ones; the regret shows what these cost."""
    return _steps_of_online_p(quick, loosen, 0.5, 0)


def online_p_others(quick: bool, which: int) -> dict[str, Any]:
    """Time steps of Online-P on other data, and with a larger penalty."""
    return _steps_of_online_p(quick, 1, *OTHERS[which])


def _steps_of_online_p(quick: bool, loosen: int, factor: float, seed: int) -> dict[str, Any]:
    """Time the steps of a stream, each followed by ``eigh``.

    S has 101 eigenvalues besides zero, on which LAPACK is faster than on most matrices of that size: a matrix of full
    rank is timed as well. One BLAS thread, which is faster than two at this size.
    """
    p, T = (60, 12) if quick else (400, 100)
    sim = simulate(T + 1, p, random_state=seed)
    alpha = factor * math.sqrt(math.log(p) / T)
    S = sim.Z.T @ sim.Z / (T + 1)
    full = simulate(4 * p, p).Z
    S_full = full.T @ full / len(full)
    OnlineP(p, 2, alpha).update_many(sim.Z[:12])  # compilation
    learner = OnlineP(p, 2, alpha, loosen=float(loosen))
    tracker = RegretTracker(2, alpha, 1.0, 1, sim.projection)
    spent, unit, unit_full = [], [], []
    for z in sim.Z:
        if tracker.due(learner.n_samples):
            tracker.observe(learner, z)
        spent.append(clock(lambda z=z: learner.update_many(z[None]))[0])
        with one_blas_thread():
            unit.append(clock(lambda: scipy.linalg.eigh(S))[0])
            unit_full.append(clock(lambda: scipy.linalg.eigh(S_full))[0])
    iterations = [record.n_iter for record in learner.records]
    return {
        "p": p,
        "T": T,
        "loosen": loosen,
        "factor": factor,
        "seed": seed,
        "eigh_seconds": float(np.mean(unit)),
        "full_eigh_seconds": float(np.mean(unit_full)),
        "ratio": float(np.mean(spent) / np.mean(unit)),
        "ratio_to_fastest": float(np.mean(spent) / min(unit)),
        "ratio_to_full": float(np.mean(spent) / np.mean(unit_full)),
        "ratios": [
            float(np.mean(ours) / np.mean(theirs))
            for ours, theirs in zip(np.array_split(spent, PERIODS), np.array_split(unit, PERIODS), strict=True)
        ],
        "iterations": [float(np.mean(part)) for part in np.array_split(iterations, PERIODS)],
        "met": learner.n_unmet == 0,
        "regret": tracker.regret(),
        "error": float(np.linalg.norm(learner.iterate() - sim.projection)),
    }


def soak(quick: bool) -> dict[str, Any]:
    """Rows of p = 100 through `fantope stream`, as CSV from a pipe, and the memory of that process."""
    blocks, p = (2 if quick else 200), 100
    text = "\n".join(",".join(f"{value:.6g}" for value in row) for row in simulate(BLOCK, p).Z) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "fantope.cli", "stream", "-", "--no-header", "-a", "0.05", "--json",
            "--checkpoint", str(Path(folder) / "soak.ckpt"),
        ]  # fmt: skip
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert process.stdin is not None and process.stdout is not None
        watched, memory = psutil.Process(process.pid), []
        for _ in range(blocks):
            process.stdin.write(text)
            memory.append(watched.memory_info().rss)
        process.stdin.close()
        result = json.loads(process.stdout.read())
        process.wait()
        spent = time.perf_counter() - began
    # The first blocks fill the pipe while the program still starts.
    quarter = max(blocks // 4, 1)
    return {
        "p": p,
        "samples": result["n_samples"],
        "seconds": spent,
        "quarters": [max(memory[k : k + quarter]) for k in range(0, blocks, quarter)],
    }


# The report.


def _online_t(result: dict[str, Any]) -> str:
    return (
        f"p = {result['p']:,}, steps {result['first']} to {result['last']}: a step takes {seconds(result['seconds'])} "
        f"with {result['products']:.1f} products for its two eigenpairs, **{result['ratio']:.1f} ×** "
        "`X += outer(z, z)` (wanted: at most 8). "
        f"At its peak it holds {result['arrays']:.1f} dense p × p arrays (at most 3).\n"
    )


def _long_stream(result: dict[str, Any]) -> str:
    rows = [
        [f"{row['t']:,}", seconds(row["seconds"]), f"{row['ratio']:.1f}", f"{row['products']:.1f}"]
        for row in result["rows"]
    ]
    return (
        f"p = {result['p']}, medians of {result['window']} steps up to sample t.\n\n"
        + table(["t", "step", "over `X += outer(z, z)`", "products"], rows)
        + "\n"
    )


def _sparse(result: dict[str, Any]) -> str:
    rows = [
        [
            row["alpha"],
            f"{row['non_zeros']:,}",
            f"{row['held_bytes'] / 1e6:.2f} MB",
            f"{row['non_zeros_of_mean']:,}",
            f"{row['mean_bytes'] / 1e6:.2f} MB",
            f"{row['extra_bytes'] / 1e6:.1f} MB",
            seconds(row["seconds"]),
        ]
        for row in result["rows"]
    ]
    first = result["rows"][0]
    head = ["λ", "non-zeros of X", "held", "of the running mean", "held", "growth of the process", "step"]
    return (
        f"p = {first['p']:,}, after {first['samples']} samples; a dense array would take "
        f"{8e-6 * first['p'] ** 2:,.0f} MB. The running mean holds every pair that was ever in use.\n\n"
        f"{table(head, rows)}\n\n![memory against non-zeros](../images/online_sparse.png)\n"
    )


def _of_periods(values: list[float]) -> str:
    return ", ".join(f"{value:.0f}" for value in values)


def _online_p(result: dict[str, Any]) -> str:
    rows = [
        [
            f"{row['loosen']:,}",
            f"{row['ratio']:.1f}",
            _of_periods(row["ratios"]),
            f"{row['ratio_to_full']:.1f}",
            _of_periods(row["iterations"]),
            "yes" if row["met"] else "no",
            f"{row['regret']:.1f}",
            f"{row['error']:.4f}",
        ]
        for row in result["rows"]
    ]
    first = result["rows"][-1]  # loosen = 1
    head = [
        "loosen", "step / `eigh(S)`", "by quarter", "step / `eigh`, full rank", "iterations by quarter", "all met",
        "regret", "‖X_T − Π‖_F",
    ]  # fmt: skip
    return (
        f"p = {first['p']}, T = {first['T']}, λ = 0.5√(log p/T), one draw. Means; after each step, `eigh` of S_1:T "
        f"(rank {first['T'] + 1}, {seconds(first['eigh_seconds'])}) and of a matrix of full rank "
        f"({seconds(first['full_eigh_seconds'])}) on one thread. Wanted: 30 × at loosen = 1. Over the fastest of all "
        f"`eigh(S)` it is {first['ratio_to_fastest']:.1f} ×.\n\n{table(head, rows)}\n"
    )


def _online_p_others(result: dict[str, Any]) -> str:
    rows = [
        [
            f"{row['factor']:g}√(log p/T)",
            row["seed"],
            f"{row['ratio']:.1f}",
            _of_periods(row["ratios"]),
            f"{row['ratio_to_full']:.1f}",
            _of_periods(row["iterations"]),
            "yes" if row["met"] else "no",
        ]
        for row in result["rows"]
    ]
    head = [
        "λ", "seed", "step / `eigh(S)`", "by quarter", "step / `eigh`, full rank", "iterations by quarter", "all met"
    ]  # fmt: skip
    return f"As before, to the theorem's tolerance.\n\n{table(head, rows)}\n"


def _soak(result: dict[str, Any]) -> str:
    quarters = ", ".join(f"{value / 1e6:.1f}" for value in result["quarters"])
    return (
        f"{result['samples']:,} rows of p = {result['p']} in {seconds(result['seconds'])}: "
        f"{result['samples'] / result['seconds']:,.0f} rows a second, start of the program and checkpoints included. "
        f"Largest resident memory in each quarter: {quarters} MB.\n"
    )


PAGE = Page(
    "online",
    "Costs",
    {
        "online_t": Case("A step of Online-T", online_t, _online_t),
        "long_stream": Case("A step of Online-T does not grow with t", long_stream, _long_stream),
        "sparse": Case("Sparse storage", sparse, _sparse, sizes=(20, 17, 14, 12, 10, 9)),
        "online_p": Case("A step of Online-P", online_p, _online_p, sizes=(10_000, 100, 1)),
        "online_p_others": Case(
            "A step of Online-P on other data", online_p_others, _online_p_others, sizes=tuple(range(len(OTHERS)))
        ),
        "soak": Case("A long run of `fantope stream`", soak, _soak),
    },
)


if __name__ == "__main__":
    sys.exit(PAGE.main())
