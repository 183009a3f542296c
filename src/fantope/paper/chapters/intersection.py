"""Section 3.2 from its stored checks."""

from __future__ import annotations

from collections.abc import Sequence

from fantope.paper.chapters.base import Chapter, Claim, Table, duration, judge, number
from fantope.paper.store import Stored

ACCURATE = 1e-4  # relative to the optimum: what the splitting method is asked to reach


def chapter(runs: Sequence[Stored]) -> Chapter:
    """Return the section on the general scheme."""
    parts = {run.config["part"]: run for run in runs}
    blocks: list[str | Table] = [
        "`fantope.intersection` minimises a convex f over an intersection of sets, some given by a projection, some "
        "by a function g ≤ 0, through the exact penalty of theorem 1 and touching one set at a time."
    ]
    claims: list[Claim] = []
    if "theorem1" in parts:
        _theorem1(parts["theorem1"], blocks, claims)
    if "fps" in parts:
        _fps(parts["fps"], blocks, claims)
    if "correlation" in parts:
        _correlation(parts["correlation"], blocks)
    return Chapter("The general scheme (section 3.2)", [*blocks], claims)


def _theorem1(run: Stored, blocks: list[str | Table], claims: list[Claim]) -> None:
    found = run.result
    scale = abs(found["optimum"])
    exact = next(case for case in found["values"] if case["factor"] == 1.0)
    low = found["values"][0]
    blocks.append(
        Table(
            ["μ / γL", "min of ℒ − f*", "penalty at the minimiser"],
            [[number(case["factor"]), number(case["value"]), number(case["penalty"])] for case in found["values"]],
        )
    )
    blocks.append(
        f"FPS with p = {run.config['p']}, d = {run.config['d']}, f* = {number(found['optimum'], 6)} certified to "
        f"{number(found['gap'], 2)}. A negative difference means that the penalty was too weak and the minimiser is "
        "outside of the Fantope."
    )
    claims.append(
        Claim(
            "3.2, theorem 1(a)",
            "For μ ≥ γL the penalised problem has the optimal value of the constrained one.",
            f"at μ = γL they differ by {number(exact['value'])}; the smallest ℒ − f* of {run.config['draws']} random "
            f"points is {number(found['lowest'])}; at {number(low['factor'])} of that μ they differ by "
            f"{number(low['value'])}",
            judge([abs(exact["value"]) <= ACCURATE * scale, found["lowest"] >= -found["gap"]]),
        )
    )
    claims.append(
        Claim(
            "3.2, theorem 1(b)",
            "For μ ≥ γ(L + 1) an ε-optimal point is within ε of K, and its projection on K is ε-optimal.",
            f"over {found['points']} random points the distance to K is at most "
            f"{number(found['distance_over_epsilon'])} ε and the excess of the projection at most "
            f"{number(found['value_over_epsilon'])} ε",
            judge([found["distance_over_epsilon"] <= 1.0, found["value_over_epsilon"] <= 1.0]),
        )
    )


def _fps(run: Stored, blocks: list[str | Table], claims: list[Claim]) -> None:
    found = run.result
    rows = [
        [
            case["method"],
            case["iterations"],
            duration(case["seconds"]),
            number(case["relative"]),
            number(case["distance"]),
            number(case["penalty"]),
        ]
        for case in found["rows"]
    ]
    head = ["method", "iterations", "time", "relative difference of f", "‖X − X*‖_F", "penalty"]
    blocks.append(
        f"FPS through the general scheme beside the engine's certified optimum (gap {number(found['gap'], 2)}):"
    )
    blocks.append(Table(head, rows))
    splitting = next(case for case in found["rows"] if case["method"] == "splitting")
    claims.append(
        Claim(
            "3.2",
            "FPS is one case of the general scheme.",
            f"splitting agrees with the engine to {number(splitting['relative'])} in f and "
            f"{number(splitting['distance'])} in X",
            judge([splitting["relative"] <= ACCURATE, splitting["distance"] <= 1e-2]),
        )
    )


def _correlation(run: Stored, blocks: list[str | Table]) -> None:
    found = run.result
    rows = [
        [
            {"free": "no bounds", "bounded": "entries within 1.5 standard errors"}[name],
            found[name]["iterations"],
            number(found[name]["objective"], 6),
            number(found[name]["feasible_objective"], 6),
            number(found[name]["smallest_eigenvalue"], 2),
            number(found[name]["largest_change"]),
            number(max(found[name]["outside"], 0.0)),
        ]
        for name in ("free", "bounded")
    ]
    blocks.append(
        f"Another problem through the same door: the nearest correlation matrix to {run.config['p']} × "
        f"{run.config['p']} correlations of incomplete data, whose smallest eigenvalue is "
        f"{number(found['smallest_eigenvalue_before'])}."
    )
    head = [
        "case",
        "iterations",
        "‖X − A‖_F",
        "feasible point",
        "smallest eigenvalue",
        "largest change",
        "beyond two s.e.",
    ]
    blocks.append(Table(head, rows))
