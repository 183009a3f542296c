"""Support, subspace and held-out variance of sparse PCA methods on data whose truth is known."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.decomposition import PCA, MiniBatchSparsePCA, SparsePCA

from fantope.paper.base import Report
from fantope.paper.experiments.common import SIZES, penalty
from fantope.simulation import Simulation, simulate
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array

HELD_OUT = 1000
D = 2
FANTOPE_FACTORS = (1.0, 1.5, 2.0, 3.0)
SKLEARN_PENALTIES = (0.5, 1.0, 2.0, 4.0)
ABESS_SIZES = (10, 15, 20, 30)

Fit = Callable[[Array, float], Array]


def compare(n: int, p: int, signal: Sequence[float], seed: int, report: Report) -> dict[str, Any]:
    """Fit every method to the same n samples and judge it on the truth and on fresh samples.

    A method with a list of penalties gets the one with the smallest true error, which no user could know, and the time
    of that one fit. "fantope" has its penalty fixed beforehand.
    """
    sim = simulate(n + HELD_OUT, p, sizes=SIZES, eigenvalues=signal, random_state=seed)
    Z, fresh = sim.Z[:n], sim.Z[n:]
    methods: dict[str, tuple[Fit, Sequence[float]]] = {
        "fantope": (_fantope, (1.0,)),
        "fantope, best λ": (_fantope, FANTOPE_FACTORS),
        "PCA": (lambda Z, _: PCA(D, random_state=0).fit(Z).components_, (0.0,)),
        "SparsePCA": (lambda Z, value: _components(SparsePCA, Z, value), SKLEARN_PENALTIES),
        "MiniBatchSparsePCA": (lambda Z, value: _components(MiniBatchSparsePCA, Z, value), SKLEARN_PENALTIES),
        "abess": (lambda Z, size: best_subset(Z, D, int(size)), ABESS_SIZES),
    }
    scores: dict[str, dict[str, Any]] = {}
    for k, (name, (fit, penalties)) in enumerate(methods.items()):
        report(k / len(methods), name)
        try:
            trials = [_trial(fit, Z, fresh, sim, value) for value in penalties]
        except ImportError as error:
            scores[name] = {"skipped": f"{error.name or 'a package'} is not installed; install fantope[compare]"}
            continue
        scores[name] = min(trials, key=lambda trial: float(trial["error"]))
    return {"scores": scores}


def _trial(fit: Fit, Z: Array, fresh: Array, sim: Simulation, value: float) -> dict[str, float]:
    began = time.process_time()
    components = fit(Z, value)
    seconds = time.process_time() - began
    found = sim.recovery(components)
    best = float(((fresh @ sim.loadings) ** 2).sum())
    return {
        "penalty": value,
        "error": found.error,
        "support": found.size,
        "precision": found.precision,
        "recall": found.recall,
        # Share of what the true subspace explains of fresh samples.
        "held_out": float(((fresh @ found.basis.T) ** 2).sum()) / best,
        "seconds": seconds,
    }


def _fantope(Z: Array, factor: float) -> Array:
    n, p = Z.shape
    centred = Z - Z.mean(axis=0)
    return np.asarray(solve_to_the_end(centred.T @ centred / n, D, factor * penalty(n, p), tol=1e-4).components)


def _components(kind: Any, Z: Array, value: float) -> Array:
    return np.asarray(kind(D, alpha=value, random_state=0).fit(Z).components_)


def best_subset(Z: Array, n_components: int, size: int) -> Array:
    """Return best-subset components (abess) one by one, each from the covariance deflated by those before.

    abess is given covariances with a small ridge: it refuses singular ones and answers singular data with a vector of
    ones (:mod:`fantope.paper.experiments.abess_probe`).
    """
    from abess import SparsePCA as BestSubset

    centred = Z - Z.mean(axis=0)
    S = centred.T @ centred / len(Z)
    ridge = 1e-6 * float(S.trace()) / len(S)
    rows = []
    for _ in range(n_components):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = BestSubset(support_size=size).fit(Sigma=S + ridge * np.eye(len(S)), n=len(Z))
        v = np.asarray(model.coef_, dtype=float).ravel()
        rows.append(v)
        u = v / max(float(np.linalg.norm(v)), 1e-300)
        S = S - np.outer(u, u @ S)
        S = S - np.outer(S @ u, u)
        S = 0.5 * (S + S.T)
    return np.array(rows)
