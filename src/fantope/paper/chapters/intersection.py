"""Section 3.2 from its stored checks."""

from __future__ import annotations

from collections.abc import Sequence

from fantope.paper.chapters.base import Chapter, Table, duration, number
from fantope.paper.store import Stored

ACCURATE = 1e-4  # relative to the optimum: what the splitting method is asked to reach


def chapter(runs: Sequence[Stored]) -> Chapter:
    """Return the section on the general scheme."""
    page = Chapter("The general scheme (section 3.2)")
    page.add(
        "`fantope.intersection` minimises a convex f over an intersection of sets, some given by a projection, some "
        "by a function g ≤ 0, through the exact penalty of theorem 1 and touching one set at a time."
    )
    return page.describe(runs, {"theorem1": _theorem1, "fps": _fps, "correlation": _correlation})


def _theorem1(runs: Sequence[Stored], page: Chapter) -> None:
    found, config = runs[0].result, runs[0].config
    scale = abs(found["optimum"])
    exact = next(case for case in found["values"] if case["factor"] == 1.0)
    low = found["values"][0]
    page.add(
        Table(
            ["μ / γL", "min of ℒ − f*", "penalty at the minimiser"],
            [[number(case[key]) for key in ("factor", "value", "penalty")] for case in found["values"]],
        ),
        f"FPS with p = {config['p']}, d = {config['d']}, f* = {number(found['optimum'], 6)} certified to "
        f"{number(found['gap'], 2)}. A negative difference means that the penalty was too weak and the minimiser is "
        "outside of the Fantope.",
    )
    page.claim(
        "3.2, theorem 1(a)",
        "For μ ≥ γL the penalised problem has the optimal value of the constrained one.",
        f"at μ = γL they differ by {number(exact['value'])}; the smallest ℒ − f* of {config['draws']} random "
        f"points is {number(found['lowest'])}; at {number(low['factor'])} of that μ they differ by "
        f"{number(low['value'])}",
        [abs(exact["value"]) <= ACCURATE * scale, found["lowest"] >= -found["gap"]],
    )
    page.claim(
        "3.2, theorem 1(b)",
        "For μ ≥ γ(L + 1) an ε-optimal point is within ε of K, and its projection on K is ε-optimal.",
        f"over {found['points']} random points the distance to K is at most {number(found['distance_over_epsilon'])} ε "
        f"and the excess of the projection at most {number(found['value_over_epsilon'])} ε",
        [found["distance_over_epsilon"] <= 1.0, found["value_over_epsilon"] <= 1.0],
    )


def _fps(runs: Sequence[Stored], page: Chapter) -> None:
    found = runs[0].result
    rows = [
        [case["method"], case["iterations"], duration(case["seconds"])]
        + [number(case[key]) for key in ("relative", "distance", "penalty")]
        for case in found["rows"]
    ]
    head = ["method", "iterations", "time", "relative difference of f", "‖X − X*‖_F", "penalty"]
    page.add(
        f"FPS through the general scheme beside the engine's certified optimum (gap {number(found['gap'], 2)}):",
        Table(head, rows),
    )
    splitting = next(case for case in found["rows"] if case["method"] == "splitting")
    page.claim(
        "3.2",
        "FPS is one case of the general scheme.",
        f"splitting agrees with the engine to {number(splitting['relative'])} in f and "
        f"{number(splitting['distance'])} in X",
        [splitting["relative"] <= ACCURATE, splitting["distance"] <= 1e-2],
    )


def _correlation(runs: Sequence[Stored], page: Chapter) -> None:
    found, p = runs[0].result, runs[0].config["p"]
    # Column by key of the result and digits.
    columns = {
        "‖X − A‖_F": ("objective", 6),
        "feasible point": ("feasible_objective", 6),
        "smallest eigenvalue": ("smallest_eigenvalue", 2),
        "largest change": ("largest_change", 3),
        "beyond two s.e.": ("outside", 3),
    }
    cases = {"no bounds": found["free"], "entries within 1.5 standard errors": found["bounded"]}
    rows = []
    for name, case in cases.items():
        shown = {**case, "outside": max(case["outside"], 0.0)}
        rows.append([name, case["iterations"], *(number(shown[key], digits) for key, digits in columns.values())])
    page.add(
        f"Another problem through the same door: the nearest correlation matrix to {p} × {p} correlations of "
        f"incomplete data, whose smallest eigenvalue is {number(found['smallest_eigenvalue_before'])}.",
        Table(["case", "iterations", *columns], rows),
    )
