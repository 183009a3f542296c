"""Figures 5 and 6 and the cross table from the stored analysis of the stand-in data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from scipy.signal import find_peaks
from scipy.stats import gaussian_kde

from fantope.paper.chapters.base import Chapter, Picture, Table, number
from fantope.paper.experiments.application import CASE, CONTROL, OTHER
from fantope.paper.store import Stored
from fantope.typing import Array

if TYPE_CHECKING:
    import pandas as pd

    from fantope.coexpression import Coexpression

UNASSIGNED = "grey"  # WGCNA's label of genes in no module
PURE = 0.8  # share of a module's labelled genes in one WGCNA module that counts as well aligned


@dataclass(frozen=True)
class Shown:
    """What the figures need of one group."""

    genes: pd.DataFrame
    expression: pd.DataFrame

    def correlation(self, genes: Any) -> pd.DataFrame:
        """Return the correlations of these genes."""
        return self.expression[list(genes)].corr()


def chapter(runs: Sequence[Stored]) -> Chapter:
    """Return the section on the application."""
    import pandas as pd

    from fantope.coexpression.figures import plot_comparison, plot_modules

    found, config = runs[0].result, runs[0].config
    groups = {
        name: Shown(
            pd.DataFrame(found["genes"][name]),
            pd.DataFrame(found["expression"][name], columns=found["expression_genes"]),
        )
        for name in (CASE, CONTROL)
    }
    mine, other = groups[CASE].genes, groups[CONTROL].genes
    specific = list(mine["gene"][~mine["gene"].isin(other["gene"])])
    # The paper's figure 6 shows the genes that only the cases use: leave the controls' own out.
    only = {CONTROL: Shown(other[other["gene"].isin(mine["gene"])], groups[CONTROL].expression), CASE: groups[CASE]}
    result = cast("Coexpression", SimpleNamespace(groups=groups))
    narrowed = cast("Coexpression", SimpleNamespace(groups=only))
    table = found["cross_table"]
    rows = [[name, *counts] for name, counts in zip(table["rows"], table["counts"], strict=True)]
    active, p = found["active"], found["n_genes"]
    genes = "" if config["n_genes"] is None else ", those that vary most"
    page = Chapter("The application (figures 5 and 6), on a stand-in")
    page.add(
        "The paper's study (258 schizophrenia and 279 control subjects, 16,423 genes) is not public. **What "
        f"follows is a stand-in**: kidney RNA-seq, {found['samples'][CASE]} tumours (the cases) and "
        f"{found['samples'][CONTROL]} normal samples (the controls), {p} expressed genes{genes}. It shows the "
        "method at the paper's scale; it cannot confirm or contradict findings about schizophrenia. The "
        f"procedure is the paper's: correlations, d = {config['d']}, the λ common to both groups that maximises "
        f"the overlap of active sets of {config['min_genes']} to {config['max_genes']} genes, and "
        f"{config['n_modules']} clusters of the cases' genes by their loadings.",
        f"Chosen λ = {found['alpha']:g}: {active[CASE]} active genes in the cases, {active[CONTROL]} in the "
        f"controls, {found['common']} in both, overlap {found['overlap']:.2f} (the paper: λ = 0.85, 185, 292, "
        "114, overlap 0.31). All solutions are certified over all genes to a relative gap of "
        f"{number(found['gaps_worst'], 2)}.",
        Picture(
            "application_modules",
            "As figure 5: correlations and loadings of the cases' active genes.",
            plot_modules(result, CASE, basis="pc"),
        ),
        Picture(
            "application_comparison",
            "As figure 6: the genes that only the cases use, in the controls and in the cases.",
            plot_comparison(narrowed, CONTROL, CASE),
        ),
        "Our modules (rows) against WGCNA modules of the same group (columns), as in the paper's cross table:",
        Table(["module", *table["columns"]], rows),
    )
    _modules(page, found, groups[CASE])
    _labels(page, found["cross_table"])
    if len(specific) > 3:
        _comparison(page, {name: _off(group.correlation(specific)) for name, group in groups.items()}, len(specific))
    return page


def _off(matrix: pd.DataFrame) -> Array:
    return np.asarray(matrix.to_numpy(dtype=float)[np.triu_indices(len(matrix), 1)])


def _modes(values: Array) -> list[float]:
    """Return where a smooth density of the correlations has its peaks, those of at least a tenth of the highest."""
    grid = np.linspace(-1.0, 1.0, 201)
    density = np.asarray(gaussian_kde(values)(grid))
    peaks, _ = find_peaks(density, height=0.1 * float(density.max()), prominence=0.02 * float(density.max()))
    return [float(grid[k]) for k in peaks]


def _modules(page: Chapter, found: dict[str, Any], case: Shown) -> None:
    genes = found["genes"][CASE]
    values = case.correlation([row["gene"] for row in genes]).to_numpy(dtype=float)
    labels = np.array([row["module"] for row in genes])
    same = labels[:, None] == labels
    upper = np.triu(np.ones(same.shape, bool), 1)
    within, between = float(values[upper & same].mean()), float(values[upper & ~same].mean())
    page.claim(
        "6, figure 5 (stand-in)",
        "The active genes form modules that the loadings reflect.",
        f"{len(found['modules'])} modules; mean correlation {within:.2f} within and {between:.2f} between them",
        [within > 0.5, within - between > 0.2],
    )


def _labels(page: Chapter, cross: dict[str, Any]) -> None:
    rows = cross["purity"]
    shares = ", ".join(f"{row['module']} {row['purity']:.2f} {row['label']}" for row in rows)
    assigned = [row["label"] for row in rows if row["label"] != UNASSIGNED]
    split = sorted({label for label in assigned if assigned.count(label) > 1})
    inside, outside = (_cohesion(cross["cohesion"], ours) for ours in (True, False))
    page.claim(
        "6, table 1 (stand-in)",
        "The modules are well aligned with WGCNA's.",
        f"largest share of each module's genes in one WGCNA module: {shares} ({UNASSIGNED} is WGCNA's word for no "
        f"module); adjusted Rand index {number(cross['adjusted_rand'])}",
        [row["purity"] >= PURE and row["label"] != UNASSIGNED for row in rows],
    )
    page.claim(
        "6, table 1 (stand-in)",
        "Our modules are smaller than WGCNA's and correlate more strongly within.",
        f"mean size {inside[1]:.0f} against {outside[1]:.0f} genes, mean correlation within {inside[0]:.2f} "
        f"against {outside[0]:.2f}",
        [inside[1] < outside[1], inside[0] > outside[0]],
    )
    page.claim(
        "6, table 1 (stand-in)",
        "Our modules show sub-structure within large WGCNA modules.",
        f"WGCNA modules that hold several of ours: {', '.join(split) or 'none'}",
        [bool(split)],
    )


def _comparison(page: Chapter, correlations: dict[str, Array], n_genes: int) -> None:
    case, control = correlations[CASE], correlations[CONTROL]
    modes = {name: _modes(each) for name, each in correlations.items()}
    texts = {name: ", ".join(f"{mode:.2f}" for mode in each) for name, each in modes.items()}
    sizes = float(np.abs(case).mean()), float(np.abs(control).mean())
    spread = float(case.std()), float(control.std())
    first = modes[CASE][0], modes[CONTROL][0]
    page.claim(
        "6, figure 6 (stand-in)",
        "On genes that only the cases use, the correlations have two modes in both groups.",
        f"{n_genes} genes; peaks of the density at {texts[CASE]} in the cases, {texts[CONTROL]} in the controls",
        [len(each) == 2 for each in modes.values()],
    )
    page.claim(
        "6, figure 6 (stand-in)",
        "There they are more extreme in the cases.",
        f"mean of |correlation| {sizes[0]:.2f} in the cases against {sizes[1]:.2f} in the controls, standard "
        f"deviation {spread[0]:.2f} against {spread[1]:.2f}",
        [sizes[0] > sizes[1], spread[0] > spread[1]],
    )
    page.claim(
        "6, figure 6 (stand-in)",
        "Small positive correlations between modules in the controls are negative in the cases.",
        f"lowest peak at {first[0]:.2f} in the cases, {first[1]:.2f} in the controls",
        [first[0] < 0.0 < first[1]],
    )


def _cohesion(rows: Sequence[dict[str, Any]], ours: bool) -> tuple[float, float]:
    """Return mean correlation within modules and mean size, over the modules of one method that have both."""
    part = [
        row
        for row in rows
        if (row["method"] != OTHER) == ours and row["mean_correlation"] is not None and row["module"] != UNASSIGNED
    ]
    if not part:
        return float("nan"), float("nan")
    return float(np.mean([row["mean_correlation"] for row in part])), float(np.mean([row["n_genes"] for row in part]))
