"""What the commands that read DATA share: options and progress."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from fantope.cli.console import Function, with_options

KINDS = ("covariance", "correlation", "precomputed")
# Spelled out, so that --help need not load the solvers; a test compares it with their list.
SOLVERS = ("auto", "admm", "gradfps", "subgradient", "projected-subgradient")

# How DATA is to be read.
reading_options = with_options(
    click.option("--transpose", is_flag=True, help="Rows of DATA are variables (genes × samples)."),
    click.option("--layer", metavar="NAME", help="Layer of AnnData, or array of an .npz or .zarr group."),
    click.option("--impute", type=click.Choice(["mean", "drop"]),
                 help="Missing values: fill in the variable's mean, or drop variables that have any."),
    click.option("--drop-constant", is_flag=True, help="Leave out variables that do not vary."),
    click.option("--duplicates", type=click.Choice(["suffix", "first"]),
                 help="Variables of one name: add .1, .2, … or keep the first."),
    click.option("--header", type=click.Choice(["auto", "yes", "no"]), default="auto", show_default=True,
                 help="Whether the first line of a text table holds names."),
    click.option("--row-names", type=click.Choice(["auto", "yes", "no"]), default="auto", show_default=True,
                 help="Whether the first column of a text table holds names."),
    click.option("--allow-empty-chunks", is_flag=True,
                 help="Take chunks that a zarr store lacks as filled with its fill value."),
    click.option("--method", type=click.Choice(["pearson", "spearman", "kendall", "normal-scores"]), default="pearson",
                 show_default=True, help="Correlations of values, or of ranks (with --kind correlation)."),
    click.option("--missing", type=click.Choice(["error", "pairwise"]), default="error", show_default=True,
                 help="pairwise: each entry of S from the samples that have both variables."),
)  # fmt: skip


def problem_options(tol: float) -> Callable[[Function], Function]:
    """Add the options that say what is to be solved, except the penalty."""
    return with_options(
        click.option("-d", "--components", "n_components", type=click.IntRange(min=1), default=2, show_default=True,
                     help="Number of components."),
        click.option("--kind", type=click.Choice(KINDS), default="covariance", show_default=True,
                     help="What S is; precomputed: DATA is S itself."),
        click.option("--no-center", is_flag=True, help="Do not subtract the variables' means."),
        click.option("--tol", type=float, default=tol, show_default=True, help="Relative duality gap to reach."),
        click.option("--max-iter", type=int, help="Most iterations to spend.  [default: the solver's own]"),
        click.option("--solver", type=click.Choice(SOLVERS), default="auto", show_default=True),
        click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Folder to write."),
        click.option("--overwrite", is_flag=True, help="Replace a folder that this command wrote."),
        click.option("--no-figures", is_flag=True, help="Write tables only."),
    )  # fmt: skip


def check_kind(options: dict[str, Any]) -> None:
    """Refuse options that mean nothing for a precomputed S."""
    # What of them means nothing: their default, and a choice that is about names alone.
    harmless = {"no_center": (False,), "impute": (None,), "drop_constant": (False,), "duplicates": (None, "suffix"),
                "transpose": (False,), "method": ("pearson",), "missing": ("error",)}  # fmt: skip
    for name, values in harmless.items() if options["kind"] == "precomputed" else ():
        if options[name] not in values:
            flag = f"--{name.replace('_', '-')}{' first' * (name == 'duplicates')}"
            raise click.UsageError(f"{flag} is about data, but with --kind precomputed DATA is S itself; leave it out.")


def decades(first: float, gap: float, tol: float) -> float:
    """Return how much of the way from the gap ``first`` to ``tol``, in decades, has been made."""
    whole = math.log(first / tol) if first > 0 else 0.0
    if gap <= tol or whole <= 0:
        return 1.0
    return min(max(math.log(first / gap) / whole, 0.0), 1.0)


def fit_progress(report: Callable[[float, str], None], alpha: float, tol: float) -> Callable[[Any], None]:
    """Return a callback that turns records of one solve into reports."""
    first = math.nan

    def heard(record: Any) -> None:
        nonlocal first
        if math.isfinite(record.gap):
            first = record.gap if math.isnan(first) else first
            gap = f"gap {record.gap:.1e} of {tol:.0e}, {record.n_active} active, iteration {record.iteration}"
            report(decades(first, record.gap, tol), f"alpha {alpha:g}, {gap}")

    return heard


class PathProgress:
    """Turns records of a path into reports, with an estimate of the time left."""

    def __init__(self, report: Callable[[float, str], None], total: int, tol: float) -> None:
        self.report, self.total, self.tol = report, total, tol
        self.began = time.perf_counter()
        self.seen: list[float] = []
        self.first = math.nan

    def __call__(self, alpha: float, record: Any) -> None:
        """Report a record at ``alpha``."""
        if not self.seen or self.seen[-1] != alpha:
            self.seen.append(alpha)
            self.first = math.nan
        if not math.isfinite(record.gap):
            return
        self.first = record.gap if math.isnan(self.first) else self.first
        # Done only when the next begins, or a penalty's last record would look like the next one's first.
        done = (len(self.seen) - 1 + 0.9 * decades(self.first, record.gap, self.tol)) / self.total
        left = (time.perf_counter() - self.began) * (1 - done) / done if done > 0 else math.inf
        self.report(
            done,
            f"alpha {alpha:g} ({len(self.seen)} of {self.total}), gap {record.gap:.1e}, {record.n_active} active, "
            f"{_time(left)} left",
        )


def _time(seconds: float) -> str:
    if not math.isfinite(seconds):
        return "unknown time"
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
