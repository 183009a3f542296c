"""How close to the truth: error, precision and recall on data whose components are known.

We get no knowledge of the truth: `SparsePCA` as it comes. Every rival gets, draw by draw, the one of its
settings with the smallest true error, which no user could know. `python -m benchmarks.recovery` runs this alone, with
`--ours` without the rivals, whose figures on the same draws are taken from the last result.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft
from sklearn.decomposition import PCA, SparsePCA

import fantope
from benchmarks.timing import table
from fantope.paper.experiments.recovery import best_subset

TIMED = False
STORED = Path(__file__).with_name("results") / "recovery.json"
RUN_RIVALS = True
DRAWS, QUICK_DRAWS = 20, 2
PENALTIES = (0.5, 1.0, 2.0, 4.0)  # of scikit-learn's SparsePCA
SIZES = (10, 15, 20, 30)  # variables of each component: abess, truncated power
FACTORS = (0.35, 0.5, 0.75, 1.0)  # of √(log p/n): ℓ₁
OURS = "fantope, MCP"
Array = np.ndarray[Any, Any]
Fit = Callable[[Array, int, float], Array]


@dataclass(frozen=True)
class Model:
    """Groups of variables with a common score each, and noise off their span."""

    n: int
    p: int
    sizes: tuple[int, ...]
    eigenvalues: tuple[float, ...]
    spread: float = 0.1  # loadings are Unif(1 − spread, 1 + spread) before they are normed
    overlap: int = 0  # variables that two groups share
    correlated: bool = False  # noise with neighbours' correlation 0.4
    tails: int = 0  # degrees of freedom of a multivariate t
    ranks: bool = False  # ours is given Spearman's correlations in place of covariances
    draws: int | None = None
    all_rivals: bool = True


def _paper(n: int, p: int, *eigenvalues: float) -> Model:
    return Model(n, p, (20, 15), eigenvalues)


MODELS = {
    "100, 200, (12, 6)": _paper(100, 200, 12, 6),
    "200, 800, (12, 6)": _paper(200, 800, 12, 6),
    "50, 200, (12, 6)": _paper(50, 200, 12, 6),
    "100, 200, (5, 4)": _paper(100, 200, 5, 4),
    "three groups": Model(100, 200, (20, 15, 10), (12, 8, 5)),
    "five groups": Model(150, 300, (20, 16, 12, 10, 8), (14, 11, 8, 6, 4.5)),
    "groups of 40 and 8": Model(100, 200, (40, 8), (14, 5)),
    "overlapping groups": Model(100, 200, (20, 16), (12, 6), overlap=6),
    "unequal loadings": Model(100, 200, (20, 15), (12, 6), spread=0.7),
    "correlated noise": Model(100, 200, (20, 15), (12, 6), correlated=True),
    "heavy tails (t, 5 degrees)": Model(100, 200, (20, 15), (12, 6), tails=5),
    "the same, ours by Spearman's correlations": Model(100, 200, (20, 15), (12, 6), tails=5, ranks=True),
}
# The certificate of every step is over 20,000 variables: some 20 s a fit. abess would need a matrix of 3.2 GB.
HUGE = {"200, 20,000, (12, 6)": Model(200, 20_000, (20, 15), (12, 6), draws=3, all_rivals=False)}


def sample(model: Model, seed: int) -> tuple[Array, Array]:
    """Return n samples and the true components, as rows."""
    rng = np.random.default_rng([seed, model.n, model.p, *model.sizes])
    V = _components(model, rng)
    noise = rng.standard_normal((model.n, model.p))
    if model.correlated:
        for j in range(1, model.p):
            noise[:, j] = 0.4 * noise[:, j - 1] + np.sqrt(1 - 0.4**2) * noise[:, j]
        noise = noise[:, rng.permutation(model.p)]
    else:
        # Eigenvalues Unif(0, 2) as in the paper; a random orthogonal matrix by fast transforms, without forming it.
        noise *= np.sqrt(rng.uniform(0.0, 2.0, model.p))
        for _ in range(2):
            noise = scipy.fft.dct(noise * rng.choice([-1.0, 1.0], model.p), norm="ortho", axis=1)
    noise -= (noise @ V.T) @ V
    Z = noise + (rng.standard_normal((model.n, len(V))) * np.sqrt(model.eigenvalues)) @ V
    if model.tails:
        Z *= np.sqrt((model.tails - 2) / rng.chisquare(model.tails, (model.n, 1)))
    return Z, V


def _components(model: Model, rng: np.random.Generator) -> Array:
    V = np.zeros((len(model.sizes), model.p))
    start = 0
    for k, size in enumerate(model.sizes):
        V[k, start : start + size] = rng.uniform(1 - model.spread, 1 + model.spread, size)
        if k and model.overlap:
            # Orthogonal to the group before: opposite signs, and its part along it taken out, where both are.
            shared = slice(start, start + model.overlap)
            V[k, start : start + model.overlap : 2] *= -1
            V[k, shared] -= V[k - 1, shared] * (V[k - 1, shared] @ V[k, shared]) / (V[k - 1, shared] ** 2).sum()
        start += size - model.overlap
    return V / np.linalg.norm(V, axis=1, keepdims=True)


def judge(components: Array, V: Array) -> dict[str, float]:
    """Return ‖P − Π‖_F, the number of variables, precision and recall."""
    _, values, Vt = np.linalg.svd(components, full_matrices=False)
    basis = Vt[values > 1e-10 * max(float(values[0]), 1e-300)]
    used, true = (np.flatnonzero((rows != 0).any(axis=0)) for rows in (components, V))
    hits = len(np.intersect1d(used, true))
    distance = len(basis) + len(V) - 2.0 * float(((basis @ V.T) ** 2).sum())
    return {
        "error": float(np.sqrt(max(distance, 0.0))),
        "variables": len(used),
        "precision": hits / max(len(used), 1),
        "recall": hits / len(true),
    }


def oracle(Z: Array, V: Array) -> Array:
    """Return PCA on each true group."""
    found = np.zeros_like(V)
    centred = Z - Z.mean(axis=0)
    for k, row in enumerate(V):
        group = np.flatnonzero(row)
        found[k, group] = np.linalg.svd(centred[:, group], full_matrices=False)[2][0]
    return found


def truncated_power(Z: Array, d: int, size: float) -> Array:
    """Return components of ``size`` variables each, by truncated power steps and deflation (Yuan and Zhang, 2013)."""
    centred, rows = Z - Z.mean(axis=0), []
    for _ in range(d):
        v = np.zeros(Z.shape[1])
        v[int(np.argmax((centred**2).sum(axis=0)))] = 1.0
        for _ in range(200):
            step = centred.T @ (centred @ v)
            step[np.argsort(-np.abs(step), kind="stable")[int(size) :]] = 0.0
            step /= np.linalg.norm(step)
            if np.abs(step - v).max() < 1e-10:
                break
            v = step
        rows.append(v)
        centred = centred - np.outer(centred @ v, v)
    return np.array(rows)


def _ours(Z: Array, d: int, ranks: bool) -> Array:
    tol = 1e-3 if Z.shape[1] < 5000 else 1e-2
    if ranks:
        S = fantope.covariance(Z, kind="correlation", method="spearman")
        return np.asarray(fantope.SparsePCA(d, kind="precomputed", tol=tol).fit(S).components_)
    return np.asarray(fantope.SparsePCA(d, tol=tol).fit(Z).components_)


def _l1(Z: Array, d: int, factor: float) -> Array:
    n, p = Z.shape
    return np.asarray(fantope.SparsePCA(d, alpha=factor * np.sqrt(np.log(p) / n), tol=1e-3).fit(Z).components_)


RIVALS: dict[str, tuple[Fit, Sequence[float]]] = {
    "PCA": (lambda Z, d, _: PCA(d, random_state=0).fit(Z).components_, (0.0,)),
    "SparsePCA": (lambda Z, d, alpha: SparsePCA(d, alpha=alpha, random_state=0).fit(Z).components_, PENALTIES),
    "truncated power": (truncated_power, SIZES),
    "fantope, ℓ₁": (_l1, FACTORS),
    "abess": (lambda Z, d, size: best_subset(Z, d, int(size)), SIZES),
}


def run(quick: bool) -> dict[str, Any]:
    """Fit every method to every draw."""
    rows = []
    models = MODELS | HUGE
    stored = {} if RUN_RIVALS else json.loads(STORED.read_text(encoding="utf-8"))
    before = {models[row["model"]]: row["methods"] for row in stored["result"]["rows"]} if stored else {}
    for name, model in list(models.items())[:1] if quick else models.items():
        draws = QUICK_DRAWS if quick else model.draws or DRAWS
        found = [_trial(model, seed) for seed in range(draws)]
        methods = {
            method: {key: float(np.median([each[method][key] for each in found])) for key in found[0][method]}
            for method in found[0]
        }
        if stored:
            methods = {**before[replace(model, ranks=False)], **methods}  # ranks are ours alone: the draws are the same
        rows.append({"model": name, "draws": draws, "methods": methods})
        print(f"  {name}: {methods[OURS]}", flush=True)
    rivals = stored["result"].get("rivals", stored["source"]) if stored else None
    return {"rows": rows, "cross_validation": cross_validation(), "rivals": rivals}


def _trial(model: Model, seed: int) -> dict[str, dict[str, float]]:
    Z, V = sample(model, seed)
    found = {"PCA on each true group": judge(oracle(Z, V), V), OURS: judge(_ours(Z, len(V), model.ranks), V)}
    for name, (fit, settings) in RIVALS.items() if RUN_RIVALS else ():
        if model.all_rivals or name in ("PCA", "truncated power"):
            found[name] = min((judge(fit(Z, len(V), value), V) for value in settings), key=lambda each: each["error"])
    return found


def cross_validation() -> dict[str, float]:
    """Return the processor time of a whole fit with cross-validation, and of one default fit of SparsePCA."""
    Z, V = sample(MODELS["200, 800, (12, 6)"], 0)
    fantope.SparsePCACV(2).fit(Z[:, :120])  # what is compiled on first use is not timed
    seconds = {}
    for name, fit in (("SparsePCA", SparsePCA(2, random_state=0)), ("ours", fantope.SparsePCACV(2))):
        began = time.process_time()
        fit.fit(Z)
        seconds[name] = time.process_time() - began
    return {**seconds, **judge(fit.components_, V)}


def report(result: dict[str, Any]) -> str:
    """Return the section of docs/benchmarks.md."""
    lines = []
    for row in result["rows"]:
        methods = row["methods"]
        ours, best = methods[OURS], methods["PCA on each true group"]
        rivals = {name: methods[name] for name in RIVALS if name in methods}
        rival = min(rivals, key=lambda name: rivals[name]["error"])
        its = rivals[rival]
        lines.append(
            [
                row["model"], str(row["draws"]), f"{best['error']:.3f}",
                f"{ours['error']:.3f} ({ours['error'] / best['error']:.2f})", f"{ours['variables']:.0f}",
                f"{ours['precision']:.2f}", f"{ours['recall']:.2f}",
                f"{rival}: {its['error']:.3f}, {its['precision']:.2f}, {its['recall']:.2f}",
                "ahead" if ours["error"] < its["error"] else "**behind**",
            ]
        )  # fmt: skip
    header = ["n, p, eigenvalues", "draws", "oracle", "error (÷ oracle)", "variables", "precision", "recall",
              "best rival by the truth: error, precision, recall", ""]  # fmt: skip
    cv = result["cross_validation"]
    earlier = f" Rivals were run with another state of the source ({result['rivals']})." if result["rivals"] else ""
    return (
        "## The right variables\n\n"
        "Medians over draws; error is ‖P − Π‖_F. Ours is `SparsePCA` as it comes (MCP), without knowledge of "
        "the truth; the oracle is PCA on each true group; every rival (PCA, scikit-learn's SparsePCA, truncated power, "
        f"abess, our own ℓ₁) has in each draw the setting with the smallest true error.{earlier}\n\n"
        f"{table(header, lines)}\n\n"
        f"`SparsePCACV` as it comes at n = 200, p = 800: {cv['ours']:.1f} s of processor time, "
        f"{cv['ours'] / cv['SparsePCA']:.1f} times one default fit of scikit-learn's SparsePCA; error "
        f"{cv['error']:.3f}, precision {cv['precision']:.2f}, recall {cv['recall']:.2f}.\n"
    )


if __name__ == "__main__":
    from benchmarks import recovery
    from benchmarks.__main__ import main

    recovery.RUN_RIVALS = "--ours" not in sys.argv
    sys.exit(main(["--only", "recovery", *(option for option in sys.argv[1:] if option != "--ours")]))
