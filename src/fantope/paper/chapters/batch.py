"""Figure 2 from its stored panels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fantope.paper.chapters.base import Chapter, Claim, Picture, Table, duration, judge, number
from fantope.paper.experiments.batch import ADMM, LIMIT, MU, PUBLISHED
from fantope.paper.figures import method_colour, plot_error_over_time
from fantope.paper.store import Stored
from fantope.plotting.style import journal_style, new_figure

CLOSE = 0.01  # relative distance from the optimum's error that counts as having arrived
NEAR = 0.10  # … as "reasonably accurate"
AHEAD = 0.9  # share of the time axis on which a curve has to be lower to be called ahead
SMOOTH = 0.1  # share of upward movement up to which a curve is called mostly monotone
HEAD = [
    "(n, p)",
    "method",
    "step size",
    "time to stay close",
    "time of the run",
    "error at its end",
    "optimum's error",
]


def chapter(runs: Sequence[Stored]) -> Chapter:
    """Return the section on batch algorithms."""
    panels = [run.result for run in runs]
    return Chapter(
        "Batch algorithms (figure 2)",
        [
            "‖X − Π‖_F against time. GradFPS and ADMM-FPS start from X₀ = V₂V₂ᵀ with a fixed step size, the best "
            f"of ten from 0.01 to 0.1: the one nearest to the certified optimum after {runs[0].config['pilot']} "
            f"iterations or fewer. GradFPS is the published method, with finite penalties, μ = {MU:g}; beside it the "
            "limit μ → ∞, in which prox f₂ is a projection. ADMM-FPS is the published method, with a full "
            "eigendecomposition in every iteration. Solid lines, the table and the claims are about the sparse "
            "iterate, prox f₁ of GradFPS and Y of ADMM; dotted lines are the other one, X_k of GradFPS and the "
            f"projection of ADMM. Each iteration counts with the shortest of {runs[0].config['repeats']} times. "
            '"auto" is the library\'s default from its own start, one point per '
            "round. The dashed line is the error of the optimum, certified to a relative gap of 1e-5: a curve below "
            "it is not better, only not yet converged.",
            Picture("batch", "The paper's figure 2, with the default solver and the certified optimum.", draw(panels)),
            Table(HEAD, [row for panel in panels for row in rows(panel)]),
            f'"Close": the error stays within {100 * CLOSE:g} % of the optimum\'s.',
        ],
        _claims(panels),
    )


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
            notes = {name: f", α = {step:g}" for name, step in panel["step_sizes"].items()}
            plot_error_over_time(curves, optimum=panel["error_of_optimum"], notes=notes, ax=ax)
            for name, curve in panel["curves"].items():
                if curve.get("other"):
                    left = 0.7 * min(t for c in panel["curves"].values() for t in c["time"] if t > 0.0)
                    times = np.maximum(curve["time"], left)
                    ax.plot(times, curve["other"], ":", lw=1.0, color=method_colour(name))
            ax.plot(
                panel["certified_time"], panel["certified_error"], "*", ms=8, color="#009E73",
                label="auto, certified to 1e-4",
            )  # fmt: skip
            ax.legend(fontsize=6.5)
            ax.set_title(f"n = {panel['n']}, p = {panel['p']}", loc="left")
    return figure


def arrival(curve: dict[str, Any], goal: float, within: float) -> float | None:
    """Return the time from which on the error stays within a share of the goal; None if that never comes."""
    arrived = None
    for spent, error in zip(curve["time"], curve["error"], strict=True):
        if abs(error - goal) > within * goal:
            arrived = None
        elif arrived is None:
            arrived = spent
    return arrived


def ahead(first: dict[str, Any], second: dict[str, Any], measure: str) -> float:
    """Return on what share of the common time (logarithmic) the first curve is not above the second.

    From the first iteration that either finishes to the end of the shorter run; between points a method is worth its
    last iterate, before its first one the common start.
    """
    begin, end = min(first["time"][1], second["time"][1]), min(first["time"][-1], second["time"][-1])
    times = np.geomspace(begin, max(end, begin * 1.0001), 400)
    values = [np.asarray(c[measure])[np.searchsorted(c["time"], times, side="right") - 1] for c in (first, second)]
    return float(np.mean(values[0] <= values[1]))


def rows(panel: dict[str, Any], close: float = CLOSE) -> list[list[str]]:
    """Return the rows of a panel in the table with HEAD."""
    goal, size = panel["error_of_optimum"], f"({panel['n']}, {panel['p']})"
    found = []
    for name, curve in panel["curves"].items():
        arrived = arrival(curve, goal, close)
        found.append(
            [
                size,
                name,
                number(panel["step_sizes"].get(name)),
                "not in the run" if arrived is None else duration(arrived),
                duration(curve["time"][-1]),
                f"{curve['error'][-1]:.4f}",
                f"{goal:.4f}",
            ]
        )
    time, error = panel["certified_time"], panel["certified_error"]
    found.append([size, "auto, certified to 1e-4", "–", duration(time), duration(time), f"{error:.4f}", f"{goal:.4f}"])
    return found


def _claims(panels: Sequence[dict[str, Any]]) -> list[Claim]:
    pairs = [(panel["curves"][PUBLISHED], panel["curves"][ADMM]) for panel in panels]
    sizes = ", ".join(str(panel["p"]) for panel in panels)
    errors = [ahead(g, a, "error") for g, a in pairs]
    distances = [ahead(g, a, "distance") for g, a in pairs]
    goals = [panel["error_of_optimum"] for panel in panels]
    near = [(arrival(g, goal, NEAR), arrival(a, goal, NEAR)) for (g, a), goal in zip(pairs, goals, strict=True)]
    upward = [(panel["monotone"][PUBLISHED]["share"], panel["monotone"][ADMM]["share"]) for panel in panels]
    first = [(g["error"][1], a["error"][1]) for g, a in pairs]
    per = [panel["per_iteration"][ADMM] / panel["per_iteration"][PUBLISHED] for panel in panels]
    limit = [arrival(panel["curves"][LIMIT], goal, NEAR) for panel, goal in zip(panels, goals, strict=True)]

    def percent(values: Sequence[float]) -> str:
        return ", ".join(f"{100 * value:.0f}" for value in values)

    def text(value: float | None) -> str:
        return "never" if value is None else duration(value)

    return [
        Claim(
            "5.2, figure 2",
            "GradFPS is ahead of ADMM-FPS at equal time.",
            f"p = {sizes}: lower estimation error on {percent(errors)} % of the common time (log scale), nearer to "
            f"the certified optimum on {percent(distances)} %",
            judge([share >= least for share in errors for least in (0.5, AHEAD)]),
        ),
        Claim(
            "5.2, figure 2",
            "GradFPS gives reasonably accurate solutions in a short time.",
            f"error stays within {100 * NEAR:g} % of the optimum's, GradFPS against ADMM: "
            + "; ".join(f"{text(g)} against {text(a)}" for g, a in near)
            + f" (in the limit μ → ∞: {'; '.join(map(text, limit))})",
            judge([g is not None and (a is None or g < a) for g, a in near]),
        ),
        Claim(
            "5.2, figure 2",
            "GradFPS is mostly monotone; ADMM-FPS has plateaus and rising parts.",
            "share of the error's movement that is upwards, GradFPS against ADMM: "
            + "; ".join(f"{100 * g:.0f} % against {100 * a:.0f} %" for g, a in upward),
            judge([g <= SMOOTH and g < a for g, a in upward]),
        ),
        Claim(
            "5.2, figure 2",
            "GradFPS makes better use of the same start: its first errors are smaller.",
            "error after one iteration, GradFPS against ADMM: "
            + "; ".join(f"{g:.3f} against {a:.3f}" for g, a in first),
            judge([g < a for g, a in first]),
        ),
        Claim(
            "3.3",
            "An iteration of GradFPS is cheap compared with a full eigendecomposition.",
            "time of an ADMM iteration (one full decomposition) over that of GradFPS: "
            + ", ".join(f"{ratio:.1f}" for ratio in per),
            judge([ratio > 2.0 for ratio in per]),
        ),
    ]
