"""`fantope path`: sparse components of a data file over a range of penalties, each certified."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from fantope.cli._data import (
    PathProgress,
    check_kind,
    problem_options,
    problem_parameters,
    read_operator,
    reading_options,
    take_reading,
)
from fantope.cli._penalty import penalty_options, read_penalty
from fantope.cli.console import NOT_REACHED, OK, Talk, talk_options
from fantope.io.folder import result_folder

if TYPE_CHECKING:
    from fantope.io import Dataset
    from fantope.operators import Covariance
    from fantope.path import Path as SolutionPath

COMMAND = "fantope path"
MOST = 10_000  # alphas; more is a slip of the step


def parse_alphas(text: str) -> list[float]:
    """Return the penalties that "start:stop:step" (both ends included) or "a,b,c" stands for."""
    try:
        if ":" not in text:
            return [float(part) for part in text.split(",")]
        start, stop, step = (float(part) for part in text.split(":"))
        count = (stop - start) / step
        if not 0 <= count < MOST:
            raise ValueError
        # Rounded, so that 0.85 + 7 × 0.01 is 0.92; the hair's breadth keeps a stop that rounding would miss.
        return [round(start + k * step, 12) for k in range(int(count + 1e-9) + 1)]
    except (ValueError, ZeroDivisionError, OverflowError):
        raise click.BadParameter(
            f"{text!r} is neither start:stop:step nor a list like 0.9,0.8 of at most {MOST:,} numbers; for example "
            "0.85:0.95:0.01.",
            param_hint="--alphas",
        ) from None


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("--alphas", metavar="GRID", help="start:stop:step with both ends, or a,b,c.  [default: automatic]")
@click.option(
    "--n-alphas", type=click.IntRange(min=1), default=30, show_default=True, help="Size of an automatic grid."
)
@click.option(
    "--max-variables", type=click.IntRange(min=1),
    help="Stop before a solution with more.  [default: 500 for an automatic grid, else no limit]",
)  # fmt: skip
@penalty_options
@problem_options(tol=1e-3)
@reading_options
@talk_options
def path(data: Path, alphas: str | None, out: Path, quiet: bool, as_json: bool, **options: Any) -> int:
    """Find sparse components of DATA over a range of penalties and certify each.

    DATA is .csv, .tsv (also .gz), .parquet, .npy, .npz, .h5ad or .zarr; rows are samples. OUT is a folder with tables,
    figures, a certificate for each penalty, and run.json; `fantope verify OUT` checks it again. Ctrl-C writes what has
    been solved.

    Example: fantope path expression.csv -d 5 --alphas 0.85:0.95:0.01 --kind correlation -o path
    """
    talk = Talk(quiet=quiet, json=as_json)
    reading = take_reading(options)
    check_kind(options["kind"], options["no_center"], reading)
    grid = None if alphas is None else parse_alphas(alphas)
    from fantope.io.certificates import of_operator
    from fantope.io.results import write_record, write_solution

    with result_folder(out, command=COMMAND, replace=options["overwrite"]) as folder:
        began = time.perf_counter()
        # Two lines a penalty, one when its first certificate is known and one when it is nearly done.
        count = options["n_alphas"] if grid is None else len(set(grid))
        with talk.progress("path", lines=2 * count) as report:
            report(-1.0, f"reading {data.name}")
            table, S = read_operator(data, reading, options)
            read_at = time.perf_counter()
            found = _solve(S, table, grid, options, PathProgress(report, count, options["tol"]))
            solved_at = time.perf_counter()
        names = [f"solutions/{k:0{len(str(len(found)))}d}" for k in range(len(found))]
        _write(folder, found, names, S, table, options)
        own = {"alphas": grid, "n_alphas": options["n_alphas"], "max_variables": options["max_variables"]}
        record = write_record(
            folder, COMMAND, table, out, reading, own | problem_parameters(options),
            [write_solution(folder, name, solution) for solution, name in zip(found, names, strict=True)],
            matrices=of_operator(folder, S, reading),
            interrupted=found.interrupted,
            seconds={"reading": read_at - began, "solving": solved_at - read_at},
        )  # fmt: skip
    cut = grid is not None and options["max_variables"] is None and len(found) < len(set(grid))
    reached = not found.interrupted and not cut and all(solution.status.name == "SOLVED" for solution in found)
    talk.say(_table(found))
    talk.say(_closing(found, table, out))
    talk.result({"out": str(out), **{key: record[key] for key in ("interrupted", "solutions", "input", "seconds")}})
    return OK if reached else NOT_REACHED


def _solve(
    S: Covariance, table: Dataset, grid: list[float] | None, options: dict[str, Any], progress: PathProgress
) -> SolutionPath:
    from fantope.path import solve_path

    return solve_path(
        S, options["n_components"], grid, penalty=read_penalty(options, table),
        n_alphas=options["n_alphas"], max_variables=options["max_variables"],
        tol=options["tol"], max_iter=options["max_iter"], solver=options["solver"],
        callback=progress,
    )  # fmt: skip


def _write(
    folder: Path, found: SolutionPath, names: list[str], S: Covariance, table: Dataset, options: dict[str, Any]
) -> None:
    from fantope.io.tables import write_dropped, write_path

    write_path(folder, found, table.variables, float(S.diagonal().sum()), names)
    write_dropped(folder, table.dropped)
    if not options["no_figures"]:
        _draw(folder / "figures", found, table, options["tol"])


def _draw(folder: Path, found: SolutionPath, table: Dataset, tol: float) -> None:
    from fantope.plotting import plot_explained_variance, plot_leverages, plot_path_gaps, plot_top_loadings
    from fantope.plotting.style import save_figure

    variables, leverages = found.leverages()
    names = [table.variables[j] for j in variables]
    save_figure(plot_leverages(found.alphas, leverages, names=names).figure, folder, "leverages")
    save_figure(plot_explained_variance(found.n_active, found.explained_variance, found.alphas).figure, folder,
                "explained_variance")  # fmt: skip
    save_figure(plot_path_gaps(found.alphas, found.gaps, tol=tol).figure, folder, "gap")
    save_figure(plot_top_loadings(found[-1].components, table.variables), folder, "loadings")


def _table(found: SolutionPath) -> Table:
    table = Table(title="Certified solutions")
    for name in ("alpha", "variables", "variance", "gap", "status"):
        table.add_column(name, justify="left" if name == "status" else "right")
    for solution, variance in zip(found, found.explained_variance, strict=True):
        table.add_row(
            f"{solution.alpha:.5g}", str(len(solution.support)), f"{variance:.4g}", f"{solution.gap:.1e}",
            solution.status.name.lower(),
        )  # fmt: skip
    return table


def _closing(found: SolutionPath, table: Dataset, out: Path) -> str:
    lines = []
    if table.dropped:
        lines.append(f"{len(table.dropped)} variables were left out; dropped.tsv names them.")
    if found.interrupted:
        lines.append(f"Interrupted after {len(found)} penalties; what has been solved is written.")
    for status in {solution.status for solution in found if solution.status.name not in ("SOLVED", "INTERRUPTED")}:
        lines.append(f"{status.name}: {status}.")
    lines.append(f"Written to {out}; check it at any time with: fantope verify {out}")
    return "\n".join(lines)
