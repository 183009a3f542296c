"""The loop of `fantope stream`: every row is used once, and what is due is done between rows."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

from fantope.cli._row_table import LineParser, text_rows
from fantope.cli._rows import Lines, NpyRows, Position, Row, Unreadable
from fantope.cli._stream_checkpoint import InputProgress, begin_log, resume, save, writable
from fantope.cli._stream_log import Log
from fantope.cli._stream_options import Options
from fantope.cli._stream_output import progress_line, write_table
from fantope.cli._stream_server import Live, serving
from fantope.cli.console import Talk, complain

if TYPE_CHECKING:
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA
    from fantope.online import Check

BLOCK = 256  # rows handed to Online-T at once; the result does not depend on it


class BadRow(ValueError):
    """A row that cannot be used, under `--bad-rows stop`."""


class Stop:
    """Whether the run is to end; a signal that comes while a row is learnt raises KeyboardInterrupt."""

    def __init__(self) -> None:
        self.came, self.learning = False, False

    def __call__(self, *_: object) -> None:
        """Handle a signal."""
        self.came = True
        if self.learning:
            self.learning = False
            raise KeyboardInterrupt


class StreamRun:
    """One run of the command: where it is in the input, and when what is due."""

    def __init__(self, options: Options, estimator: OnlineSparsePCA, talk: Talk, stop: Stop) -> None:
        self.options, self.estimator, self.talk, self.stop = options, estimator, talk, stop
        self.progress = InputProgress()
        self.columns: list[str] | None = None
        self.sound = True  # whether the checkpoint on disk is worth keeping as the one before
        self.saved_at, self.saved_samples = time.monotonic(), 0
        self.snapped_at, self.snapped_samples = time.monotonic(), 0
        self.shown_at, self.shown_samples = time.monotonic(), 0
        self.last_row = time.monotonic()
        self.log = None if options.log is None else Log(options.log)
        self.alarmed = False
        self.live = None if options.serve is None else Live(options.source, estimator.algorithm)

    @property
    def n_samples(self) -> int:
        """Samples used."""
        return self.estimator.n_samples_seen_ if self.estimator.__sklearn_is_fitted__() else 0

    def kept(self) -> str:
        """Return what an end before the input's end leaves, for a sentence."""
        if self.options.checkpoint is None:
            return "nothing is kept without --checkpoint"
        if self.n_samples == 0:
            return "there was nothing to keep yet"
        return f"the state after {self.n_samples} samples is kept in {self.options.checkpoint}"

    # --- the loop ------------------------------------------------------------------------------------------------

    def work(self) -> None:
        """Use every row of the input once; an error in the input leaves the state before it saved."""
        self._resume()
        options = self.options
        self.estimator.watch(
            options.alarm, window=options.alarm_window, every=options.alarm_every, callback=self._checked
        )
        if self.log is not None:
            self.log.begin(self.n_samples)
        if self.options.snapshots is not None:
            writable(self.options.snapshots, "--snapshots")
        with ExitStack() as opened:
            if self.live is not None:
                address = opened.enter_context(serving(self.live, options.serve_host, options.serve or 0))
                if not self.talk.quiet or not options.serve:  # a port of the system's choice is news in any case
                    complain(f"the stream is shown at {address}, its metrics at {address}metrics.")
            try:
                self._work(opened)
            except KeyboardInterrupt:  # the row that was being learnt is for the next run
                pass
            except (BadRow, Unreadable):
                self.save()
                raise
        self.save()

    def _work(self, opened: ExitStack) -> None:
        rows, waiting = self._open(opened)
        self._begin_log()
        if self._enough(0):  # reached before the restart: not one row more
            return
        block: list[list[float]] = []
        after = self.progress.position
        try:
            for row in rows:
                self.last_row = time.monotonic()
                if row.values is None:
                    self._use(block, after)
                    block = []
                    self._bad(row)
                else:
                    block.append(row.values)
                after = row.after
                if len(block) >= min(self._at_once(len(block[0]) if block else 1), self._until_due()) or waiting():
                    self._use(block, after)
                    block = []
                    self._due()
                if self.stop.came or self._enough(len(block)) or (self.alarmed and self.options.stop_on_alarm):
                    break
        except Unreadable:
            self._use(block, after)
            raise
        self._use(block, after)

    def _enough(self, more: int) -> bool:
        return self.options.max_samples is not None and self.n_samples + more >= self.options.max_samples

    def _until_due(self) -> int:
        """Rows until something is due by number: it comes at the same samples in every run."""
        options = self.options
        steps = [options.checkpoint_every, options.snapshot_every, options.log_every if self.log else None]
        due = [step - self.n_samples % step for step in steps if step]
        return min([*due, self.estimator.until_check() or BLOCK], default=BLOCK)

    def _checked(self, check: Check) -> None:
        if check.alarm:
            self.alarmed = True
            if self.live is not None:
                self.live.look(self.estimator, self.progress.bad_rows, now=True)
            complain(f"alarm after {check.sample} samples: {check}.")

    def _use(self, block: list[list[float]], after: Position) -> None:
        import numpy as np

        if block:
            if not self.estimator.__sklearn_is_fitted__():
                self._wide_enough(len(block[0]))
                self.estimator.begin(len(block[0]), self.columns)
            before = self.n_samples
            try:
                self.stop.learning = len(block) == 1  # of several it would not be known where the last one learnt ends
                self.estimator.learn(np.array(block))
                self.stop.learning = False
            except KeyboardInterrupt:
                if self.n_samples == before:
                    raise
        self.progress.position = after

    def _at_once(self, width: int) -> int:
        """Return how many rows to learn in one call: Ctrl-C waits for all of them."""
        from fantope.online.whole import rows_at_a_time

        return min(BLOCK, rows_at_a_time(width)) if self.estimator.algorithm == "online-t" else 1

    def _wide_enough(self, width: int) -> None:
        d, source = getattr(self.estimator, "n_components", 1), self.options.source
        if width < 2:
            raise ValueError(
                f"{source}: expected rows of 2 columns or more, got {width} as {self.options.format}; if the separator "
                "is another, pass --format."
            )
        if d >= width and (d, width) != (2, 2):
            raise ValueError(
                f"{source}: -d must be less than the number of columns, {width}, got {d}; ask for {width - 1} or fewer."
            )

    def _begin_log(self) -> None:
        known = self.progress.log
        if self.options.bad_rows_log is not None:
            begin_log(self.options.bad_rows_log, self.progress)
        if self.progress.log != known:
            self.save()  # so that a run killed before its next checkpoint finds where to cut this log

    def _bad(self, row: Row) -> None:
        unit = "row" if self.options.format == "npy" else "line"
        if self.options.bad_rows_log is None:
            raise BadRow(f"{self.options.source}: {unit} {row.after.line}: {row.fault}")
        try:
            with self.options.bad_rows_log.open("a", encoding="utf-8") as file:
                file.write(f"{row.after.line}\t{row.fault}\t{row.text}\n")
            self.progress.log_size = self.options.bad_rows_log.stat().st_size
        except OSError as error:
            raise Unreadable(
                f"{self.options.bad_rows_log}: the bad row in {unit} {row.after.line} cannot be logged "
                f"({error.strerror}); choose another file with --bad-rows-log"
            ) from None
        self.progress.bad_rows += 1
        self.progress.position = row.after

    # --- the input -----------------------------------------------------------------------------------------------

    def _open(self, opened: ExitStack) -> tuple[Iterator[Row], Callable[[], bool]]:
        options, position = self.options, self.progress.position
        if options.format == "npy":
            array = NpyRows(options.source, self._give_up)
            opened.callback(array.close)
            if array.halted:
                return iter(()), lambda: False
            found = f"npy {array.width} {array.dtype}"
            self._same_input(found, f"{self.progress.fingerprint!r} then, {found!r} now: columns and type of number")
            return array.rows(position.line), lambda: array.waiting
        lines = Lines(options.source, options.follow, self._give_up)
        opened.callback(lines.close)
        table = LineParser(options.format, self.columns)
        if table.columns is not None:
            table.width = len(table.columns)
        elif self.estimator.__sklearn_is_fitted__():
            table.width = self.estimator.n_features_in_
        if not options.no_header and options.format != "ndjson":
            self._header(lines, table)
        if position.line > lines.position.line and not lines.halted:
            lines.seek(position)
        elif self.progress.position.line == 0:
            self.progress.position = lines.position
        # Stopped on the way to the first new row: what was read ahead was used already.
        return (iter(()) if lines.halted else self._rows(lines, table)), lambda: lines.waiting

    def _rows(self, lines: Lines, table: LineParser) -> Iterator[Row]:
        for row in text_rows(lines, table):
            if self.columns is None and table.columns is not None:
                self.columns = table.columns
            yield row

    def _header(self, lines: Lines, table: LineParser) -> None:
        found = lines.next()
        if found is None:
            if lines.halted:
                return
            raise ValueError(
                f"{self.options.source}: the input is empty; a header line and rows of numbers were expected."
            )
        known = table.columns
        try:
            table.read_header(found[0])
        except ValueError as error:
            raise ValueError(f"{self.options.source}: line 1: {error}") from None
        if known is not None and known != table.columns:
            raise ValueError(
                f"{self.options.checkpoint}: the checkpoint was made with other columns "
                f"({_first_difference(known, table.columns or [])}); pass the same input, or another --checkpoint."
            )
        self.columns = table.columns
        self._same_input(hashlib.sha256(found[0]).hexdigest())

    def _same_input(self, fingerprint: str, difference: str = "its start differs") -> None:
        if self.progress.fingerprint not in ("", fingerprint):
            raise ValueError(
                f"{self.options.source}: this is not the input that {self.options.checkpoint} was made from "
                f"({difference}); pass the same input, or another --checkpoint."
            )
        self.progress.fingerprint = fingerprint

    def _give_up(self) -> bool:
        """Whether to stop waiting for rows; what is due by the clock is done meanwhile."""
        self._due()
        return self.stop.came or time.monotonic() - self.last_row > self.options.idle_timeout

    # --- what is due ---------------------------------------------------------------------------------------------

    def _due(self) -> None:
        now, n, options = time.monotonic(), self.n_samples, self.options
        if self.live is not None:
            self.live.look(self.estimator, self.progress.bad_rows)
        if n == 0:
            return
        # The snapshot comes first: a run that goes on from a checkpoint writes no snapshot of the same sample.
        if options.snapshots is not None and n > self.snapped_samples:
            by_number = options.snapshot_every is not None and n % options.snapshot_every == 0
            if by_number or now - self.snapped_at >= (options.snapshot_seconds or math.inf):
                write_table(options.snapshots, self.estimator, f"-{n:012d}")
                self.snapped_at, self.snapped_samples = time.monotonic(), n
        if self.log is not None and n > self.log.samples:
            check = self.estimator.checks_[-1] if self.estimator.checks_ else None
            if n % options.log_every == 0 or (check is not None and check.sample == n):
                self.log.add(self.estimator)
        late = now - self.saved_at >= options.checkpoint_seconds
        if n > self.saved_samples and (late or n % options.checkpoint_every == 0):
            self.save()
        if self.talk.chatty and n > self.shown_samples:
            pause = 2.0 if self.talk.err.is_terminal else 10.0
            if now - self.shown_at >= pause:
                text = progress_line(self.estimator, (n - self.shown_samples) / (now - self.shown_at))
                end = "\r" if self.talk.err.is_terminal else "\n"
                self.talk.err.print(text, end=end, highlight=False)
                self.shown_at, self.shown_samples = time.monotonic(), n

    def save(self) -> None:
        """Write a checkpoint, if there is a file for it and something to save."""
        if self.options.checkpoint is not None and self.n_samples:
            save(self.options.checkpoint, self.estimator, self.progress, keep_previous=self.sound)
            self.sound = True
        self.saved_at, self.saved_samples = time.monotonic(), self.n_samples

    def _resume(self) -> None:
        if self.options.checkpoint is None:
            return
        writable(self.options.checkpoint.parent, "--checkpoint")
        found = resume(self.options.checkpoint, self.estimator)
        if found is None:
            return
        self.estimator, self.columns = found.estimator, found.columns
        self.progress, self.sound = found.progress, found.sound
        self.saved_samples = self.snapped_samples = self.shown_samples = self.n_samples


def _first_difference(known: list[str], found: list[str]) -> str:
    if len(known) != len(found):
        return f"{len(known)} then, {len(found)} now"
    k = next(k for k, (a, b) in enumerate(zip(known, found, strict=True)) if a != b)
    return f"column {k + 1} was {known[k]!r} and is {found[k]!r}"
