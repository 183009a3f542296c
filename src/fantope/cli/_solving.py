"""What `fantope fit` and `fantope path` do: read, solve, write, and say what came out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from fantope.cli._data import PathProgress, fit_progress
from fantope.cli._penalty import read_penalty
from fantope.cli.console import NOT_REACHED, OK, Talk
from fantope.cli.fit import TARGETS
from fantope.errors import need
from fantope.io import Dataset, Reading, operator, read
from fantope.io.certificates import of_operator
from fantope.io.covariances import making
from fantope.io.folder import result_folder
from fantope.io.results import write_record, write_solution
from fantope.io.tables import write_dropped, write_fit, write_path, write_scores
from fantope.operators import Covariance
from fantope.path import Path as SolutionPath
from fantope.path import solve_for_norm, solve_for_size, solve_for_variance, solve_path
from fantope.penalties import L1, Concave, Penalty
from fantope.plotting import (
    plot_convergence,
    plot_explained_variance,
    plot_leverages,
    plot_path_gaps,
    plot_top_loadings,
)  # fmt: skip
from fantope.plotting.style import save_figure
from fantope.solvers import Solution, solve
from fantope.solvers.validation import check_n_components

Options = dict[str, Any]
Report = Callable[[float, str], None]
# What was found, what run.json says besides, and the solutions by the folders they go to.
Found = tuple[Any, dict[str, Any], Iterable[tuple[str, Solution]]]


def run_fit(data: Path, out: Path, options: Options, target: tuple[str, float] | None, talk: Talk) -> int:
    """Solve for one penalty, or for one that meets a target, and return the exit code."""

    def solved(S: Covariance, table: Dataset, report: Report) -> Found:
        solution, extra = _fit(S, table, target, options, report)
        return solution, extra, [(".", solution)]

    own = {"alpha": options["alpha"], "target": target and dict([target])}
    solution, notes, record = _run("fantope fit", data, out, options, own, talk, solved, _write_fit)
    constrained = {key: record[key] for key in ("constrained",) if key in record}
    talk.say(solution.summary())
    notes += [
        f"With ‖X‖₁ ≤ {found['bound']:g} (reached: {found['norm']:.6g}), ⟨S, X⟩ = {found['objective']:.8g}; "
        f"no such X exceeds {found['dual_bound']:.8g}."
        for found in constrained.values()
    ]
    talk.say(_closing(notes, out))
    reported = {key: value for key, value in record["solutions"][0].items() if key != "folder"}
    talk.result({"out": str(out), **reported, **constrained, **{key: record[key] for key in ("input", "seconds")}})
    return OK if solution.status.name == "SOLVED" else NOT_REACHED


def run_path(data: Path, out: Path, options: Options, grid: list[float] | None, talk: Talk) -> int:
    """Solve for a range of penalties and return the exit code."""
    count = options["n_alphas"] if grid is None else len(set(grid))

    def solved(S: Covariance, table: Dataset, report: Report) -> Found:
        settings = {name: options[name] for name in ("n_alphas", "max_variables", "tol", "max_iter", "solver")}
        penalty, progress = read_penalty(options, table), PathProgress(report, count, options["tol"])
        found = solve_path(S, options["n_components"], grid, penalty=penalty, callback=progress, **settings)
        return found, {"interrupted": found.interrupted}, zip(_places(found), found, strict=True)

    own = {"alphas": grid, "n_alphas": options["n_alphas"], "max_variables": options["max_variables"]}
    # Two lines a penalty, one when its first certificate is known and one when it is nearly done.
    found, notes, record = _run("fantope path", data, out, options, own, talk, solved, _write_path, lines=2 * count)
    cut = grid is not None and options["max_variables"] is None and len(found) < count
    reached = not found.interrupted and not cut and all(solution.status.name == "SOLVED" for solution in found)
    talk.say(_table(found))
    notes += [f"Interrupted after {len(found)} penalties; what has been solved is written."] * found.interrupted
    missed = {solution.status for solution in found if solution.status.name not in ("SOLVED", "INTERRUPTED")}
    talk.say(_closing([*notes, *(f"{status.name}: {status}." for status in missed)], out))
    talk.result({"out": str(out), **{key: record[key] for key in ("interrupted", "solutions", "input", "seconds")}})
    return OK if reached else NOT_REACHED


def _run(
    command: str, data: Path, out: Path, options: Options, own: dict[str, Any], talk: Talk,
    solved: Callable[[Covariance, Dataset, Report], Found],
    write: Callable[[Path, Any, Covariance, Dataset, Options], None], *, lines: int = 10,
) -> tuple[Any, list[str], dict[str, Any]]:  # fmt: skip
    """Read, solve and write; return what was found, sentences on the data, and what run.json says."""
    reading = Reading(**{field.name: options[field.name] for field in fields(Reading)})
    if not options["no_figures"]:  # before the long work, not after it
        need("matplotlib", "plot", "drawing figures")
    with result_folder(out, command=command, replace=options["overwrite"]) as folder:
        began = time.perf_counter()
        with talk.progress(command.split()[-1], lines=lines) as report:
            report(-1.0, f"reading {data.name}")
            center = not options["no_center"]
            table, S = operator(read(data, reading), options["kind"], center=center, **making(reading))
            read_at = time.perf_counter()
            found, extra, solutions = solved(S, table, report)
            seconds = {"reading": read_at - began, "solving": time.perf_counter() - read_at}
        write(folder, found, S, table, options)
        write_dropped(folder, table.dropped)
        weights = options["weights"]
        parameters = {
            **own,
            **{name: options[name] for name in ("n_components", "kind", "tol", "max_iter", "solver")},
            "center": center, "weights": None if weights is None else weights.name, "penalty": options["penalty"],
        }  # fmt: skip
        written = [write_solution(folder, place, solution) for place, solution in solutions]
        matrices = of_operator(folder, S, reading)
        record = write_record(
            folder, command, table, out, reading, parameters, written, matrices=matrices, **extra, seconds=seconds
        )
    notes = []
    if hasattr(S, "fewest_pairs"):
        notes.append(f"Every entry of S rests on at least {S.fewest_pairs} samples that have both variables.")
    if table.dropped:
        notes.append(f"{len(table.dropped)} variables were left out; dropped.tsv names them.")
    return found, notes, record


def _fit(
    S: Covariance, table: Dataset, target: tuple[str, float] | None, options: Options, report: Report
) -> tuple[Solution, dict[str, Any]]:
    """Return the solution and what run.json says besides."""
    d, tol = check_n_components(options["n_components"], S.size), options["tol"]
    shape = read_penalty(options, table)
    if target is None:
        asked = {"solver": options["solver"], "tol": tol, "max_iter": options["max_iter"]}
        penalty, init = _with_alpha(S, d, shape, options, asked)
        return solve(S, d, penalty, init=init, callback=fit_progress(report, penalty.alpha, tol), **asked), {}
    name, value = target
    report(0.0, f"searching for the penalty that meets {TARGETS[name]} {value:g}")
    if name == "n_variables":
        return solve_for_size(S, d, int(value), penalty=shape, tol=tol), {}
    if name == "variance":
        return solve_for_variance(S, d, value, penalty=shape, tol=tol), {}
    found = solve_for_norm(S, d, value, tol=tol)
    bound = found.solution.dual_bound + found.solution.alpha * value
    return found.solution, {
        # Of max ⟨S, X⟩ over ‖X‖₁ ≤ bound, from this solution alone, so that it can be checked again.
        "constrained": {"bound": value, "norm": found.norm, "objective": found.objective, "dual_bound": bound}
    }


def _with_alpha(
    S: Covariance, d: int, shape: Penalty | Concave | None, options: Options, asked: dict[str, Any]
) -> tuple[Penalty | Concave, Solution | None]:
    """Return the penalty with its alpha, given or from the data, and the start that a concave one has it from."""
    shape, alpha = shape or L1(0.0), options["alpha"]
    if alpha is not None:
        return shape.scaled(alpha), None
    if options["kind"] == "precomputed":
        raise click.UsageError("give the penalty with -a: a precomputed S does not hold the number of samples.")
    from fantope.estimators.moments import precomputed_moments  # with scikit-learn: only where it is needed
    from fantope.estimators.penalty import default_alpha, default_concave

    if isinstance(shape, Concave):
        return default_concave(precomputed_moments(S), d, shape, **asked)
    return shape.scaled(default_alpha(precomputed_moments(S), d)), None


def _write_fit(folder: Path, solution: Solution, S: Any, table: Dataset, options: Options) -> None:
    write_fit(folder, solution, table.variables, float(S.diagonal().sum()))
    if getattr(S, "n_samples", None) == table.shape[0]:  # not of pairs of samples
        # The data, centred and scaled as in S, times the components.
        weights = solution.components / S.scale
        write_scores(folder, S.columns.times(weights.T) - weights @ S.mean, table.samples)
    if not options["no_figures"]:
        figures = folder / "figures"
        _draw_loadings(figures, solution, table)
        save_figure(plot_convergence(solution, tol=options["tol"]).figure, figures, "gap")


def _draw_loadings(figures: Path, solution: Solution, table: Dataset) -> None:
    bases = {"loadings": solution.components, "sparse_loadings": solution.loadings("sparse").T}
    for name, rows in bases.items():
        save_figure(plot_top_loadings(rows, table.variables), figures, name)


def _places(found: SolutionPath) -> list[str]:
    return [f"solutions/{k:0{len(str(len(found)))}d}" for k in range(len(found))]


def _write_path(folder: Path, found: SolutionPath, S: Covariance, table: Dataset, options: Options) -> None:
    write_path(folder, found, table.variables, float(S.diagonal().sum()), _places(found))
    if options["no_figures"]:
        return
    variables, leverages = found.leverages()
    names = [table.variables[j] for j in variables]
    variance = plot_explained_variance(found.n_active, found.explained_variance, found.alphas)
    for name, figure in (
        ("leverages", plot_leverages(found.alphas, leverages, names=names).figure),
        ("explained_variance", variance.figure),
        ("gap", plot_path_gaps(found.alphas, found.gaps, tol=options["tol"]).figure),
    ):
        save_figure(figure, folder / "figures", name)
    _draw_loadings(folder / "figures", found[-1], table)


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


def _closing(lines: list[str], out: Path) -> str:
    return "\n".join([*lines, f"Written to {out}; check it at any time with: fantope verify {out}"])
