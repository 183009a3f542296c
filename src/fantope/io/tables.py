"""Results as tidy, tab-separated tables: one row for one observation."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fantope.path import Path as SolutionPath
from fantope.solvers import Solution
from fantope.typing import Array


def spreadsheet_name(name: str) -> str:
    """Return a name as tables hold it: with an apostrophe before what a spreadsheet would run as a formula.

    That is text, not a number, that begins with ``=``, ``+``, ``-`` or ``@``. Names that begin with an apostrophe get
    one more, so that taking one away, :func:`original_name`, always gives the name back.

    Examples
    --------
    >>> [spreadsheet_name(name) for name in ("=1+1", "-x", "-1.5", "'a", "gene")]
    ["'=1+1", "'-x", '-1.5', "''a", 'gene']
    """
    if not name.startswith(("=", "+", "-", "@", "'")):
        return name
    try:
        float(name)
    except ValueError:
        return "'" + name
    return name


def original_name(written: str) -> str:
    """Return the name that :func:`spreadsheet_name` wrote as ``written``.

    Examples
    --------
    >>> [original_name(cell) for cell in ("'=1+1", "-1.5", "''a", "gene")]
    ['=1+1', '-1.5', "'a", 'gene']
    """
    return written.removeprefix("'")


def cell(value: Any) -> Any:
    """Return a value as a table has it: names that no spreadsheet takes for a formula, floats of Python."""
    if isinstance(value, str):
        return spreadsheet_name(value)
    return float(value) if isinstance(value, np.floating) else value


def write_table(file: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a .tsv file; numbers keep all their digits, names are :func:`spreadsheet_name`."""
    with file.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle, delimiter="\t", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(map(cell, row) for row in rows)


def write_fit(folder: Path, solution: Solution, variables: Sequence[str], total: float) -> None:
    """Write loadings, support and components of one solution; ``total`` is the trace of S."""
    write_table(folder / "loadings.tsv", ("variable", "component", "loading"), _rows(solution.components, variables))
    leverage, verdicts = solution.projection.diagonal(), solution.verdicts()
    lower, upper = solution.leverage_bounds()
    write_table(
        folder / "support.tsv",
        ("variable", "index", "leverage", "leverage_at_least", "leverage_at_most", "proven"),
        ((variables[j], int(j), leverage[j], lower[j], upper[j], str(verdicts[j])) for j in solution.support),
    )
    write_table(
        folder / "components.tsv",
        ("component", "explained_variance", "share", "n_variables"),
        _components(solution, total),
    )
    basis, variances = solution.loadings("sparse").T, solution.loading_variances("sparse")
    write_table(
        folder / "sparse_loadings.tsv",
        ("variable", "component", "loading", "component_variance"),
        ((name, k, loading, float(variances[k - 1])) for name, k, loading in _rows(basis, variables)),
    )


def _rows(basis: Array, variables: Sequence[str]) -> Iterable[tuple[str, int, float]]:
    for k, row in enumerate(basis, start=1):
        for j in np.flatnonzero(row).tolist():
            yield variables[j], k, float(row[j])


def _components(solution: Solution, total: float) -> Iterable[tuple[int, float, float, int]]:
    pairs = zip(solution.explained_variance, solution.components, strict=True)
    for k, (variance, row) in enumerate(pairs, start=1):
        share = float(variance) / total if total > 0 else 0.0
        yield k, float(variance), share, int(np.count_nonzero(row))


def write_scores(folder: Path, scores: Array, samples: Sequence[str]) -> None:
    """Write one row a sample and one column a component."""
    columns = ("sample", *(f"component_{k + 1}" for k in range(scores.shape[1])))
    rows = ((name, *map(float, row)) for name, row in zip(samples, scores, strict=True))
    write_table(folder / "scores.tsv", columns, rows)


def write_dropped(folder: Path, dropped: Sequence[tuple[str, str]]) -> None:
    """Write which variables were left out, and why; nothing if there are none."""
    if dropped:
        write_table(folder / "dropped.tsv", ("variable", "reason"), dropped)


def write_path(folder: Path, path: SolutionPath, variables: Sequence[str], total: float, names: Sequence[str]) -> None:
    """Write the path, the leverages, loadings and components along it; ``names`` are the solutions' folders."""
    write_table(
        folder / "path.tsv",
        ("alpha", "n_variables", "explained_variance", "share", "objective", "dual_bound", "gap", "is_projection",
         "n_iter", "status", "solution"),
        (
            (s.alpha, len(s.support), variance, variance / total if total > 0 else 0.0, s.objective, s.dual_bound,
             s.gap, s.is_projection, s.n_iter, s.status.name, name)
            for s, variance, name in zip(path, map(float, path.explained_variance), names, strict=True)
        ),
    )  # fmt: skip
    write_table(
        folder / "leverages.tsv",
        ("alpha", "variable", "leverage"),
        ((s.alpha, variables[j], x) for s in path for j, x in _leverages(s)),
    )
    write_table(
        folder / "loadings.tsv",
        ("alpha", "variable", "component", "loading"),
        ((s.alpha, *row) for s in path for row in _rows(s.components, variables)),
    )
    write_table(
        folder / "components.tsv",
        ("alpha", "component", "explained_variance", "share", "n_variables"),
        ((s.alpha, *row) for s in path for row in _components(s, total)),
    )


def _leverages(solution: Solution) -> Iterable[tuple[int, float]]:
    diagonal = solution.projection.diagonal()
    return ((int(j), float(diagonal[j])) for j in solution.support)
