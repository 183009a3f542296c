"""What `fantope coexpress` does: read, analyse, write, and say what came out."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
from rich.table import Table

from fantope.cli.console import INTERRUPTED, NOT_REACHED, OK, Talk, complain
from fantope.cli.path import parse_alphas
from fantope.coexpression import Coexpression, analyse
from fantope.coexpression.analysis.estimate import minutes
from fantope.coexpression.command.coexpress import COMMAND
from fantope.coexpression.command.demo import write_demo
from fantope.coexpression.command.output import LabelFile, write_outputs
from fantope.coexpression.io.expression import read_labels
from fantope.coexpression.io.source import Input, Source, read_input
from fantope.coexpression.report.words import changes, chosen_alphas, structure
from fantope.errors import FileError, listed
from fantope.events import Event
from fantope.io import Cache
from fantope.io.folder import result_folder

LARGE = 1000  # no logarithm of expression reaches it
# Options that are parameters of the analysis by the same name.
ANALYSIS = ("n_components", "match", "correlation", "min_genes", "max_genes", "n_modules", "permutations", "transform",
            "min_expressed", "tol", "random_state")  # fmt: skip
ENOUGH = 0.1  # of the work, after which the time left can be estimated
# From which share of the bar to which a stage takes it.
PARTS = {"path": (0.0, 0.6), "discovery": (0.6, 0.7), "modules": (0.6, 0.6), "permutations": (0.7, 0.96)}


class ProgressLine:
    """Turns events of the analysis into reports with a share done, of the most there can be to do."""

    def __init__(self, report: Callable[[float, str], None]) -> None:
        self.report, self.done = report, 0.0
        self.began = self.counting = time.monotonic()

    def __call__(self, event: Event) -> None:
        """Report an event; each group begins its stage again, but the bar does not go back."""
        start, stop = PARTS[event.stage]
        now, last = time.monotonic(), event.stage == "permutations"
        share = event.share if last else event.share**2  # sets grow towards the most genes, and larger ones take longer
        self.done = max(self.done, start + share * (stop - start))
        if last:  # its steps are counted, so that its own pace says when it ends
            left = (now - self.counting) * (1.0 / share - 1.0)
        else:
            self.counting = now
            left = (now - self.began) * (1.0 / self.done - 1.0) if self.done > ENOUGH else 0.0
        self.report(self.done, f"{event}{f', about {minutes(left)} left' if left else ''}")


def run(data: Path | None, target: Path, options: dict[str, Any], command: str, talk: Talk) -> int:
    """Analyse ``data``, or made-up expression without it, and write the result to ``target``; return the exit code."""
    notes: list[str] = []
    cache = options["cache"] or target.with_name(f"{target.name}.cache")
    store = Cache(cache.expanduser(), notes.append)
    began = time.perf_counter()
    try:
        with (
            result_folder(target, command=COMMAND, replace=options["overwrite"] or data is None) as folder,
            talk.progress("coexpress", lines=24) as report,
        ):
            report(-1.0, "simulating" if data is None else f"reading {data.name}")
            source, labels = _demo(folder, options) if data is None else _source(data, options)
            read = read_input(source)
            others = _labels(labels, read)
            doubt = _doubt(read, options["transform"])
            if doubt and talk.chatty:
                complain(doubt)
            read_at = time.perf_counter()
            result = analyse(
                read.table, read.groups, labels=others, covariates=read.covariates, traits=read.traits,
                alphas=None if options["alphas"] is None else parse_alphas(options["alphas"]),
                missing=options["missing"] or "error", mangled=options["mangled"] or "error",
                store=store, progress=ProgressLine(report), **{name: options[name] for name in ANALYSIS},
            )  # fmt: skip
            result = replace(result, notes=(*read.notes, *result.notes, *([doubt] if doubt else [])))
            analysed_at = time.perf_counter()
            report(0.97, "writing tables, figures and the report")
            record = write_outputs(
                folder, target, result, read, source, labels, command=command, simulated=data is None,
                figures=not options["no_figures"],
                seconds={"reading": read_at - began, "analysing": analysed_at - read_at},
                reused=store.n_reused, computed=store.n_kept,
            )  # fmt: skip
    except KeyboardInterrupt:
        complain(f"interrupted; nothing was written. {_kept(store)}".rstrip())
        return INTERRUPTED
    except ValueError as error:
        error.add_note(_kept(store))
        raise
    if not options["keep_cache"]:
        store.remove()
    for note in notes:
        talk.say(note)
    _show(talk, result, target, store)
    talk.result({"out": str(target), "report": str(target / "report.html"), **record})
    reached = all(group.solution.status.name == "SOLVED" for group in result.groups.values())
    return OK if reached else NOT_REACHED


def _source(data: Path, options: dict[str, Any]) -> tuple[Source, list[LabelFile]]:
    names = ("samples", "genes_in", "layer", "sample_column", "group_column", "probes")
    several: dict[str, Any] = {
        kind: tuple(name.strip() for name in options[kind].split(",") if name.strip())
        for kind in ("covariates", "traits")
    }
    source = Source(data=data, **several, **{name: options[name] for name in names})
    return source, [_label_file(text) for text in options["labels"]]


def _label_file(text: str) -> LabelFile:
    """Return the file and the column of FILE:COLUMN; a file whose name has a colon is found first."""
    name, colon, column = text.rpartition(":")
    if Path(text).exists() or not colon or not name:
        return Path(text), None
    return Path(name), column


def _demo(folder: Path, options: dict[str, Any]) -> tuple[Source, list[LabelFile]]:
    expression, samples, labels = write_demo(folder / "input", options["random_state"])
    return Source(data=expression, samples=samples), [(labels, None)]


def _doubt(read: Input, transform: str) -> str:
    """Return a sentence if values that are to be taken as they are look like raw counts."""
    values = read.table.to_numpy()
    if transform != "none" or not values.size or not (values >= 0).all() or values.max() < LARGE:
        return ""
    if (values != values.round()).any():
        return ""
    return "The values look like raw counts, but were taken as they are; for counts say --transform log-cpm."


def _labels(files: list[LabelFile], read: Input) -> dict[str, pd.Series[Any]]:
    """Read other labels, and see before the long work that they name genes of the data."""
    found: dict[str, pd.Series[Any]] = {}
    genes = read.table.columns.str.strip()
    for path, column in files:
        labels = read_labels(path, column)
        if not labels.index.isin(genes).any():
            raise FileError(
                path,
                f"labels no gene of {read.data.path.name}: it has {listed(list(labels.index[:3]))}, …, and the "
                f"expression has {listed(list(genes[:3]))}, …",
                remedy="use the same kind of names in both",
            )
        name = path.stem if column is None else column
        found[f"{path.stem}, {name}" if name in found else name] = labels
    return found


def _kept(store: Cache) -> str:
    if not store.n_kept and not store.n_reused:
        return ""
    return f"What was computed is kept in {store.folder} and used again when the command is given again."


def _show(talk: Talk, result: Coexpression, out: Path, store: Cache) -> None:
    table = Table(title=f"Modules at alpha = {chosen_alphas(result)}")
    for name in ("group", "module", "genes", "mean r", "hubs"):
        table.add_column(name, justify="right" if name in ("genes", "mean r") else "left")
    for group in result.groups.values():
        for _, row in group.modules.iterrows():
            table.add_row(group.name, row["module"], str(row["n_genes"]), f"{row['mean_correlation']:.2f}", row["hubs"])
    talk.say(table)
    for note in result.notes:
        talk.say(note)
    for cross in next(iter(result.groups.values())).cross_tables:
        if cross.unknown:
            talk.say(f"{cross.name}: genes that are not among the analysed ones, and ignored: {cross.unknown}.")
    for pair in result.differential:
        talk.say(f"{structure(pair)} {changes(pair)}")
    if store.n_reused:
        talk.say(f"{store.n_reused} parts were finished by an earlier run and used again.")
    talk.say(f"Open {out / 'report.html'} in a browser.\nCheck the result at any time with: fantope verify {out}")
