"""Problems of thirty kinds, in all scales, types and layouts; every answer judged by the checker, not by fantope."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse

import fantope
from checking import checker
from fantope.io.solutions import pack_dual
from fantope.penalties import WeightedL1

SECONDS = 2.0  # of processor time; small problems take milliseconds


class Finding(AssertionError):
    """An answer that is wrong, or a word that does not follow."""


class Slow(Finding):
    """An answer that is right but late, or that stops short of what was asked for."""


def _covariance(rng: np.random.Generator, n: int, p: int) -> Any:
    Z = rng.standard_normal((n, p)) + rng.standard_normal((n, 1)) * rng.uniform(-1, 1, p)
    return Z.T @ Z / n


def _symmetric(A: Any) -> Any:
    return 0.5 * (A + A.T)


def _correlation(S: Any) -> Any:
    size = np.sqrt(S.diagonal())
    R = S / np.multiply.outer(size, size)
    np.fill_diagonal(R, 1.0)
    return _symmetric(R)


KINDS = {
    "covariance": lambda r, p: _covariance(r, 3 * p, p),
    "few samples": lambda r, p: _covariance(r, max(2, p // 3), p),
    "rank one": lambda r, p: np.outer(v := r.standard_normal(p), v),
    "sparse rank one": lambda r, p: np.outer(v := r.standard_normal(p) * (r.random(p) < 0.4), v),
    "identity": lambda r, p: np.eye(p),
    "zero": lambda r, p: np.zeros((p, p)),
    "ones": lambda r, p: np.ones((p, p)),
    "minus ones": lambda r, p: -np.ones((p, p)),
    "equicorrelated": lambda r, p: 0.6 * np.ones((p, p)) + 0.4 * np.eye(p),
    "negatively correlated": lambda r, p: (1 + 1 / p) * np.eye(p) - np.ones((p, p)) / p,
    "diagonal": lambda r, p: np.diag(r.random(p)),
    "tied diagonal": lambda r, p: np.diag(r.integers(0, 3, p).astype(float)),
    "neighbouring diagonal": lambda r, p: np.diag(1.0 + 2.0**-52 * r.integers(0, 3, p)),
    "indefinite": lambda r, p: _symmetric(r.standard_normal((p, p))),
    "negative definite": lambda r, p: -_covariance(r, 2 * p, p) - np.eye(p),
    "equal blocks": lambda r, p: np.kron(np.eye(p // 2 + 1), np.array([[1.0, 0.5], [0.5, 1.0]]))[:p, :p],
    "blocks": lambda r, p: scipy.linalg.block_diag(_covariance(r, 5, p // 2), _covariance(r, 9, p - p // 2)),
    "circulant": lambda r, p: _symmetric(scipy.linalg.circulant(r.integers(-3, 4, p).astype(float))),
    "integers": lambda r, p: _symmetric(2.0 * r.integers(-4, 5, (p, p))),
    "autoregressive": lambda r, p: 0.8 ** np.abs(np.subtract.outer(np.arange(p), np.arange(p))),
    "banded": lambda r, p: scipy.linalg.toeplitz(np.r_[2.0, -1.0, np.zeros(p)][:p]),
    "one large variance": lambda r, p: _covariance(r, 9, p) * np.outer(s := np.r_[1e5, np.ones(p - 1)], s),
    "graded": lambda r, p: _covariance(r, 9, p) * np.outer(s := 10.0 ** -np.linspace(0, 9, p), s),
    "nearly diagonal": lambda r, p: np.diag(r.random(p)) + 1e-15 * _symmetric(r.standard_normal((p, p))),
    "duplicated": lambda r, p: _covariance(r, 7, p)[np.ix_(t := r.integers(0, max(1, p // 2), p), t)],
    "projection": lambda r, p: (q := np.linalg.qr(r.standard_normal((p, p)))[0][:, : max(1, p // 2)]) @ q.T,
    "hilbert": lambda r, p: scipy.linalg.hilbert(p),
    "spiked": lambda r, p: np.eye(p) + 8.0 * np.outer(v := np.r_[1.0, 1.0, np.zeros(p)][:p] / 1.4, v),
    "correlation": lambda r, p: _correlation(_covariance(r, 12, p) + 0.1 * np.eye(p)),
    "signs": lambda r, p: np.sign(_symmetric(r.standard_normal((p, p)))) + 0.0,
    "graph": lambda r, p: np.triu(g := (r.random((p, p)) < 0.3).astype(float), 1) + np.triu(g, 1).T,
    "tied groups": lambda r, p: np.kron(np.ones((2, 2)), np.eye(p // 2 + 1))[:p, :p] + np.eye(p),
}


def arranged(rng: np.random.Generator, S: Any) -> tuple[Any, Any]:
    """Return S in a random type and layout, and the float64 matrix that it stands for."""
    S = np.asarray(S, dtype=np.float64)
    layout = str(rng.choice(["C", "F", "strided", "list", "read-only", "float32", "big-endian", "sparse", "integer"]))
    given: Any = S.copy()
    if layout == "F":
        given = np.asfortranarray(S)
    elif layout == "strided":
        given = np.repeat(np.repeat(S, 2, axis=0), 2, axis=1)[::2, ::2]
    elif layout == "list":
        given = S.tolist()
    elif layout == "read-only":
        given.setflags(write=False)
    elif layout == "float32" and 0 < np.abs(S).max() < 1e30:
        given = S.astype(np.float32)
    elif layout == "big-endian":
        given = S.astype(">f8")
    elif layout == "sparse":
        given = scipy.sparse.csr_array(S)
    elif layout == "integer" and np.array_equal(S, np.round(S)) and np.abs(S).max() < 1e6:
        given = S.astype(np.int64)
    dense = given.toarray() if scipy.sparse.issparse(given) else np.asarray(given)
    return given, dense.astype(np.float64)


def penalised(rng: np.random.Generator, S: Any) -> Any:
    """Return a penalty: at an exact tie with an entry of S, beside one, none, everything, or with weights."""
    size = float(np.abs(S).max())
    entry = float(np.abs(S[rng.integers(len(S)), rng.integers(len(S))]))
    choices = [0.0, entry, float(np.nextafter(entry, np.inf)), float(np.nextafter(entry, 0.0)), size, 10.0 * size]
    alpha = float(rng.choice([*choices, *(rng.random(4) * size), rng.random() * 1e-6 * size]))
    if rng.random() < 0.8:
        return alpha
    weights = rng.choice([0.0, 0.3, 1.0, 1.0, 5.0, np.inf], S.shape)
    weights = np.maximum(weights, weights.T)
    np.fill_diagonal(weights, rng.choice([0.0, 1.0, 2.0], len(S)))
    return WeightedL1(alpha, weights)


def judge(sol: Any, S: checker.Matrix, tol: float, *, exact: bool = False) -> None:
    """Raise unless the checker proves what the solution claims, and its words follow from its numbers."""
    kind = "weighted-l1" if isinstance(sol.penalty, WeightedL1) else "l1"
    stored = {name: np.asarray(value) for name, value in pack_dual(sol.dual, sol.penalty).items()}
    dual = checker.Dual(stored, {"kind": kind, "alpha": sol.alpha}, S.size)
    X, d = vars(sol.factors), sol.n_components
    try:
        lower, terms = checker.lower_bound(S, dual, X, d, exact)
        upper = checker.upper_bound(S, dual, X, d, sol.dual_bound, exact)
    except checker.Refused as error:
        if error.args[1] == 2:
            return
        raise Finding(error.args[0]) from None
    scale = max(abs(lower), terms, float(np.abs(S.diagonal).max()), sol.alpha)
    if not (abs(lower - sol.objective) <= 1e-9 * scale and upper <= sol.dual_bound + 1e-9 * scale):
        raise Finding(f"[{lower!r}, {upper!r}] is shown, [{sol.objective!r}, {sol.dual_bound!r}] claimed")
    width = sol.dual_bound - sol.objective
    if sol.status.name == "SOLVED" and not (sol.gap <= tol or width <= max(tol / 100, 1e-10) * terms):
        raise Finding(f"SOLVED with a gap of {sol.gap:.3g} for {tol:g}")
    if sol.status.name != "SOLVED":
        raise Slow(f"{sol.status.name} with a gap of {sol.gap:.3g} for {tol:g}")


def run(seed: int) -> None:
    """Solve one problem and judge the answer."""
    rng = np.random.default_rng(seed)
    kind = list(KINDS)[seed % len(KINDS)]
    p = int(rng.choice([2, 3, 4, 5, 7, 9, 12, 16, 30], p=[0.06, 0.1, 0.12, 0.16, 0.16, 0.16, 0.12, 0.08, 0.04]))
    S = np.asarray(KINDS[kind](rng, p), dtype=np.float64) * 10.0 ** float(rng.choice([0, 0, 0, -20, 20, -60, 60]))
    given, dense = arranged(rng, S)
    penalty, d = penalised(rng, dense), int(rng.integers(1, p))
    tol = float(rng.choice([1e-2, 1e-3, 1e-4, 1e-6]))
    began = time.process_time()
    sol = fantope.solve(given, d, penalty, tol=tol)
    seconds = time.process_time() - began
    judge(sol, checker.Matrix(dense, "precomputed", False), tol, exact=rng.random() < 0.05)
    sol.verify()
    V = sol.components
    if not np.abs(V @ V.T - np.eye(d)).max() <= 1e-9:
        raise Finding("components are not orthonormal")
    if seconds > SECONDS:
        raise Slow(f"{seconds:.1f} s for {p} variables")
