"""Costs of the online algorithms, as ratios within one run.

python -m benchmarks.online                  # steps, memory, sparse curve; about a minute
python -m benchmarks.online --soak 1000000   # rows through `fantope stream` at p = 100, memory sampled
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np

from fantope.eigen import one_blas_thread
from fantope.online import OnlineP, OnlineT
from fantope.simulation import simulate


def online_t_step(p: int = 1600, warm: int = 150, n: int = 40) -> dict[str, float]:
    """Median cost of a step over that of ``X += outer(z, z)``, alternating, after ``warm`` steps."""
    Z = simulate(warm + n, p).Z
    learner = OnlineT(p, 2, 0.5 * math.sqrt(math.log(p) / 1000))
    learner.update_many(Z[:2])  # compilation
    tracemalloc.start()
    again = OnlineT(p, 2, learner.alpha)
    again.update_many(Z[:3])
    arrays = tracemalloc.get_traced_memory()[1] / (8.0 * p * p)
    tracemalloc.stop()
    learner.update_many(Z[2:warm])
    X = np.zeros((p, p))
    ours, theirs, products = [], [], []
    for z in Z[warm:]:
        began = time.perf_counter()
        X += np.outer(z, z)
        theirs.append(time.perf_counter() - began)
        began = time.perf_counter()
        learner.update_many(z[None])
        ours.append(time.perf_counter() - began)
        products.append(learner.diagnostics["products"])
    return {
        "p": p,
        "step_over_rank_one_update": float(np.median(ours) / np.median(theirs)),
        "step_milliseconds": 1e3 * float(np.median(ours)),
        "products_per_step": float(np.mean(products)),
        "dense_arrays_at_peak": arrays,
    }


def sparse_curve(p: int = 20_000, n: int = 30) -> list[dict[str, float]]:
    """Memory and time of sparse storage against λ: both follow the non-zeros."""
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((n, p))
    Z[:, :50] += 4.0 * rng.standard_normal((n, 1))
    rows = []
    for alpha in (14.0, 11.0, 9.0, 7.0):
        learner = OnlineT(p, 1, alpha, storage="sparse", average=False)
        learner.update_many(Z[:2])
        began = time.perf_counter()
        learner.update_many(Z[2:])
        seconds = (time.perf_counter() - began) / (n - 2)
        held = learner.indices.nbytes + learner.data.nbytes + learner.indptr.nbytes + learner.diagonal.nbytes
        rows.append(
            {
                "alpha": alpha,
                "non_zeros": len(learner.data),
                "megabytes": held / 1e6,
                "dense_would_be_megabytes": 8e-6 * p * p,
                "step_milliseconds": 1e3 * seconds,
            }
        )
    return rows


def online_p_step(p: int, n: int, loosen: float) -> dict[str, float]:
    """Mean cost of a step over that of one ``eigh`` of the same size."""
    sim = simulate(n, p)
    learner = OnlineP(p, 2, 0.5 * math.sqrt(math.log(p) / n), loosen=loosen)
    learner.update_many(sim.Z[:1])
    S = sim.Z.T @ sim.Z / n
    with one_blas_thread():
        unit = min(_timed(lambda: np.linalg.eigh(S)) for _ in range(5))
    began = time.perf_counter()
    learner.update_many(sim.Z[1:])
    seconds = (time.perf_counter() - began) / (n - 1)
    return {
        "p": p,
        "samples": n,
        "loosen": loosen,
        "step_over_eigh": seconds / unit,
        "iterations_per_step": float(np.mean([record.n_iter for record in learner.records])),
        "tolerance_met": all(record.met for record in learner.records),
        "error": float(np.linalg.norm(learner.iterate() - sim.projection)),
    }


def _timed(function) -> float:  # type: ignore[no-untyped-def]
    began = time.perf_counter()
    function()
    return time.perf_counter() - began


def soak(n: int, p: int = 100) -> dict[str, float]:
    """Send n rows through `fantope stream` and watch its memory."""
    import psutil

    block = simulate(5000, p).Z
    text = "\n".join(",".join(f"{value:.6g}" for value in row) for row in block) + "\n"
    with tempfile.TemporaryDirectory() as folder:
        command = [
            sys.executable, "-m", "fantope.cli", "stream", "-", "--no-header", "-a", "0.05", "--json",
            "--checkpoint", str(Path(folder) / "soak.ckpt"),
        ]  # fmt: skip
        began = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        watched, memory = psutil.Process(process.pid), []
        assert process.stdin is not None and process.stdout is not None
        for _ in range(n // 5000):
            process.stdin.write(text)
            memory.append(watched.memory_info().rss / 1e6)
        process.stdin.close()
        result = json.loads(process.stdout.read())
        process.wait()
        seconds = time.perf_counter() - began
    later = memory[len(memory) // 4 :]
    return {
        "samples": result["n_samples"],
        "samples_per_second": result["n_samples"] / seconds,
        "megabytes_first_quarter": float(np.max(memory[: len(memory) // 4 + 1])),
        "megabytes_after": float(np.max(later)),
        "support": result["support"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--soak", type=int, default=0, help="rows; only the soak is run")
    parser.add_argument("--online-p", type=int, nargs=2, metavar=("P", "T"), help="only Online-P at this size")
    parser.add_argument("--loosen", type=float, default=1.0)
    arguments = parser.parse_args()
    if arguments.soak:
        found: object = soak(arguments.soak)
    elif arguments.online_p:
        found = online_p_step(*arguments.online_p, arguments.loosen)
    else:
        found = {"online_t": online_t_step(), "sparse": sparse_curve()}
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
