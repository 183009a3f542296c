"""The last sections: what is guaranteed, how to run it again, how to cite it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fantope.coexpression.report.about import About
from fantope.coexpression.report.html import Column, escape, fixed, gap, paragraphs, table, whole

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression


def guarantees(result: Coexpression) -> str:
    """Return the gap of each solution, and what it means."""
    rows = [
        {
            "group": name,
            "alpha": solution.alpha,
            "chosen": "chosen" if solution is group.solution else "",
            "n_genes": len(solution.support),
            "objective": solution.objective,
            "bound": solution.dual_bound,
            "gap": solution.gap,
            "status": solution.status.name.lower().replace("_", " "),
        }
        for name, group in result.groups.items()
        for solution in group.path
    ]
    columns = [
        Column("group", "group"),
        Column("alpha", "alpha", lambda value: f"{value:g}"),
        Column("chosen", ""),
        Column("n_genes", "genes", whole),
        Column("objective", "achieved", fixed(4), "The objective at the solution found"),
        Column("bound", "upper bound", fixed(4), "No feasible solution can exceed this"),
        Column("gap", "gap", gap),
        Column("status", "status"),
    ]
    several = len(result.groups) > 1
    return (
        paragraphs(
            "Each solution comes with an upper bound that no other solution, found by any method, can exceed. The gap "
            "is the distance between what was achieved and that bound, relative to the larger of the two: a gap of "
            "0.001 means that nobody can improve the objective by more than a thousandth. The bound holds over all "
            f"{whole(len(result.gene_names))} analysed genes, not only over the active ones, and rounding errors are "
            "accounted for.",
            "The gap speaks of the optimisation alone. It says that the genes above are the answer to the question "
            "asked, and not an accident of the optimiser; whether alpha, the number of components and the samples "
            "suit the biology is for you to judge.",
        )
        + f"<details><summary>Gap of every solution ({whole(len(rows))})</summary>"
        + table(pd.DataFrame(rows), columns if several else columns[1:], "Certified solutions", "certificates")
        + "</details>"
    )


def rerun(result: Coexpression, about: About) -> str:
    """Return the command, inputs, versions and parameters."""
    inputs = "".join(
        f"<dt>{escape(name)}</dt><dd><code>{escape(digest)}</code></dd>" for name, digest in about.inputs.items()
    )
    parameters = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(_value(value))}</dd>" for name, value in result.parameters.items()
    )
    versions = ", ".join(f"{name} {number}" for name, number in about.versions.items())
    beside = "".join(f"<dt>{escape(name)}</dt><dd>{escape(what)}</dd>" for name, what in about.files.items())
    return (
        f"<p>This command makes the report again:</p><pre><code>{escape(about.command)}</code></pre>"
        "<p><code>fantope verify</code> with the folder of this report reads the data again and checks each "
        "certificate at the chosen alpha without any solver.</p>"
        + (f"<h3>Inputs (SHA-256)</h3><dl>{inputs}</dl>" if inputs else "")
        + (f"<h3>Files beside this report</h3><dl>{beside}</dl>" if beside else "")
        + f"<details><summary>Parameters and versions</summary><dl>{parameters}</dl>{paragraphs(versions)}</details>"
    )


def _value(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, list | tuple):
        return ", ".join(_value(each) for each in value) or "–"
    return f"{value:g}" if isinstance(value, float) else str(value)


def cite(about: About) -> str:
    """Return what to cite."""
    version = about.versions.get("fantope", "")
    return (
        "<p>The method: Yixuan Qiu, Jing Lei and Kathryn Roeder, “Gradient-based sparse principal component analysis "
        "with extensions to online learning”, <cite>Biometrika</cite> 110 (2023), 339–360.</p>"
        f"<p>The software: fantope{f' {escape(version)}' if version else ''}, convex sparse principal component "
        "analysis with duality-gap certificates.</p>"
    )
