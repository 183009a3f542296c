"""Shared instances of the problem, by name, and an independent check of their solutions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fantope.simulation import simulate

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Instance:
    """One problem: ``max ⟨S, X⟩ − alpha‖X‖₁`` over the Fantope of ``d``, or with a weight for every entry."""

    name: str
    S: Array
    d: int
    alpha: float
    weights: Array | None = None

    def __repr__(self) -> str:
        return self.name

    @property
    def scale(self) -> float:
        """Size of the numbers in S, to judge rounding errors by."""
        return float(np.abs(self.S).max()) or 1.0

    @property
    def limits(self) -> Array:
        """The box of dual points: alpha times the weights, infinite where an entry is forbidden."""
        weights = np.ones_like(self.S) if self.weights is None else self.weights
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(weights), np.inf, self.alpha * weights)


def sample_covariance(rng: np.random.Generator, n: int, p: int) -> Array:
    """Covariance of n draws with unequal variances and a common factor."""
    Z = rng.standard_normal((n, p)) * rng.uniform(0.5, 2.0, p) + rng.standard_normal((n, 1)) * rng.uniform(-1, 1, p)
    Z -= Z.mean(axis=0)
    S = Z.T @ Z / n
    return 0.5 * (S + S.T)


def correlation(S: Array) -> Array:
    """Scale S to a unit diagonal."""
    size = np.sqrt(S.diagonal())
    R = S / size / size[:, None]
    np.fill_diagonal(R, 1.0)
    return 0.5 * (R + R.T)


def equicorrelated(p: int, rho: float) -> Array:
    """Ones on the diagonal, rho elsewhere."""
    return np.full((p, p), rho) + (1 - rho) * np.eye(p)


def blocks(*parts: Array) -> Array:
    """Block-diagonal matrix."""
    p = sum(len(part) for part in parts)
    S = np.zeros((p, p))
    at = 0
    for part in parts:
        S[at : at + len(part), at : at + len(part)] = part
        at += len(part)
    return S


def orthogonal(rng: np.random.Generator, p: int) -> Array:
    """A random orthogonal matrix."""
    return np.linalg.qr(rng.standard_normal((p, p)))[0]


def spectrum(rng: np.random.Generator, values: Array) -> Array:
    """A random symmetric matrix with the given eigenvalues."""
    Q = orthogonal(rng, len(values))
    S = (Q * values) @ Q.T
    return 0.5 * (S + S.T)


def modules(count: int, size: int, rho: float, noise: float = 0.0, seed: int = 0) -> Array:
    """Correlation matrix of ``count`` equal modules."""
    S = blocks(*[equicorrelated(size, rho)] * count)
    if noise:
        E = np.random.default_rng(seed).uniform(-noise, noise, S.shape)
        S += np.triu(E, 1) + np.triu(E, 1).T
    return S


def paper(n: int, p: int, factor: float = 0.5, seed: int = 0, name: str | None = None) -> Instance:
    """The paper's model with alpha = factor·√(log p/n)."""
    Z = simulate(n, p, random_state=seed).Z
    S = Z.T @ Z / n
    return Instance(name or f"paper-{p}", S, 2, factor * float(np.sqrt(np.log(p) / n)))


def paper_difference(n: int, p: int, seed: int = 0, factor: float = 1.0) -> Instance:
    """The indefinite difference of a covariance of the paper's model and one of pure noise."""
    Z = simulate(n, p, random_state=seed).Z
    W = np.random.default_rng(seed + 1).standard_normal((n, p))
    S = Z.T @ Z / n - W.T @ W / n
    return Instance(f"paper-difference-{p}", S, 2, factor * float(np.sqrt(np.log(p) / n)))


def _random_small() -> list[Instance]:
    found = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p = 3 + seed % 6
        d = 1 + seed % min(4, p - 1)
        S = sample_covariance(rng, int(rng.integers(3, 30)), p)
        if seed % 5 == 3:
            S = S - sample_covariance(rng, 12, p)
        elif seed % 7 == 5:
            S = correlation(S)
        off = np.abs(S - np.diag(S.diagonal())).max()
        found.append(Instance(f"random-{seed}", S, d, float(rng.uniform(0.02, 0.9)) * float(off)))
    return found


def _degenerate() -> list[Instance]:
    rng = np.random.default_rng(2024)
    S6 = sample_covariance(rng, 20, 6)
    v = rng.standard_normal(6)
    twin = sample_covariance(rng, 20, 4)[np.ix_([0, 0, 1, 2, 2, 3], [0, 0, 1, 2, 2, 3])]
    equal = S6.copy()
    np.fill_diagonal(equal, 1.7)
    off = float(np.abs(S6 - np.diag(S6.diagonal())).max())
    pair = equicorrelated(3, 0.6)
    return [
        Instance("indefinite", S6 - sample_covariance(rng, 9, 6), 2, 0.15),
        Instance("rank-one", np.outer(v, v), 1, 0.3),
        Instance("rank-one-d2", np.outer(v, v), 2, 0.3),
        Instance("identity", np.eye(5), 2, 0.3),
        Instance("identity-alpha-one", np.eye(5), 2, 1.0),
        Instance("zero-matrix", np.zeros((4, 4)), 2, 0.3),
        Instance("zero-matrix-alpha-zero", np.zeros((4, 4)), 2, 0.0),
        Instance("equal-diagonal", equal, 2, 0.2),
        Instance("equal-eigenvalues", spectrum(rng, np.array([3.0, 3.0, 3.0, 1.0, 1.0, 1.0])), 2, 0.1),
        Instance("equal-leading-eigenvalues-alpha-zero", spectrum(rng, np.array([3.0, 3.0, 3.0, 1.0])), 2, 0.0),
        Instance("block-diagonal", blocks(pair, sample_covariance(rng, 10, 3)), 2, 0.1),
        Instance("equal-blocks", blocks(pair, pair), 1, 0.1),
        Instance("alpha-zero", S6, 3, 0.0),
        Instance("alpha-beyond-max", S6, 2, 1.1 * off),
        Instance("alpha-at-max", S6, 2, off),
        Instance("alpha-huge", S6, 2, 1e3),
        Instance("singular", sample_covariance(rng, 3, 7), 2, 0.2),
        Instance("duplicated-variables", twin, 2, 0.2),
        Instance("negative-definite", -S6 - np.eye(6), 2, 0.2),
        Instance("tiny-scale", 1e-8 * S6, 2, 0.2e-8),
        Instance("huge-scale", 1e8 * S6, 2, 0.2e8),
        Instance("all-but-one", S6, 5, 0.2),
        Instance("two-variables", np.array([[1.0, 0.5], [0.5, 0.8]]), 1, 0.2),
        Instance("correlation", correlation(S6), 2, 0.2),
        Instance("equicorrelated", equicorrelated(6, 0.5), 2, 0.2),
        Instance("negative-correlation", equicorrelated(4, -0.3), 1, 0.1),
        Instance("unsafe-screening", np.array([[1, 0.9, 0], [0.9, 1, 0], [0, 0, 0.95]]), 2, 0.1),
        Instance("zero-optimum", np.array([[0.0, 1.0], [1.0, 0.0]]), 1, 0.5),
        Instance("zero-optimum-alpha-zero", np.array([[-1.0, 1.0], [1.0, -1.0]]), 1, 0.0),
        Instance("fractional", modules(4, 3, 0.8), 2, 0.3),
    ]


def _medium() -> list[Instance]:
    rng = np.random.default_rng(7)
    S = sample_covariance(rng, 40, 30)
    shared = [sample_covariance(rng, 30, k) for k in (9, 7, 6)]
    return [
        paper(50, 60),
        paper(50, 60, factor=1.0, seed=1, name="paper-60-sparser"),
        paper_difference(50, 60),
        Instance("random-30-d1", S, 1, 0.2),
        Instance("random-30-d4", S, 4, 0.2),
        Instance("correlation-30", correlation(S), 3, 0.25),
        Instance("blocks-22", blocks(*shared), 3, 0.3),
        Instance("modules-noisy", modules(4, 8, 0.7, 0.1), 2, 0.3),
        Instance("all-but-one-12", sample_covariance(rng, 40, 12), 11, 0.1),
    ]


def _weights(rng: np.random.Generator, p: int, kind: str) -> Array:
    W = rng.uniform(0.0, 3.0, (p, p))
    U = rng.uniform(size=(p, p))
    if kind in ("zero", "mixed"):
        W[U < 0.25] = 0.0
    if kind in ("infinite", "mixed"):
        W[U > 0.75] = np.inf
    if kind == "all-infinite":
        W[:] = np.inf
    W = np.triu(W, 1)
    W = W + W.T
    np.fill_diagonal(W, rng.uniform(0.0, 2.0, p))
    if kind == "forbidden":
        W[1] = W[:, 1] = np.inf
    if kind == "forbidden-diagonal":
        W[1, 1] = np.inf
    if kind == "diagonal":
        np.fill_diagonal(W, rng.uniform(0.0, 10.0, p))
    return W


def _weighted() -> list[Instance]:
    kinds = ("positive", "zero", "infinite", "mixed", "forbidden", "forbidden-diagonal", "diagonal", "all-infinite")
    found = []
    for number, kind in enumerate(kinds):
        for d in (1, 2, 3, 4):
            rng = np.random.default_rng(100 * number + d)
            p = 6 + (number + d) % 4
            S = sample_covariance(rng, 25, p)
            if d == 2:
                S -= sample_covariance(rng, 12, p)
            alpha = 0.0 if (d == 3 and kind == "mixed") else 0.3 * float(np.abs(S - np.diag(S.diagonal())).max())
            found.append(Instance(f"weighted-{kind}-d{d}", S, d, alpha, _weights(rng, p, kind)))
    return found


RANDOM_SMALL = _random_small()
WEIGHTED = _weighted()
DEGENERATE = _degenerate()
SMALL = RANDOM_SMALL + DEGENERATE
MEDIUM = _medium()
EVERY = RANDOM_SMALL[::4] + DEGENERATE + MEDIUM
BY_NAME = {instance.name: instance for instance in SMALL + MEDIUM + WEIGHTED}


@dataclass(frozen=True)
class Bracket:
    """What X and U prove, by plain numpy."""

    objective: float
    dual_bound: float


def independent_bracket(instance: Instance, X: object, U: Array) -> Bracket:
    """Check that X is in the Fantope and U in the box with ``numpy.linalg`` alone; return the bracket they give."""
    S, d, limits = instance.S, instance.d, instance.limits
    dense = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    assert dense.shape == U.shape == S.shape
    np.testing.assert_allclose(dense, dense.T, atol=1e-12)
    values = np.linalg.eigvalsh(dense)
    assert values[0] >= -1e-10
    assert values[-1] <= 1 + 1e-10
    assert abs(np.trace(dense) - d) <= 1e-10 * d
    used = np.isfinite(limits.diagonal())  # an infinite weight on the diagonal takes the variable out of the problem
    assert not dense[~used].any()
    assert not dense[np.isinf(limits)].any()
    U, M = U[np.ix_(used, used)], (S - U)[np.ix_(used, used)]
    np.testing.assert_allclose(U, U.T, atol=1e-12 * max(instance.alpha, float(np.abs(U).max())))
    assert (np.abs(U) <= limits[np.ix_(used, used)] * (1 + 1e-14)).all()
    cost = (limits[dense != 0.0] * np.abs(dense[dense != 0.0])).sum()
    return Bracket(float((S * dense).sum() - cost), float(np.linalg.eigvalsh(M)[-d:].sum()))


def assert_certified(instance: Instance, sol: object, tol: float = 0.0, tight: bool = True) -> Bracket:
    """Check that the reported bracket is what X and U prove: never better, and worse by rounding and slack only.

    Bounds of large matrices may be loose by a tenth of the tolerance ``tol`` that was asked for; the answer to an
    interrupt before the first certificate is not ``tight``.
    """
    everything = np.arange(len(instance.S))
    found = independent_bracket(instance, sol.projection, sol.dual.block(everything, everything))  # type: ignore[attr-defined]
    rounding = 1e-11 * len(instance.S) * (instance.scale + instance.alpha)
    width = found.dual_bound - found.objective
    assert abs(sol.objective - found.objective) <= rounding  # type: ignore[attr-defined]
    assert found.dual_bound <= sol.dual_bound + rounding  # type: ignore[attr-defined]
    slack = 0.12 * max(width, tol * abs(found.objective))
    assert sol.dual_bound <= found.dual_bound + slack + rounding or not tight  # type: ignore[attr-defined]
    assert found.objective <= found.dual_bound + rounding
    return found
