"""What `fantope demo` does."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from rich.table import Table
from scipy.optimize import linear_sum_assignment
from sklearn.decomposition import PCA, SparsePCA

from fantope.cli._data import fit_progress
from fantope.cli.console import NOT_REACHED, OK, Talk
from fantope.estimators.moments import data_moments
from fantope.estimators.penalty import default_concave
from fantope.io.folder import result_folder
from fantope.penalties import L1, MCP
from fantope.plotting import plot_convergence, plot_loadings, plot_setting
from fantope.plotting.style import journal_style, new_figure, side_by_side
from fantope.selection import shrink_loadings
from fantope.simulation import Simulation, simulate
from fantope.solvers import Admm, Solution
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array

COMMAND = "fantope demo"
# From nearly dense to sparser than the truth on this model; the best is taken, so the grid only needs to
# bracket it.
SKLEARN_ALPHAS = (0.5, 1.0, 2.0, 4.0, 8.0)
SETTING_P = 100  # the paper's figure 1
# "auto" solves up to this many variables in one round and would report once; ADMM, which is what it uses, reports on
# the way. The price is a certificate every few iterations, which the time shown includes.
ONE_ROUND = 400
NOTE = (
    "Medians over {draws} simulated data sets. error: distance of the fitted projection from the true one. prec., "
    "recall: of the support, whose true size is {size}. var. S, var. Σ: share of the variance explained in the sample "
    "and under the true covariance. seconds: one fit, compilation excluded. In each data set SparsePCA gets the best "
    f"of {len(SKLEARN_ALPHAS)} penalties by the true error, which no user could know; fantope's penalty follows from "
    "the data, or is the one given. PCA explains most of the sample because it fits the noise too."
)
# Columns of the table shown: what of a score, and how it is written.
COLUMNS = {
    "error": ("subspace_error", ".3f"),
    "support": ("support_size", ".0f"),
    "prec.": ("precision", ".2f"),
    "recall": ("recall", ".2f"),
    "var. S": ("explained_variance", ".3f"),
    "var. Σ": ("explained_variance_true", ".3f"),
    "seconds": ("seconds", ".3f"),
}
Score = dict[str, Any]  # the method, and its numbers


@dataclass(frozen=True)
class Fits:
    """What each method found in one data set."""

    components: dict[str, Array]
    scores: list[Score]
    solution: Solution


def run(
    out: Path, talk: Talk, *, n: int, p: int, alpha: float | None, tol: float, max_iter: int | None, seed: int,
    draws: int,
) -> int:  # fmt: skip
    """Compare, write and show; return the exit code."""
    sims = [simulate(n, p, random_state=seed + k) for k in range(draws)]
    with result_folder(out, command=COMMAND) as folder:
        _warm_up()
        # The first data set is the one that is shown; its progress is shown too.
        fits = [_compare(sim, alpha, tol, max_iter, Talk(quiet=True) if k else talk) for k, sim in enumerate(sims)]
        worst = max((fit.solution for fit in fits), key=lambda solution: float(solution.gap))
        medians = [_median(each) for each in zip(*(fit.scores for fit in fits), strict=True)]
        summary = {
            "n": n, "p": p, "seed": seed, "draws": draws, "alpha": float(fits[0].solution.alpha), "tol": tol,
            "status": worst.status.name, "gap": float(worst.gap), "methods": medians,
            "each": [
                {
                    "seed": seed + k, "status": fit.solution.status.name, "objective": float(fit.solution.objective),
                    "dual_bound": float(fit.solution.dual_bound), "methods": fit.scores,
                }
                for k, fit in enumerate(fits)
            ],
        }  # fmt: skip
        _write(folder, summary)
        _draw(folder, sims[0], fits[0], tol)
    table = Table("method", title="How close each method comes to the truth")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    for score in medians:
        table.add_row(score["method"], *(format(score[key], form) for key, form in COLUMNS.values()))
    talk.say(table)
    talk.say(NOTE.format(draws=draws, size=sims[0].support.size))
    talk.say(
        f"{worst.status.name}: no feasible X beats fantope's in its last convex step by more than {worst.gap:.1e} of "
        "the objective, in any of the data sets, checked afresh from X and its dual.\n"
        f"Written to {out}: figure1.png, result.png, comparison.csv, comparison.json.\n"
        "For gene modules and a report to click through: fantope coexpress --demo"
    )
    talk.result({"out": str(out), **summary})
    return OK if worst.status.name == "SOLVED" else NOT_REACHED


def _warm_up() -> None:
    """Load compiled code, which happens on first use, outside the timing."""
    small = simulate(50, 40).Z
    for solver in ("auto", "admm"):
        solve_to_the_end(small.T @ small / 50, 2, 0.2, tol=1e-2, solver=solver)


def _compare(sim: Simulation, alpha: float | None, tol: float, max_iter: int | None, talk: Talk) -> Fits:
    """Fit every method to the same data; all of them centre it."""
    with talk.progress("certified gap") as report:
        (solution, components), seconds = _timed(_fantope, sim.Z, alpha, tol, max_iter, report)
    solution.verify(np.cov(sim.Z, rowvar=False, bias=True))
    pca, pca_seconds = _timed(PCA(n_components=2).fit, sim.Z)
    # The penalty that comes closest to the truth, which no user could know: the choice favours SparsePCA.
    trials = []
    for value in SKLEARN_ALPHAS:
        fit, took = _timed(SparsePCA(n_components=2, alpha=value, random_state=0).fit, sim.Z)
        trials.append((fit.components_, _score("SparsePCA", fit.components_, sim, took)))
    found = [
        (pca.components_, _score("PCA", pca.components_, sim, pca_seconds)),
        min(trials, key=lambda trial: float(trial[1]["subspace_error"])),
        (components, _score("fantope", components, sim, seconds)),
    ]
    return Fits({score["method"]: V for V, score in found}, [score for _, score in found], solution)


def _fantope(Z: Array, alpha: float | None, tol: float, max_iter: int | None, report: Any) -> tuple[Solution, Array]:
    """Return what SparsePCA finds, with its convergence: by the concave penalty, or by ℓ₁ if alpha is given."""
    moments = data_moments(Z, correlation=False)
    S, n = moments.covariance, len(Z)
    options: dict[str, Any] = {"tol": tol, "max_iter": max_iter}
    options["solver"] = Admm(check_every=3) if S.size <= ONE_ROUND else "auto"
    penalty: Any = L1(alpha) if alpha is not None else None
    init = None
    if penalty is None:
        penalty, init = default_concave(moments, 2, MCP(0.0), **options)
    solution = solve_to_the_end(S, 2, penalty, init=init, callback=fit_progress(report, penalty.alpha, tol), **options)
    return solution, shrink_loadings(S, solution.components, n, add=True) if alpha is None else solution.components


def _timed(fit: Callable[..., Any], *args: Any, **options: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    return fit(*args, **options), time.perf_counter() - started


def _score(method: str, components: Array, sim: Simulation, seconds: float) -> Score:
    """Compare `components` with the truth."""
    found = sim.recovery(components)
    V = found.basis
    return {
        "method": method,
        "subspace_error": found.error,
        "support_size": found.size,
        "precision": found.precision,
        "recall": found.recall,
        "explained_variance": float(((V @ sim.Z.T) ** 2).sum() / (sim.Z**2).sum()),
        "explained_variance_true": float(np.trace(V @ sim.Sigma @ V.T) / sim.eigenvalues.sum()),
        "seconds": seconds,
    }


def _median(scores: tuple[Score, ...]) -> Score:
    """Return the median of every number of one method."""
    numbers = [key for key in scores[0] if key != "method"]
    return {"method": scores[0]["method"], **{key: median(score[key] for score in scores) for key in numbers}}


def _matched(components: Array, sim: Simulation) -> Array:
    """Scale, order and sign the components like the true ones, so that the eye can compare them."""
    norms = np.linalg.norm(components, axis=1, keepdims=True)
    unit = components / np.where(norms > 0, norms, 1.0)
    overlap = sim.loadings.T @ unit.T
    _, order = linear_sum_assignment(-np.abs(overlap))
    signs = np.where(overlap[np.arange(order.size), order] < 0, -1.0, 1.0)
    return np.asarray(signs[:, None] * unit[order])


def _write(folder: Path, summary: dict[str, Any]) -> None:
    (folder / "comparison.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    rows = [{"seed": each["seed"], **row} for each in summary["each"] for row in each["methods"]]
    with (folder / "comparison.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def _draw(folder: Path, sim: Simulation, fits: Fits, tol: float) -> None:
    shown = {"truth": sim.loadings.T, **{name: _matched(V, sim) for name, V in fits.components.items()}}
    setting = new_figure(8.4, 3.9)
    plot_setting(simulate(1, SETTING_P), fig=setting)
    setting.savefig(folder / "figure1.png", dpi=200)
    with journal_style():
        figure = new_figure(10.5, 4.8)
        left, right = side_by_side(figure, 0.68)
        plot_loadings(shown, groups=sim.sizes, fig=left)
        ax = plot_convergence(fits.solution, ax=right.add_subplot(), tol=tol)
        ax.set_title(
            "fantope's certificate (last step)" if fits.solution.steps else "fantope's certificate", loc="left"
        )
        figure.savefig(folder / "result.png", dpi=200)
