"""Flat data (noise, weak factors, heavy tails, blocks): time to a certified gap in units of `eigh` of the matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

import fantope
from benchmarks.timing import clock, note, table

TOL = 1e-4
SHAPES = ((60, 200), (60, 300), (200, 300), (400, 150))  # samples, variables: fewer and more samples than variables
QUICK_SHAPES = ((30, 60),)
SEEDS = (0, 1)
Z = np.ndarray[Any, Any]


def _noise(rng: np.random.Generator, n: int, p: int) -> Z:
    return rng.standard_normal((n, p))


def _factors(rank: int) -> Callable[[np.random.Generator, int, int], Z]:
    def draw(rng: np.random.Generator, n: int, p: int) -> Z:
        return rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p)) / np.sqrt(rank) + _noise(rng, n, p)

    return draw


def _heavy(rng: np.random.Generator, n: int, p: int) -> Z:
    return rng.standard_t(3, (n, p))


def _autoregressive(rng: np.random.Generator, n: int, p: int) -> Z:
    root = np.linalg.cholesky(scipy.linalg.toeplitz(0.9 ** np.arange(p)))
    return _noise(rng, n, p) @ root.T


def _blocks(rng: np.random.Generator, n: int, p: int) -> Z:
    return _noise(rng, n, p) + np.repeat(rng.standard_normal((n, 10)), -(-p // 10), axis=1)[:, :p]


KINDS = {
    "noise": _noise,
    "factors, rank 1": _factors(1),
    "factors, rank 5": _factors(5),
    "factors, rank 50": _factors(50),
    "heavy tails (t, 3 degrees)": _heavy,
    "autoregressive, 0.9": _autoregressive,
    "ten blocks": _blocks,
}


def run(quick: bool) -> dict[str, Any]:
    """Measure every kind, covariances and correlations, at the estimators' own alpha; each answer is verified."""
    rows: list[dict[str, Any]] = []
    for name, draw in KINDS.items():
        for n, p in QUICK_SHAPES if quick else SHAPES:
            for seed in SEEDS:
                for kind in ("covariance", "correlation"):
                    X = draw(np.random.default_rng(seed), n, p)
                    S = np.cov(X, rowvar=False, bias=True) if kind == "covariance" else np.corrcoef(X, rowvar=False)
                    alpha = 0.5 * float(np.median(S.diagonal())) * float(np.sqrt(np.log(p) / n))
                    rows.append(_one(S, alpha) | {"data": name, "n": n, "p": p, "seed": seed, "kind": kind})
        note(f"{name}: worst {max(row['ratio'] for row in rows if row['data'] == name):.0f} eigh")
    return {"tol": TOL, "rows": rows}


def _one(S: Z, alpha: float) -> dict[str, Any]:
    eigh = min(clock(lambda: scipy.linalg.eigh(S))[0] for _ in range(5))
    spent, sol = clock(lambda: fantope.solve(S, 2, alpha, tol=TOL))
    return {
        "eigh": eigh, "time": spent, "ratio": spent / eigh, "iterations": sol.n_iter, "status": sol.status.name,
        "gap": sol.verify(S).gap, "support": len(sol.support),
    }  # fmt: skip


def report(result: dict[str, Any]) -> str:
    """Return the distribution for each kind of data: the worst counts, not the median."""
    rows = result["rows"]

    def line(name: str, some: list[dict[str, Any]]) -> list[Any]:
        ratios = [row["ratio"] for row in some]
        unsolved = sum(row["status"] != "SOLVED" for row in some)
        return [
            name, len(some), *(f"{np.quantile(ratios, q):.0f}" for q in (0.5, 0.99, 1.0)),
            max(row["iterations"] for row in some), f"{max(row['time'] for row in some):.2f} s", unsolved,
        ]  # fmt: skip

    head = ["data", "problems", "median / `eigh`", "99 %", "worst", "most iterations", "longest", "not solved"]
    body = [line(name, [row for row in rows if row["data"] == name]) for name in KINDS]
    return "\n\n".join(
        [
            "## Flat data",
            f"Two components at the estimators' own alpha, certified gap {result['tol']:g}, covariances and "
            "correlations, fewer and more samples than variables; times in units of one "
            "`scipy.linalg.eigh` of the same matrix.",
            table(head, [*body, line("all", rows)]),
        ]
    )
