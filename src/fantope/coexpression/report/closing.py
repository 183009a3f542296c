"""The last sections: what is guaranteed, and with which parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from fantope.coexpression.report.numbers import fixed, gap, plain, whole
from fantope.coexpression.report.table import Column, Table

if TYPE_CHECKING:
    from fantope.coexpression.analysis.result import Coexpression


def certificates(result: Coexpression) -> Table:
    """Return the gap of each solution."""
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
        Column("alpha", "alpha", plain),
        Column("chosen", ""),
        Column("n_genes", "genes", whole),
        Column("objective", "achieved", fixed(4), "The objective at the solution found"),
        Column("bound", "upper bound", fixed(4), "No feasible solution can exceed this"),
        Column("gap", "gap", gap),
        Column("status", "status"),
    ]
    several = len(result.groups) > 1
    return Table(pd.DataFrame(rows), columns if several else columns[1:], "Certified solutions", "certificates")


def described(value: object) -> str:
    """Return a parameter as text."""
    if value is None:
        return "–"
    if isinstance(value, list | tuple):
        return ", ".join(described(each) for each in value) or "–"
    return f"{value:g}" if isinstance(value, float) else str(value)
