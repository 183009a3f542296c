"""`fantope stream`: sparse PCA of rows as they arrive, with checkpoints that survive anything."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click

from fantope.cli._rows import Unreadable
from fantope.cli._stream_options import stream_options, take_options
from fantope.cli._stream_output import COMMAND, describe, write_result
from fantope.cli._stream_run import BadRow, Stop, StreamRun
from fantope.cli.console import ALARM, BAD_INPUT, INTERRUPTED, NOT_REACHED, OK, Talk, complain, talk_options
from fantope.io.folder import result_folder


@click.command()
@click.argument("source", metavar="DATA|-")
@stream_options
@talk_options
@click.pass_context
def stream(context: click.Context, /, source: str, out: Path | None, quiet: bool, as_json: bool, **values: Any) -> int:
    """Learn sparse components from rows as they arrive.

    DATA is a .csv, .tsv, .ndjson or .npy file, or - for standard input. With --checkpoint, the same command started
    again goes on where the last checkpoint was made and uses every row exactly once; standard input must then be sent
    again from its start, and the rows used already are passed over.

    Example: fantope stream ticks.csv -d 2 -a 0.1 --follow --checkpoint ticks.ckpt --snapshots s --snapshot-every 1000
    """
    talk = Talk(quiet=quiet, json=as_json)
    options, estimator = take_options(context, source, values)
    if out is not None:
        _try_out(out)
    with _stop_on_signal() as stop:
        run = StreamRun(options, estimator, talk, stop)
        try:
            run.work()
        except BadRow as error:
            complain(f"{error}; {run.kept()}. Mend the row, or use --bad-rows skip to pass over such rows.")
            return BAD_INPUT
        except Unreadable as error:
            complain(f"{error}; {run.kept()}.")
            return BAD_INPUT
    interrupted = stop.came
    if run.n_samples == 0 and not interrupted:
        bad = f" ({run.progress.bad_rows} bad rows, see {options.bad_rows_log})" if run.progress.bad_rows else ""
        complain(f"{source}: there are no rows of numbers{bad}; at least one was expected, and nothing was written.")
        return BAD_INPUT
    summary = describe(run.estimator, run.progress.bad_rows)
    if out is not None and not interrupted:
        with result_folder(out, command=COMMAND) as folder:
            write_result(folder, run.estimator, summary)
    where = f" in {options.checkpoint}" if options.checkpoint is not None and run.n_samples else ""
    talk.say(
        f"{summary['n_samples']} samples, {summary['bad_rows']} bad rows, {summary['support']} variables in use{where}."
    )
    talk.result(summary)
    if interrupted:
        again = "; start the same command to go on" if options.checkpoint is not None else ""
        complain(f"interrupted after {run.n_samples} samples; {run.kept()}{again}.")
        return INTERRUPTED
    if summary["alarms"]:
        return ALARM
    return NOT_REACHED if summary["unmet"] else OK


class _Tried(Exception):
    """Ends the attempt to make the result's folder."""


def _try_out(out: Path) -> None:
    """Refuse a folder that cannot be written to, or is not ours, before the first row and not after the last."""
    with suppress(_Tried), result_folder(out, command=COMMAND):
        raise _Tried


@contextmanager
def _stop_on_signal() -> Iterator[Stop]:
    """Yield what says whether an interrupt came."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
