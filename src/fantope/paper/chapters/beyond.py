"""Solvers and other libraries from stored runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from fantope.paper.chapters.base import Chapter, Picture, Table, duration, number
from fantope.paper.figures import plot_gaps, plot_recovery
from fantope.paper.store import Stored
from fantope.plotting.style import journal_style, new_figure

MEASURES = {
    "subspace error": "error",
    "support precision": "precision",
    "support recall": "recall",
    "held-out variance": "held_out",
    "time (s)": "seconds",
}
# Columns of the table of other libraries: what of a score, and how it is written.
COLUMNS: dict[str, tuple[str, Callable[[float], str]]] = {
    "error": ("error", number),
    "support (true 35)": ("support", "{:.0f}".format),
    "precision": ("precision", "{:.2f}".format),
    "recall": ("recall", "{:.2f}".format),
    "held-out variance": ("held_out", "{:.3f}".format),
    "time of one fit": ("seconds", duration),
}


def chapter(runs: Sequence[Stored]) -> Chapter:
    """Return the section on what the paper does not compare."""
    return Chapter("Beyond the paper").describe(runs, {"gap": _gaps, "recovery": _recovery, "abess": _abess})


def _gaps(runs: Sequence[Stored], page: Chapter) -> None:
    with journal_style():
        figure = new_figure(4.2 * len(runs), 3.2)
        axes = figure.subplots(1, len(runs), squeeze=False)[0]
        for ax, run in zip(axes, runs, strict=True):
            curves = {name: (c["time"], c["gap"]) for name, c in run.result["curves"].items()}
            plot_gaps(curves, tol=run.config["tol"], ax=ax)
            ax.set_title(f"n = {run.config['n']}, p = {run.config['p']}", loc="left")
    rows = [
        [
            f"({run.config['n']}, {run.config['p']})",
            name,
            curve["iterations"],
            *(_when(curve, level) for level in (1e-2, 1e-4, 1e-6)),
            number(curve["verified"], 2),
            curve["status"],
        ]
        for run in runs
        for name, curve in run.result["curves"].items()
    ]
    head = [
        "(n, p)",
        "solver",
        "iterations",
        *(f"to 1e-{k}" for k in (2, 4, 6)),
        "gap at the end, re-verified",
        "status",
    ]
    page.add(
        "**All solvers.** The certified relative gap against time; every solver certifies its own iterates with the "
        f"same code, and that time is counted. A run ends at the dashed line or after {runs[0].config['seconds']:g} "
        "seconds or more.",
        Picture("beyond_gaps", "Certified gap against time for every solver of the library.", figure),
        Table(head, rows),
    )


def _when(curve: dict[str, Any], level: float) -> str:
    found = next(
        (t for t, gap in zip(curve["time"], curve["gap"], strict=True) if gap is not None and gap <= level), None
    )
    return "not in the run" if found is None else duration(found)


def _recovery(runs: Sequence[Stored], page: Chapter) -> None:
    cases: dict[tuple[int, int, float, float], list[Stored]] = {}
    for run in runs:
        key = (run.config["n"], run.config["p"], *run.config["signal"])
        cases.setdefault(key, []).append(run)
    methods = list(runs[0].result["scores"])
    skipped = {name: each["skipped"] for name, each in runs[0].result["scores"].items() if "skipped" in each}
    shown = [name for name in methods if name not in skipped]

    def middle(group: Sequence[Stored], method: str, key: str) -> float:
        return float(median(run.result["scores"][method][key] for run in group))

    names = [f"n={n}\np={p}\n{a:g}, {b:g}" for n, p, a, b in cases]
    scores = {
        measure: {method: [middle(group, method, key) for group in cases.values()] for method in shown}
        for measure, key in MEASURES.items()
    }
    rows = [
        [f"n = {n}, p = {p}, eigenvalues {a:g}, {b:g}", method]
        + [write(middle(group, method, key)) for key, write in COLUMNS.values()]
        for (n, p, a, b), group in cases.items()
        for method in shown
    ]
    page.add(
        f"**Other libraries**, on the same samples ({len(next(iter(cases.values())))} draws of each case, medians). "
        '"fantope" has λ = 0.5√(log p/n) fixed beforehand. Every other sparse method gets, in each draw, the penalty '
        'or size with the smallest true error out of a list, which no user could know; so does "fantope, best λ", for '
        "comparison. Held-out variance is the share of fresh samples' variance explained, relative to the true "
        "subspace. scikit-learn and abess optimise other, non-convex objectives, and have no certificate.",
        Picture("beyond_recovery", "Recovery over n, p and the signal's eigenvalues.", plot_recovery(names, scores)),
        Table(["case", "method", *COLUMNS], rows),
        *(f"{name} was left out: {reason}." for name, reason in skipped.items()),
    )


def _abess(runs: Sequence[Stored], page: Chapter) -> None:
    rows = [
        [f"n = {run.config['n']}, p = {run.config['p']}", what, answer]
        for run in runs
        for what, answer in run.result.get("answers", {"any": run.result.get("skipped", "")}).items()
    ]
    page.add(
        "**abess as its documentation says**, `SparsePCA(support_size=20).fit(Z)` and `fit(Z, number=2)`. Because of "
        "what comes back, the comparison above hands it covariances with a small ridge, one component at a time, and "
        "deflates.",
        Table(["data", "asked for", "answer"], rows),
    )
