"""`fantope fit`: sparse components of a data file, with a certificate that can be checked again."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fantope.cli._data import (
    FitProgress,
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
    from fantope.penalties import Concave, Penalty
    from fantope.solvers import Solution

COMMAND = "fantope fit"
TARGETS = {"n_variables": "--n-variables", "norm": "--norm", "variance": "--variance"}


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-a", "--alpha", type=float, help="Penalty.  [default: from the data, as SparsePCA's]")
@click.option("--n-variables", type=int, metavar="K", help="Instead of -a: about K variables.")
@click.option("--norm", type=float, metavar="S", help="Instead of -a: ‖X‖₁ at most S.")
@click.option("--variance", type=float, metavar="Q", help="Instead of -a: at least the share Q of PCA's variance.")
@penalty_options
@problem_options(tol=1e-4)
@reading_options
@talk_options
def fit(data: Path, out: Path, quiet: bool, as_json: bool, **options: Any) -> int:
    """Find sparse components of DATA and certify them.

    DATA is .csv, .tsv (also .gz), .parquet, .npy, .npz, .h5ad or .zarr; rows are samples. OUT is a folder with tables,
    figures, the sparse projection, its certificate, and run.json; `fantope verify OUT` checks it again.

    Example: fantope fit expression.csv -d 5 -a 0.85 --kind correlation -o fit
    """
    talk = Talk(quiet=quiet, json=as_json)
    reading = take_reading(options)
    check_kind(options["kind"], options["no_center"], reading)
    target = _target(options)
    from fantope.io.certificates import of_operator
    from fantope.io.results import write_record, write_solution

    with result_folder(out, command=COMMAND, replace=options["overwrite"]) as folder:
        began = time.perf_counter()
        with talk.progress("fit") as report:
            report(-1.0, f"reading {data.name}")
            table, S = read_operator(data, reading, options)
            read_at = time.perf_counter()
            solution, extra = _solve(S, table, target, options, report)
            solved_at = time.perf_counter()
        _write(folder, solution, S, table, options)
        record = write_record(
            folder, COMMAND, table, out, reading,
            {"alpha": options["alpha"], "target": target and dict([target]), **problem_parameters(options)},
            [write_solution(folder, ".", solution)],
            matrices=of_operator(folder, S, reading),
            **extra,
            seconds={"reading": read_at - began, "solving": solved_at - read_at},
        )  # fmt: skip
    talk.say(solution.summary())
    if hasattr(S, "fewest_pairs"):
        talk.say(f"Every entry of S rests on at least {S.fewest_pairs} samples that have both variables.")
    talk.say(_closing(extra, table, out))
    reported = {key: value for key, value in record["solutions"][0].items() if key != "folder"}
    talk.result({"out": str(out), **reported, **extra, "input": record["input"], "seconds": record["seconds"]})
    return OK if solution.status.name == "SOLVED" else NOT_REACHED


def _target(options: dict[str, Any]) -> tuple[str, float] | None:
    """Return the target that stands in for alpha, if there is one."""
    given = [name for name in TARGETS if options[name] is not None]
    if len(given) + (options["alpha"] is not None) > 1:
        raise click.UsageError(f"give only one of -a, {', '.join(TARGETS.values())}.")
    if not given:
        return None
    for name in ("weights", "penalty"):
        if options[name] is not None and given[0] == "norm":
            raise click.UsageError(f"--norm bounds ‖X‖₁, without weights; leave out --{name}, or give -a.")
    for name in ("max_iter", "solver"):
        if options[name] not in (None, "auto"):
            raise click.UsageError(
                f"--{name.replace('_', '-')} goes with -a, not with {TARGETS[given[0]]}; leave one of them out."
            )
    return given[0], options[given[0]]


def _solve(
    S: Covariance, table: Dataset, target: tuple[str, float] | None, options: dict[str, Any], report: Any
) -> tuple[Solution, dict[str, Any]]:
    """Return the solution and what run.json says besides."""
    from fantope.path import solve_for_norm, solve_for_size, solve_for_variance
    from fantope.solvers import solve
    from fantope.solvers.validation import check_n_components

    d, tol = check_n_components(options["n_components"], S.size), options["tol"]
    shape = read_penalty(options, table)
    if target is None:
        asked = {"solver": options["solver"], "tol": tol, "max_iter": options["max_iter"]}
        penalty, init = _with_alpha(S, d, shape, options, asked)
        progress = FitProgress(report, penalty.alpha, tol)
        return solve(S, d, penalty, init=init, callback=progress, **asked), {}
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
    S: Covariance, d: int, shape: Penalty | Concave | None, options: dict[str, Any], asked: dict[str, Any]
) -> tuple[Penalty | Concave, Solution | None]:
    """Return the penalty with its alpha, given or from the data, and the start that a concave one has it from."""
    from fantope.penalties import L1, Concave

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


def _write(folder: Path, solution: Solution, S: Covariance, table: Dataset, options: dict[str, Any]) -> None:
    from fantope.io.tables import write_dropped, write_fit, write_scores

    write_fit(folder, solution, table.variables, float(S.diagonal().sum()))
    write_dropped(folder, table.dropped)
    if getattr(S, "n_samples", None) == table.shape[0]:  # not of pairs of samples
        write_scores(folder, scores(S, solution), table.samples)
    if not options["no_figures"]:
        _draw(folder / "figures", solution, table, options["tol"])


def scores(S: Any, solution: Solution) -> Any:
    """Return the (n, d) scores of the samples: the data, centred and scaled as in S, times the components."""
    weights = solution.components / S.scale
    return S.columns.times(weights.T) - weights @ S.mean


def _draw(folder: Path, solution: Solution, table: Dataset, tol: float) -> None:
    from fantope.plotting import plot_convergence, plot_top_loadings
    from fantope.plotting.style import save_figure

    save_figure(plot_top_loadings(solution.components, table.variables), folder, "loadings")
    save_figure(plot_convergence(solution, tol=tol).figure, folder, "gap")


def _closing(extra: dict[str, Any], table: Dataset, out: Path) -> str:
    lines = []
    if table.dropped:
        lines.append(f"{len(table.dropped)} variables were left out; dropped.tsv names them.")
    if extra:
        found = extra["constrained"]
        lines.append(
            f"With ‖X‖₁ ≤ {found['bound']:g} (reached: {found['norm']:.6g}), ⟨S, X⟩ = {found['objective']:.8g}; "
            f"no such X exceeds {found['dual_bound']:.8g}."
        )
    lines.append(f"Written to {out}; check it at any time with: fantope verify {out}")
    return "\n".join(lines)
