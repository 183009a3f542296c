"""`fantope stream`: sparse PCA of rows as they arrive, with checkpoints that survive anything."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fantope.cli._console import INTERRUPTED, NOT_REACHED, OK, Talk, complain, output_folder, talk_options
from fantope.cli._rows import Lines, NpyRows, Position, Row, Table, guess_format, text_rows

if TYPE_CHECKING:
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA

COMMAND = "fantope stream"
BLOCK = 256  # rows handed to Online-T at once; the result does not depend on it


@dataclass
class Options:
    """What the command line said beyond the estimator's parameters."""

    source: str
    format: str
    follow: bool
    header: bool
    checkpoint: Path | None
    every: int
    seconds: float
    snapshots: Path | None
    snapshot_every: int
    snapshot_seconds: float
    skip_bad: bool
    bad_log: Path | None
    max_samples: int | None
    idle: float


@dataclass
class Progress:
    """What was done with the input so far; saved with the state."""

    position: Position = field(default_factory=Position)
    bad_rows: int = 0
    log_size: int = 0
    fingerprint: str = ""

    def saved(self) -> dict[str, Any]:
        """Return it as plain values, with the version that wrote it."""
        return {"fantope": version("fantope"), **asdict(self)}


class BadRow(ValueError):
    """A row that cannot be used, under `--bad-rows stop`."""


@click.command()
@click.argument("source", metavar="DATA|-")
@click.option("-d", "--components", type=int, default=2, show_default=True, help="Number of components.")
@click.option("-a", "--alpha", type=float, default=0.1, show_default=True, help="Penalty.")
@click.option("--algorithm", type=click.Choice(["online-t", "online-p", "ftl"]), default="online-t", show_default=True)
@click.option("--center/--no-center", default=True, show_default=True, help="Subtract a running mean.")
@click.option("--forgetting", type=float, default=1.0, show_default=True, help="Weight of the past per sample.")
@click.option("--step-size", type=float, help="Online-T: the first step.  [default: from the data]")
@click.option("--nu", type=float, help="Price of leaving the Fantope.  [default: from the data]")
@click.option("--loosen", type=float, default=1.0, show_default=True, help="Online-P: factor on the tolerance.")
@click.option("--track", type=int, default=0, show_default=True, help="Judge the regret every so many samples; 0: off.")
@click.option(
    "--format", "form", type=click.Choice(["auto", "csv", "tsv", "ndjson", "npy"]), default="auto",
    help="Of the input; from the name by default, csv for standard input.",
)  # fmt: skip
@click.option("--no-header", is_flag=True, help="CSV, TSV: the first line is data.")
@click.option("--follow", is_flag=True, help="Wait for more rows at the end of the file.")
@click.option("--idle-timeout", type=float, default=math.inf, help="With --follow, end after so many idle seconds.")
@click.option("--max-samples", type=int, help="End once so many samples were used in all.")
@click.option("--checkpoint", type=click.Path(path_type=Path, dir_okay=False), help="File to save and resume from.")
@click.option("--checkpoint-every", type=int, default=10_000, show_default=True, help="Samples between checkpoints.")
@click.option("--checkpoint-seconds", type=float, default=30.0, show_default=True, help="Seconds between checkpoints.")
@click.option("--snapshots", type=click.Path(path_type=Path, file_okay=False), help="Folder for snapshots.")
@click.option("--snapshot-every", type=int, default=0, help="Samples between snapshots.")
@click.option("--snapshot-seconds", type=float, default=math.inf, help="Seconds between snapshots.")
@click.option("--bad-rows", type=click.Choice(["stop", "skip"]), default="stop", show_default=True)
@click.option("--bad-rows-log", type=click.Path(path_type=Path, dir_okay=False), help="File for skipped rows.")
@click.option("-o", "--out", type=click.Path(path_type=Path), help="Folder for the final result.")
@talk_options
def stream(
    source: str, components: int, alpha: float, algorithm: str, center: bool, forgetting: float,
    step_size: float | None, nu: float | None, loosen: float, track: int, form: str, no_header: bool, follow: bool,
    idle_timeout: float, max_samples: int | None, checkpoint: Path | None, checkpoint_every: int,
    checkpoint_seconds: float, snapshots: Path | None, snapshot_every: int, snapshot_seconds: float, bad_rows: str,
    bad_rows_log: Path | None, out: Path | None, quiet: bool, as_json: bool,
) -> int:  # fmt: skip
    """Learn sparse components from rows as they arrive.

    DATA is a .csv, .tsv, .ndjson or .npy file, or - for standard input. With --checkpoint, the same command started
    again goes on where the last checkpoint was made and uses every row exactly once; standard input must then be sent
    again from its start, and the rows used already are passed over.

    Example: fantope stream ticks.csv -d 2 -a 0.1 --follow --checkpoint ticks.ckpt --snapshots s --snapshot-every 1000
    """
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA

    talk = Talk(quiet=quiet, json=as_json)
    estimator = OnlineSparsePCA(
        components, alpha=alpha, algorithm=algorithm, center=center, forgetting=forgetting, step_size=step_size, nu=nu,
        loosen=loosen, track=track,
    )  # fmt: skip
    if bad_rows == "skip" and bad_rows_log is None:
        bad_rows_log = Path(("stdin" if source == "-" else source) + ".bad-rows.txt")
    options = Options(
        source, guess_format(source, form), follow, not no_header, checkpoint, checkpoint_every, checkpoint_seconds,
        snapshots, snapshot_every, snapshot_seconds, bad_rows == "skip", bad_rows_log, max_samples, idle_timeout,
    )  # fmt: skip
    with _stop_on_signal() as stopped:
        run = _Run(options, estimator, talk, stopped)
        try:
            run.work()
        except BadRow as error:
            run.save()
            complain(f"{error}; the state before it is kept{run.where()}. Use --bad-rows skip to pass over such rows.")
            return 2
    interrupted = stopped()
    summary = run.summary()
    if out is not None and summary["n_samples"] and not interrupted:
        with output_folder(out, command=COMMAND) as folder:
            write_result(folder, run.estimator, summary)
    talk.say(
        f"{summary['n_samples']} samples, {summary['bad_rows']} bad rows, {summary['support']} variables in use"
        f"{run.where()}."
    )
    talk.result(summary)
    if interrupted:
        complain(f"interrupted after {summary['n_samples']} samples{run.where()}; start the same command to go on.")
        return INTERRUPTED
    return NOT_REACHED if summary["unmet"] else OK


class _Run:
    """One run of the command: where it is in the input, and when what is due."""

    def __init__(self, options: Options, estimator: OnlineSparsePCA, talk: Talk, stopped: Callable[[], bool]) -> None:
        self.options, self.estimator, self.talk, self.stopped = options, estimator, talk, stopped
        self.progress = Progress()
        self.columns: list[str] | None = None
        self.sound = True  # whether the checkpoint on disk is worth keeping as the one before
        self.saved_at, self.saved_samples = time.monotonic(), 0
        self.snapped_at, self.snapped_samples = time.monotonic(), 0
        self.shown_at, self.shown_samples = time.monotonic(), 0
        self.last_row = time.monotonic()

    # --- the loop ------------------------------------------------------------------------------------------------

    def work(self) -> None:
        """Use every row of the input once."""
        self._resume()
        with ExitStack() as opened:
            self._work(opened)

    def _work(self, opened: ExitStack) -> None:
        rows, waiting = self._open(opened)
        block: list[list[float]] = []
        limit = BLOCK if self.estimator.algorithm == "online-t" else 1
        after = self.progress.position
        for row in rows:
            self.last_row = time.monotonic()
            if row.values is None:
                self._use(block, after)
                block = []
                self._bad(row)
            else:
                block.append(row.values)
            after = row.after
            if len(block) >= min(limit, self._until_due()) or waiting():
                self._use(block, after)
                block = []
                self._due()
            if self.stopped() or self._enough(len(block)):
                break
        self._use(block, after)
        self.save()

    def _enough(self, more: int) -> bool:
        return self.options.max_samples is not None and self.n_samples + more >= self.options.max_samples

    def _until_due(self) -> int:
        """Rows until a checkpoint or a snapshot is due by number: they come at the same samples in every run."""
        steps = [self.options.every, self.options.snapshot_every]
        return min([step - self.n_samples % step for step in steps if step > 0], default=BLOCK)

    @property
    def n_samples(self) -> int:
        """Samples used."""
        return self.estimator.n_samples_seen_ if self.estimator.__sklearn_is_fitted__() else 0

    def _use(self, block: list[list[float]], after: Position) -> None:
        import numpy as np

        if block:
            if not self.estimator.__sklearn_is_fitted__():
                self.estimator.begin(len(block[0]), self.columns)
            self.estimator.learn(np.array(block))
        self.progress.position = after

    def _bad(self, row: Row) -> None:
        where = f"{self.options.source}: line {row.after.line}" if self.options.format != "npy" else (
            f"{self.options.source}: row {row.after.line}"
        )  # fmt: skip
        if not self.options.skip_bad:
            raise BadRow(f"{where}: {row.fault}")
        assert self.options.bad_log is not None
        with self.options.bad_log.open("a", encoding="utf-8") as file:
            file.write(f"{row.after.line}\t{row.fault}\t{row.text}\n")
        self.progress.log_size = self.options.bad_log.stat().st_size
        self.progress.bad_rows += 1
        self.progress.position = row.after

    def _open(self, opened: ExitStack) -> tuple[Iterator[Row], Callable[[], bool]]:
        options, position = self.options, self.progress.position
        if options.format == "npy":
            if options.follow:
                raise ValueError("--follow needs csv, tsv or ndjson: a .npy file says how many rows it has.")
            array = NpyRows(options.source)
            opened.callback(array.close)
            self._same_input(f"npy {array.width} {array.dtype}")
            return array.rows(position.line), lambda: False
        lines = Lines(options.source, options.follow, self._give_up)
        opened.callback(lines.close)
        table = Table(options.format, options.header, self.columns)
        if table.columns is not None:
            table.width = len(table.columns)
        elif self.estimator.__sklearn_is_fitted__():
            table.width = self.estimator.n_features_in_
        if options.header and options.format != "ndjson":
            self._header(lines, table)
        if position.line > lines.position.line:
            lines.seek(position)
        elif self.progress.position.line == 0:
            self.progress.position = lines.position

        def rows() -> Iterator[Row]:
            for row in text_rows(lines, table):
                if self.columns is None and table.columns is not None:
                    self.columns = table.columns
                yield row

        return rows(), lambda: lines.waiting

    def _header(self, lines: Lines, table: Table) -> None:
        found = lines.next()
        if found is None:
            raise ValueError(f"{self.options.source}: the input is empty; a header line was expected.")
        known = table.columns
        table.read_header(found[0])
        if known is not None and known != table.columns:
            raise ValueError(
                f"{self.options.checkpoint}: the checkpoint was made with other columns "
                f"({_first_difference(known, table.columns or [])}); pass the same input, or another --checkpoint."
            )
        self.columns = table.columns
        self._same_input(hashlib.sha256(found[0]).hexdigest())

    def _same_input(self, fingerprint: str) -> None:
        if self.progress.fingerprint not in ("", fingerprint):
            raise ValueError(
                f"{self.options.source}: this is not the input that {self.options.checkpoint} was made from (its start "
                "differs); pass the same input, or another --checkpoint."
            )
        self.progress.fingerprint = fingerprint

    def _give_up(self) -> bool:
        """Whether to stop waiting for rows; what is due by the clock is done meanwhile."""
        self._due()
        return self.stopped() or time.monotonic() - self.last_row > self.options.idle

    # --- what is due ---------------------------------------------------------------------------------------------

    def _due(self) -> None:
        now, n, options = time.monotonic(), self.n_samples, self.options
        if n == 0:
            return
        new = n > self.saved_samples
        if new and (n % options.every == 0 or now - self.saved_at >= options.seconds):
            self.save()
        if options.snapshots is not None and n > self.snapped_samples:
            by_number = options.snapshot_every > 0 and n % options.snapshot_every == 0
            if by_number or now - self.snapped_at >= options.snapshot_seconds:
                self._snapshot()
        if self.talk.chatty and n > self.shown_samples:
            pause = 2.0 if self.talk.err.is_terminal else 10.0
            if now - self.shown_at >= pause:
                self._show(now)

    def _show(self, now: float) -> None:
        n = self.n_samples
        rate = (n - self.shown_samples) / (now - self.shown_at)
        regret = self.estimator.average_regret_
        judged = "" if math.isnan(regret) else f", average regret {regret:.4g}"
        text = f"{n} samples, {rate:.0f}/s, {len(self.estimator.support_)} variables in use{judged}"
        end = "\r" if self.talk.err.is_terminal else "\n"
        self.talk.err.print(text, end=end, highlight=False, markup=False)
        self.shown_at, self.shown_samples = time.monotonic(), n

    def _snapshot(self) -> None:
        """Write components under the number of samples: written again after a restart, they are the same."""
        assert self.options.snapshots is not None
        self.options.snapshots.mkdir(parents=True, exist_ok=True)
        target = self.options.snapshots / f"components-{self.n_samples:012d}.csv"
        building = target.with_suffix(".part")
        write_components(building, self.estimator)
        os.replace(building, target)
        self.snapped_at, self.snapped_samples = time.monotonic(), self.n_samples

    # --- checkpoints ---------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write a checkpoint, if there is a file for it and something to save."""
        from fantope.estimators.online_sparse_pca import save_estimator

        if self.options.checkpoint is not None and self.n_samples:
            save_estimator(
                self.estimator, self.options.checkpoint, position=self.progress.saved(), keep_previous=self.sound
            )
            self.sound = True
        self.saved_at, self.saved_samples = time.monotonic(), self.n_samples

    def _resume(self) -> None:
        from fantope.online.persist import previous

        path = self.options.checkpoint
        if path is None:
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        candidates = [file for file in (path, previous(path)) if file.exists()]
        for number, file in enumerate(candidates):
            try:
                self._load(file)
            except _Unusable as error:
                if number + 1 < len(candidates):
                    complain(f"{error}; going on from the checkpoint before it.")
                    self.sound = False
                    continue
                raise ValueError(f"{error}; remove it to start afresh.") from None
            return

    def _load(self, file: Path) -> None:
        from fantope.estimators.online_sparse_pca import load_with_header
        from fantope.online.persist import CheckpointError

        try:
            found, header = load_with_header(file)
        except CheckpointError as error:
            if "format version" in str(error):
                raise
            raise _Unusable(str(error).rstrip(".")) from None
        saved = header["position"]
        if saved is None:
            raise ValueError(f"{file}: this is a saved estimator without a position in an input; pass another file.")
        if saved["fantope"] != version("fantope"):
            raise ValueError(
                f"{file}: the checkpoint was made by fantope {saved['fantope']}, this is {version('fantope')}, whose "
                "results may differ in the last digits; use that version, or another --checkpoint."
            )
        wanted = self.estimator.get_params()
        differing = [
            f"{name} was {value!r} and is {wanted[name]!r}"
            for name, value in found.get_params().items()
            if wanted[name] != value
        ]
        if differing:
            raise ValueError(
                f"{file}: the checkpoint was made with other parameters ({'; '.join(differing)}); pass the same ones, "
                "or another --checkpoint."
            )
        self.estimator = found
        self.columns = header["columns"]
        self.progress = Progress(
            Position(**saved["position"]), saved["bad_rows"], saved["log_size"], saved["fingerprint"]
        )
        self.saved_samples = self.snapped_samples = self.shown_samples = self.n_samples
        log = self.options.bad_log
        if log is not None and log.exists():
            # Rows logged after the checkpoint will be met again.
            os.truncate(log, min(self.progress.log_size, log.stat().st_size))

    def where(self) -> str:
        """Return where the state is, for a sentence."""
        return f" in {self.options.checkpoint}" if self.options.checkpoint is not None and self.n_samples else ""

    def summary(self) -> dict[str, Any]:
        """Return the result in numbers."""
        estimator, fitted = self.estimator, self.n_samples > 0
        regret = estimator.average_regret_ if fitted else math.nan
        return {
            "n_samples": self.n_samples,
            "n_features": int(estimator.n_features_in_) if fitted else 0,
            "bad_rows": self.progress.bad_rows,
            "support": len(estimator.support_) if fitted else 0,
            "average_regret": None if math.isnan(regret) else regret,
            "explained_variance_ratio": estimator.explained_variance_ratio_.tolist() if fitted else [],
            "unmet": int(getattr(estimator._stream.learner, "n_unmet", 0)) if fitted else 0,
            "parameters": estimator.get_params(),
        }


class _Unusable(Exception):
    """A checkpoint that cannot be read; the one before it may do."""


def write_components(path: Path, estimator: OnlineSparsePCA) -> None:
    """Write a row per variable in use: its name and its loadings."""
    names = getattr(estimator, "feature_names_in_", None)
    components = estimator.components_
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["variable", *(f"component{k + 1}" for k in range(len(components)))])
        for j in estimator.support_:
            writer.writerow([j if names is None else names[j], *(repr(float(value)) for value in components[:, j])])


def write_result(folder: Path, estimator: OnlineSparsePCA, summary: dict[str, Any]) -> None:
    """Write components.csv, summary.json and state.fantope, which `fantope.load` opens."""
    write_components(folder / "components.csv", estimator)
    (folder / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    estimator.save(folder / "state.fantope")


def _first_difference(known: list[str], found: list[str]) -> str:
    if len(known) != len(found):
        return f"{len(known)} then, {len(found)} now"
    k = next(k for k, (a, b) in enumerate(zip(known, found, strict=True)) if a != b)
    return f"column {k + 1} was {known[k]!r} and is {found[k]!r}"


@contextmanager
def _stop_on_signal() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether an interrupt came: rows are never left half used."""
    caught = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield caught.is_set
        return
    before = {number: signal.signal(number, lambda *_: caught.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield caught.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
