"""The options of `fantope stream`: what they are, and which of them go together."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fantope.cli._rows import guess_format
from fantope.cli.console import given, with_options

if TYPE_CHECKING:
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA

COUNT, POSITIVE, NOT_NEGATIVE = click.IntRange(min=1), click.FloatRange(min=0, min_open=True), click.FloatRange(min=0)

# Those of the estimator; each is its constructor's parameter of the same name, -d/--components is n_components.
LEARNING = (
    click.option("-d", "--components", "n_components", type=COUNT, default=2, show_default=True,
                 help="Number of components."),
    click.option("-a", "--alpha", type=NOT_NEGATIVE, default=0.1, show_default=True, help="Penalty."),
    click.option("--algorithm", type=click.Choice(["online-t", "online-p", "tracker", "ftl", "graphical-lasso"]),
                 default="online-t",
                 show_default=True, help="online-t: fast; online-p: accurate, slow; tracker: certified batch solution "
                 "now and then; ftl: to compare with; graphical-lasso: a sparse precision matrix."),
    click.option("--center/--no-center", default=True, show_default=True, help="Subtract a running mean."),
    click.option("--forgetting", type=click.FloatRange(min=0, max=1, min_open=True), default=1.0, show_default=True,
                 help="Weight of the past per sample."),
    click.option("--window", type=click.IntRange(min=2),
                 help="Learn from this many of the latest samples, in place of forgetting; not for online-t."),
    click.option("--step-size", type=POSITIVE, help="Online-T: the first step.  [default: from the data]"),
    click.option("--nu", type=POSITIVE, help="Price of leaving the Fantope.  [default: from the data]"),
    click.option("--loosen", type=POSITIVE, default=1.0, show_default=True, help="Online-P: factor on the tolerance."),
    click.option("--tol", type=POSITIVE, default=1e-3, show_default=True, help="FTL, tracker: gap of each solve."),
    click.option("--solve-every", type=COUNT, default=100, show_default=True, help="Tracker: samples between solves."),
    click.option("--storage", type=click.Choice(["auto", "dense", "sparse"]), default="auto", show_default=True,
                 help="Online-T: how its matrix is held; auto is sparse from 4,000 variables on."),
    click.option("--track", type=click.IntRange(min=0), default=0, show_default=True,
                 help="Number of samples between two judgements of the regret; 0: off."),
)  # fmt: skip

RUNNING = (
    click.option("--format", type=click.Choice(["auto", "csv", "tsv", "ndjson", "npy"]), default="auto",
                 help="Of the input; from the name by default, csv for standard input."),
    click.option("--no-header", is_flag=True, help="CSV, TSV: the first line is data."),
    click.option("--follow", is_flag=True, help="Wait for more rows at the end of the file."),
    click.option("--idle-timeout", type=POSITIVE, default=math.inf,
                 help="With --follow, seconds without a new row after which to end."),
    click.option("--max-samples", type=COUNT, help="Number of samples, in all, after which to end."),
    click.option("--checkpoint", type=click.Path(path_type=Path, dir_okay=False), help="File to save and resume from."),
    click.option("--checkpoint-every", type=COUNT, default=10_000, show_default=True,
                 help="Samples between checkpoints."),
    click.option("--checkpoint-seconds", type=POSITIVE, default=30.0, show_default=True,
                 help="Seconds between checkpoints."),
    click.option("--snapshots", type=click.Path(path_type=Path, file_okay=False), help="Folder for snapshots."),
    click.option("--snapshot-every", type=COUNT, help="Samples between snapshots."),
    click.option("--snapshot-seconds", type=POSITIVE, help="Seconds between snapshots."),
    click.option("--bad-rows", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
                 help="What to do with rows that are not numbers, or not as many as expected."),
    click.option("--bad-rows-log", type=click.Path(path_type=Path, dir_okay=False),
                 help="File for skipped rows.  [default: DATA.bad-rows.txt]"),
    click.option("--alarm", type=click.FloatRange(0, 1, min_open=True, max_open=True),
                 help="Alarm, exit code 3, where more than this share of what the latest samples allow is missed."),
    click.option("--alarm-window", type=click.IntRange(min=4), default=200, show_default=True,
                 help="Number of these latest samples."),
    click.option("--alarm-every", type=COUNT, help="Samples between two checks.  [default: a quarter of the window]"),
    click.option("--stop-on-alarm", is_flag=True, help="End at the first alarm."),
    click.option("--serve", type=click.IntRange(0, 65535), metavar="PORT",
                 help="Show the stream on a page at this port, and metrics for Prometheus at /metrics; 0: any port."),
    click.option("--serve-host", default="127.0.0.1", show_default=True, help="Where to serve; 0.0.0.0: to anyone."),
    click.option("--log", type=click.Path(path_type=Path, dir_okay=False), help="CSV file for rows of progress."),
    click.option("--log-every", type=COUNT, default=1000, show_default=True, help="Samples between rows of the log."),
    click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder for the final result."),
)  # fmt: skip

ALGORITHMS_OF = {
    "step_size": ["online-t"], "storage": ["online-t"], "loosen": ["online-p"],
    "tol": ["ftl", "tracker", "graphical-lasso"],
    "solve_every": ["tracker", "graphical-lasso"], "window": ["online-p", "tracker", "ftl", "graphical-lasso"],
    **{name: ["online-t", "online-p", "tracker", "ftl"] for name in ("n_components", "alarm")},
}  # fmt: skip


@dataclass
class Options:
    """What the command line said beyond the estimator's parameters."""

    source: str
    format: str
    follow: bool
    no_header: bool
    checkpoint: Path | None
    checkpoint_every: int
    checkpoint_seconds: float
    snapshots: Path | None
    snapshot_every: int | None
    snapshot_seconds: float | None
    bad_rows_log: Path | None  # None: stop at the first bad row
    max_samples: int | None
    idle_timeout: float
    alarm: float | None
    alarm_window: int
    alarm_every: int | None
    stop_on_alarm: bool
    serve: int | None
    serve_host: str
    log: Path | None
    log_every: int


stream_options = with_options(*LEARNING, *RUNNING)


def take_options(context: click.Context, source: str, values: dict[str, Any]) -> tuple[Options, OnlineSparsePCA]:
    """Return what the command line asks for; an option that nothing would read is refused."""
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA
    from fantope.estimators.online_sparse_precision import OnlineSparsePrecision

    kind: Any = OnlineSparsePrecision if values["algorithm"] == "graphical-lasso" else OnlineSparsePCA
    estimator = kind(**{name: values[name] for name in kind().get_params()})
    estimator._validate_params()  # NaN and infinity are within click's ranges
    _check_seconds(values)
    values |= {"source": source, "format": guess_format(source, values["format"])}
    _check_algorithm(context, estimator)
    _check_company(context, values)
    if values["bad_rows"] == "skip" and values["bad_rows_log"] is None:
        values["bad_rows_log"] = Path(("stdin" if source == "-" else source) + ".bad-rows.txt")
    return Options(**{field.name: values[field.name] for field in fields(Options)}), estimator


def _check_algorithm(context: click.Context, estimator: OnlineSparsePCA) -> None:
    for name, algorithms in ALGORITHMS_OF.items():
        if given(context, name) and estimator.algorithm not in algorithms:
            raise click.UsageError(
                f"{_flag(name)} is for --algorithm {' or '.join(algorithms)}, but the algorithm is "
                f"{estimator.algorithm}; leave it out, or pass --algorithm {algorithms[0]}."
            )
    if estimator.window is not None and estimator.forgetting != 1.0:
        raise click.UsageError("--window and --forgetting are two ways to leave the past behind; pass one of them.")
    unread = not estimator.track or estimator.algorithm == "graphical-lasso"
    if given(context, "nu") and estimator.algorithm != "online-t" and unread:
        raise click.UsageError(
            f"--nu is for --algorithm online-t and for the regret of components, but the algorithm is "
            f"{estimator.algorithm} and no such regret is judged; leave it out, or pass --track."
        )


def _check_seconds(values: dict[str, Any]) -> None:
    """Refuse NaN, which is within click's ranges: no time is later than it, and nothing would ever be due."""
    for name in ("idle_timeout", "checkpoint_seconds", "snapshot_seconds"):
        if values[name] is not None and math.isnan(values[name]):
            raise click.UsageError(f"{_flag(name)} must be a number of seconds above 0, got nan; pass one, or inf.")


def _check_company(context: click.Context, values: dict[str, Any]) -> None:
    """Refuse options whose partner is missing: nothing would come of them."""
    partners = {
        "idle_timeout": ("--follow", values["follow"]),
        "checkpoint_every": ("--checkpoint FILE", values["checkpoint"]),
        "checkpoint_seconds": ("--checkpoint FILE", values["checkpoint"]),
        "snapshot_every": ("--snapshots FOLDER", values["snapshots"]),
        "snapshot_seconds": ("--snapshots FOLDER", values["snapshots"]),
        "alarm_window": ("--alarm SHARE", values["alarm"]),
        "alarm_every": ("--alarm SHARE", values["alarm"]),
        "stop_on_alarm": ("--alarm SHARE", values["alarm"]),
        "serve_host": ("--serve PORT", values["serve"] is not None),
        "log_every": ("--log FILE", values["log"]),
        "bad_rows_log": ("--bad-rows skip", values["bad_rows"] == "skip"),
        "snapshots": ("--snapshot-every or --snapshot-seconds", values["snapshot_every"] or values["snapshot_seconds"]),
    }
    for name, (partner, there) in partners.items():
        if given(context, name) and not there:
            raise click.UsageError(f"{_flag(name)} does nothing without {partner}; leave it out, or add that.")
    if values["no_header"] and values["format"] not in ("csv", "tsv"):
        raise click.UsageError(f"--no-header is for csv and tsv, but the format is {values['format']}; leave it out.")
    if values["follow"] and values["format"] == "npy":
        raise click.UsageError("--follow needs csv, tsv or ndjson: a .npy file says how many rows it has.")


def _flag(name: str) -> str:
    return "-d" if name == "n_components" else "--" + name.replace("_", "-")
