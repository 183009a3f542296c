"""Section 6 on other data: the study of the paper is not public, kidney RNA-seq stands in for it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fantope.events import Event
from fantope.paper.base import Config, Report, Skipped
from fantope.paper.experiments.common import plain

if TYPE_CHECKING:
    import pandas as pd

    from fantope.coexpression import Coexpression

FILE, LABELS = "kidney_rnaseqdb.npz", "kidney_wgcna_labels.csv"
CASE, CONTROL = "tumour", "normal"
OTHER = "WGCNA"  # the other labelling of the genes


@dataclass(frozen=True)
class Application(Config):
    """The analysis of section 6, with the components, clusters and limits on the active sets of the paper."""

    d: int = 5
    n_modules: int = 5
    alphas: tuple[float, ...] | None = None  # by default those of fantope.coexpression.analyse
    n_genes: int | None = None  # to keep, those that vary most; all by default
    min_genes: int = 50
    max_genes: int = 300

    @property
    def label(self) -> str:
        """Name of the run."""
        return "kidney" if self.n_genes is None else f"kidney-{self.n_genes}"


def data_folder() -> Path:
    """Return where the data are: the folder that FANTOPE_DATA names."""
    folder = Path(os.environ.get("FANTOPE_DATA", ""))
    if (folder / FILE).is_file():
        return folder
    raise Skipped(f"{FILE} is not there; set FANTOPE_DATA to the folder that holds it and {LABELS}")


def run(config: Application, report: Report) -> dict[str, Any]:
    """Analyse both groups and keep what figures 5 and 6 and the cross table show."""
    folder = data_folder()
    try:
        import pandas as pd

        from fantope.coexpression import analyse
    except ImportError as error:
        raise Skipped(f"{error.name or 'a package'} is not installed; install fantope[expression]") from error
    expression, groups = _kidney(folder, config.n_genes, pd)
    labels = pd.read_csv(folder / LABELS).drop_duplicates("symbol").set_index("symbol")
    steps = 0

    def progress(event: Event) -> None:
        nonlocal steps
        steps += 1
        report(steps / (steps + 5), str(event))

    found = analyse(
        expression,
        groups,
        n_components=config.d,
        alphas=None if config.alphas is None else list(config.alphas),
        min_genes=config.min_genes,
        max_genes=config.max_genes,
        n_modules=config.n_modules,
        labels={OTHER: labels[f"{CASE}_color"]},
        permutations=0,
        progress=progress,
    )
    return _kept(found, groups)


def _kidney(folder: Path, n_genes: int | None, pd: Any) -> tuple[pd.DataFrame, pd.Series[str]]:
    """Return log₂(CPM + 1) of genes above 1 CPM in half of the samples; tumours and the normals of their cohort."""
    z = np.load(folder / FILE, allow_pickle=False)
    counts = z["counts"].astype(float)
    cpm = counts / counts.sum(0) * 1e6
    kept = (cpm > 1.0).mean(1) >= 0.5
    rows = (z["group"] == "tumour") | ((z["cohort"] == "TCGA-KIRC") & (z["group"] == "normal"))
    X, symbols = np.log2(cpm[kept] + 1).T[rows], z["symbol"][kept]
    _, first = np.unique(symbols, return_index=True)
    first = np.sort(first)
    X, symbols = X[:, first], symbols[first]
    if n_genes is not None:
        most = np.sort(np.argsort(-X.var(axis=0))[:n_genes])
        X, symbols = X[:, most], symbols[most]
    names = [f"sample{k}" for k in range(len(X))]
    return pd.DataFrame(X, index=names, columns=symbols), pd.Series(z["group"][rows].astype(str), index=names)


def _kept(found: Coexpression, groups: pd.Series[str]) -> dict[str, Any]:
    case = found.groups[CASE]
    table = case.cross_tables[0]
    chosen = found.selection[found.selection["chosen"]].iloc[0]
    names = (CASE, CONTROL)
    return {
        "samples": {name: int((groups == name).sum()) for name in names},
        "n_genes": len(found.gene_names),
        "alpha": found.alpha,
        "active": {name: len(found.groups[name].genes) for name in names},
        "common": len(found.common),
        "overlap": float(chosen["overlap"]),
        "gaps_worst": max(float(gap) for name in names for gap in found.groups[name].path.gaps),
        "modules": [str(name) for name in case.modules["module"]],
        "genes": {name: _records(found.groups[name].genes) for name in names},
        "expression_genes": [str(gene) for gene in case.expression.columns],
        "expression": {name: plain(found.groups[name].expression.to_numpy(), 5) for name in names},
        "cross_table": {
            "columns": [str(name) for name in table.counts.columns],
            "rows": [str(name) for name in table.counts.index],
            "counts": [[int(cell) for cell in row] for row in table.counts.to_numpy()],
            "adjusted_rand": plain(table.adjusted_rand, 4),
            "purity": _records(table.purity),
            "cohesion": _records(table.cohesion),
        },
    }


def _records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values."""
    return [{str(key): plain(value, 6) for key, value in row.items()} for row in table.to_dict("records")]
