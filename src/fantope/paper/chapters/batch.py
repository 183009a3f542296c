"""Figure 2 from its stored panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fantope.paper.chapters.base import Chapter, Picture, Table, duration, number, several
from fantope.paper.experiments.batch import ADMM, LIMIT, MU, PILOT_UP_TO, PUBLISHED
from fantope.paper.figures import method_colour, plot_error_over_time
from fantope.paper.store import Stored
from fantope.plotting.style import journal_style, new_figure

CLOSE = 0.01  # relative distance from the optimum's error that counts as having arrived
NEAR = 0.10  # … as "reasonably accurate"
AHEAD = 0.9  # share of the time axis on which a curve has to be lower to be called ahead
SMOOTH = 0.1  # share of upward movement up to which a curve is called mostly monotone
FEW = 10  # iterations at the beginning and at the end whose cost is compared
HEAD = [
    "(n, p)",
    "method",
    "step size",
    "close after",
    "iterations",
    "time of the run",
    "error at its end",
    "optimum's",
]

Curves = dict[str, Any]


def chapter(runs: Sequence[Stored]) -> Chapter:
    """Return the section on batch algorithms."""
    panels = [run.result for run in runs]
    page = Chapter("Batch algorithms (figure 2)")
    page.add(
        "‖X − Π‖_F against processor time on one thread. GradFPS and ADMM-FPS start from X₀ = V₂V₂ᵀ with a fixed step "
        "size, the best of ten from 0.01 to 0.1: the one nearest to the certified optimum after "
        f"{runs[0].config['pilot']} iterations, tried on the panel's own data up to p = {PILOT_UP_TO}, and beyond that "
        "at this size with the same n/p. GradFPS is the published method, with finite penalties, "
        f"μ = {MU:g}; beside it the limit μ → ∞, in which prox f₂ is a projection. ADMM-FPS is the published method, "
        "with a full eigendecomposition in every iteration. Solid lines, the table and the claims are about the sparse "
        "iterate, prox f₁ of GradFPS and Y of ADMM; dotted lines are the other one, X_k of GradFPS and the projection "
        f"of ADMM. A curve ends after {runs[0].config['iterations']} iterations, or with the first that ends after "
        f"{several([run.config['seconds'] for run in runs], 4)} seconds, panel by panel. Before the clock starts each "
        "method has done one iteration, so that no curve has one-off costs; jumps in that of the limit are iterations "
        'that need many more eigenpairs than the one before. "auto" is the library\'s default from its own start, one '
        "point per round. The dashed line is the error of the optimum, certified to a relative gap of 1e-5: a curve "
        "below it is not better, only not yet converged.",
        Picture(
            "batch",
            "The paper's figure 2, with the default solver and the certified optimum, against processor time of one "
            "thread; α are the step sizes of GradFPS, its limit and ADMM-FPS.",
            draw(panels),
        ),
        Table(HEAD, [row for panel in panels for row in rows(panel)]),
        f'"Close": the error stays within {100 * CLOSE:g} % of the optimum\'s.',
    )
    _claims(page, panels)
    return page


def draw(panels: Sequence[dict[str, Any]]) -> Any:
    """Return the figure: one panel for each size."""
    with journal_style():
        columns = 2 if len(panels) in (2, 4) else min(len(panels), 3)
        figure = new_figure(4.0 * columns, 2.9 * -(-len(panels) // columns))
        axes = figure.subplots(-(-len(panels) // columns), columns, squeeze=False).ravel()
        for extra in axes[len(panels) :]:
            extra.set_axis_off()
        for ax, panel in zip(axes, panels, strict=False):
            curves = {name: (curve["time"], curve["error"]) for name, curve in panel["curves"].items()}
            plot_error_over_time(curves, optimum=panel["error_of_optimum"], ax=ax).legend().remove()
            left = 0.7 * min(t for times, _ in curves.values() for t in times if t > 0.0)
            for name, curve in panel["curves"].items():
                if curve["other"]:
                    times = np.maximum(curve["time"], left)
                    ax.plot(times, curve["other"], ":", lw=1.0, color=method_colour(name))
            star = {"ms": 8, "color": "#009E73", "label": "auto, certified to 1e-4"}
            ax.plot(panel["certified_time"], panel["certified_error"], "*", **star)
            ax.set_xlabel("processor time (s)")
            steps = ", ".join(f"{step:g}" for step in panel["step_sizes"].values())
            ax.set_title(f"n = {panel['n']}, p = {panel['p']}; α = {steps}", loc="left")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=6, fontsize=7)
    return figure


def arrival(curve: Curves, goal: float, within: float) -> int | None:
    """Return the iteration from which on the error stays within a share of the goal; None if that never comes."""
    away = np.flatnonzero(np.abs(np.array(curve["error"]) - goal) > within * goal)
    first = int(away[-1]) + 1 if len(away) else 0
    return first if first < len(curve["error"]) else None


def ahead(first: Curves, second: Curves, measure: str) -> float:
    """Return on what share of the common time (logarithmic) the first curve is not above the second.

    From the first iteration that either finishes to the end of the shorter run; between points a method is worth its
    last iterate, before its first one the common start.
    """
    begin, end = min(first["time"][1], second["time"][1]), min(first["time"][-1], second["time"][-1])
    times = np.geomspace(begin, max(end, begin * 1.0001), 400)
    values = [np.asarray(c[measure])[np.searchsorted(c["time"], times, side="right") - 1] for c in (first, second)]
    return float(np.mean(values[0] <= values[1]))


def upward(curve: Curves) -> float:
    """Return how much of the error's movement is upwards.

    The first iteration is left out: it goes from the common start to wherever the method's first map puts it.
    """
    steps = np.diff(curve["error"][1:])
    moved = float(np.abs(steps).sum())
    return float(steps[steps > 0.0].sum()) / moved if moved > 0.0 else 0.0


def rows(panel: dict[str, Any]) -> list[list[str]]:
    """Return the rows of a panel in the table with HEAD."""
    goal, size = panel["error_of_optimum"], f"({panel['n']}, {panel['p']})"
    found = []
    for name, curve in panel["curves"].items():
        arrived = arrival(curve, goal, CLOSE)
        # The default solver's points are rounds, and it has none at the start.
        iterations = "–" if name == "auto" else f"{'–' if arrived is None else arrived} of {len(curve['time']) - 1}"
        found.append(
            [
                size,
                name,
                number(panel["step_sizes"].get(name)),
                "not in the run" if arrived is None else duration(curve["time"][arrived]),
                iterations,
                duration(curve["time"][-1]),
                f"{curve['error'][-1]:.4f}",
                f"{goal:.4f}",
            ]
        )
    time, error = duration(panel["certified_time"]), panel["certified_error"]
    return [*found, [size, "auto, certified to 1e-4", "–", time, "–", time, f"{error:.4f}", f"{goal:.4f}"]]


def _claims(page: Chapter, panels: Sequence[dict[str, Any]]) -> None:
    pairs = [(panel["curves"][PUBLISHED], panel["curves"][ADMM]) for panel in panels]
    sizes = ", ".join(str(panel["p"]) for panel in panels)
    errors = [ahead(g, a, "error") for g, a in pairs]
    distances = [ahead(g, a, "distance") for g, a in pairs]
    near = [
        [_reached(panel["curves"][name], panel["error_of_optimum"]) for name in (PUBLISHED, ADMM, LIMIT)]
        for panel in panels
    ]
    rising = [(upward(g), upward(a)) for g, a in pairs]
    first = [(g["error"][1], a["error"][1]) for g, a in pairs]
    # Of larger panels no other step sizes were tried.
    tried = [panel["first_errors"] for panel in panels if panel["p"] <= PILOT_UP_TO]
    smaller = [np.less(found[PUBLISHED], found[ADMM]) for found in tried]
    costs = [[_cost(a, part) / _cost(g, part) for part in (slice(1, FEW + 1), slice(-FEW, None))] for g, a in pairs]

    def percent(values: Sequence[float]) -> str:
        return ", ".join(f"{100 * value:.0f}" for value in values)

    page.claim(
        "5.2, figure 2",
        "GradFPS is ahead of ADMM-FPS at equal time.",
        f"p = {sizes}: lower estimation error on {percent(errors)} % of the common time (log scale), nearer to "
        f"the certified optimum on {percent(distances)} %",
        [share >= least for share in errors for least in (0.5, AHEAD)],
    )
    page.claim(
        "5.2, figure 2",
        "GradFPS gives reasonably accurate solutions in a short time.",
        f"error stays within {100 * NEAR:g} % of the optimum's, GradFPS against ADMM (and the limit μ → ∞): "
        + "; ".join(f"{g[1]} against {a[1]} ({limit[1]})" for g, a, limit in near),
        [g[0] < a[0] for g, a, _ in near],
    )
    page.claim(
        "5.2, figure 2",
        "GradFPS is mostly monotone; ADMM-FPS has plateaus and rising parts.",
        "share of the error's movement that is upwards, GradFPS against ADMM: "
        + "; ".join(f"{100 * g:.0f} % against {100 * a:.0f} %" for g, a in rising),
        [g <= SMOOTH and g < a for g, a in rising],
    )
    page.claim(
        "5.2, figure 2",
        "GradFPS makes better use of the same start: its first errors are smaller.",
        "error after one iteration, GradFPS against ADMM: "
        + "; ".join(f"{g:.3f} against {a:.3f}" for g, a in first)
        + f"; at equal step sizes it is smaller for {', '.join(str(wins.sum()) for wins in smaller)} of the ten",
        [*(g < a for g, a in first), *(bool(wins.all()) for wins in smaller)],
    )
    page.claim(
        "3.3",
        "An iteration of GradFPS is cheap compared with a full eigendecomposition.",
        f"time of an ADMM iteration (one full decomposition) over that of GradFPS: {several([c[0] for c in costs], 2)} "
        f"in the first {FEW} iterations, {several([c[1] for c in costs], 2)} in the last {FEW}",
        [ratio > 2.0 for pair in costs for ratio in pair],
    )


def _reached(curve: Curves, goal: float) -> tuple[float, str]:
    """Return when the error is near the goal for good, as a number and in words."""
    arrived = arrival(curve, goal, NEAR)
    if arrived is None:
        return np.inf, "never"
    return curve["time"][arrived], f"{duration(curve['time'][arrived])} and {arrived} iterations"


def _cost(curve: Curves, part: slice) -> float:
    """Return the mean time of some iterations."""
    return float(np.mean(np.diff(curve["time"], prepend=0.0)[part]))
