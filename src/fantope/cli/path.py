"""`fantope path`: sparse components of a data file over a range of penalties, each certified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fantope.cli._data import check_kind, problem_options, reading_options
from fantope.cli._penalty import penalty_options
from fantope.cli.console import Talk, talk_options

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
    check_kind(options)
    grid = None if alphas is None else parse_alphas(alphas)
    from fantope.cli._solving import run_path  # only now: --help must not wait for solvers to load

    return run_path(data, out, options, grid, Talk(quiet, as_json))
