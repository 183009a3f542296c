"""Families of matrices on which splitting methods crawl, or whose optimum is about zero: 3 to 60 variables, 1e-4."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.linalg

import fantope
from checking import checker
from fuzz.problems import SECONDS, Slow, judge

FAMILIES = {
    "Toeplitz": lambda r, p: scipy.linalg.toeplitz(0.9 ** np.arange(p)),
    "tridiagonal": lambda r, p: scipy.linalg.toeplitz(np.r_[1.0, r.choice([0.25, -0.2, 0.15]), np.zeros(p)][:p]),
    "circulant": lambda r, p: scipy.linalg.circulant(r.standard_normal(p)),
    "circulant of whole numbers": lambda r, p: scipy.linalg.circulant(r.integers(-3, 4, p).astype(float)),
    "ones and noise": lambda r, p: np.ones((p, p)) + 10.0 ** -float(r.integers(1, 14)) * r.standard_normal((p, p)),
    "signs": lambda r, p: np.triu(g := r.choice([-1.0, 1.0], (p, p))) + np.triu(g, 1).T,
    "constant": lambda r, p: np.full((p, p), float(r.choice([1.0, -1.0, 0.3]))),
    "covariance": lambda r, p: np.cov(r.standard_normal((int(r.integers(2, 2 * p + 2)), p)), rowvar=False, bias=True),
    "heavy tails": lambda r, p: np.corrcoef(r.standard_t(2, (int(r.integers(3, 2 * p + 2)), p)), rowvar=False),
    "rounded": lambda r, p: np.round(r.standard_normal((p, p)), 1),
}


def _alpha(rng: np.random.Generator, S: Any) -> float:
    """Return 0, the size of an entry, that less a trifle, or anything up to a little more than the largest."""
    off = np.abs(S - np.diag(S.diagonal()))
    kind = rng.random()
    if kind < 0.05 or not off.any():
        return 0.0
    if kind < 0.3:
        return float(rng.choice(off[off > 0.0])) * float(rng.choice([1.0, 1.0 - 1e-12]))
    return float(1.05 * off.max() * rng.random())


def run(seed: int) -> None:
    """Solve one problem, judge the answer and the time that it took."""
    rng = np.random.default_rng(seed)
    p = int(rng.integers(3, 61))
    S = np.asarray(list(FAMILIES.values())[seed % len(FAMILIES)](rng, p), dtype=np.float64)
    S = 0.5 * (S + S.T)
    d, alpha = int(rng.integers(1, p)), _alpha(rng, S)
    began = time.process_time()
    sol = fantope.solve(S, d, alpha)
    seconds = time.process_time() - began
    judge(sol, checker.Matrix(S, "precomputed", False), 1e-4)
    sol.verify()
    if seconds > SECONDS:
        raise Slow(f"{seconds:.1f} s for {p} variables")
