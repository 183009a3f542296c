"""Check the certificates of a co-expression analysis again: from its inputs, without a solver."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fantope.coexpression.io.source import Source, read_input
from fantope.io.checksum import checksum
from fantope.io.errors import FileError
from fantope.io.record import RECORD, Run
from fantope.io.verification import Verification, changed_files, check_solution

PREPARATION = ("transform", "min_expressed", "missing", "mangled")


def verify_coexpression(
    folder: Path, run: Run, data_path: Path | None = None, report: Callable[[float, str], None] | None = None
) -> Verification:
    """Prepare the expression as the run did, and recompute the bracket of each group's solution."""
    from fantope.coexpression.analysis.correlation import operator, rewrite
    from fantope.coexpression.analysis.expression import prepare

    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    try:
        told, parameters = record["source"], record["parameters"]
        settings = {name: parameters[name] for name in PREPARATION}
        samples = told["samples"]
        source = Source(
            data=_located(folder / run.input["path"], run.input["name"], data_path),
            samples=None if samples is None else folder / samples["path"],
            **{name: told[name] for name in ("genes_in", "layer", "sample_column", "group_column")},
            covariates=tuple(told["covariates"]),
        )
        groups = [str(each["group"]) for each in run.solutions]
        method = parameters["correlation"]
    except (KeyError, TypeError) as error:
        raise FileError(folder / RECORD, f"is damaged ({error}); run `{run.command}` again.") from None
    failures = changed_files(folder, run) + _changed_inputs(source, run, samples)
    try:
        found = read_input(source)
        prepared = prepare(found.expression.table, found.groups, covariates=found.covariates, **settings)
    except ValueError as error:
        return Verification(run, [], [*failures, str(error)])
    solutions = []
    for k, (name, each) in enumerate(zip(groups, run.solutions, strict=True)):
        if report is not None:
            report(k / len(groups), f"{name}, alpha {each['alpha']:g}")
        rows = (prepared.groups == name).to_numpy()
        if not rows.any():
            failures.append(f"the inputs have no group {name!r} any more.")
            continue
        S = operator(rewrite(prepared.expression.to_numpy()[rows], method))
        solutions.append(replace(check_solution(folder, S, run, each), group=name))
        if solutions[-1].failure:
            failures.append(f"{name}, alpha = {each['alpha']:g}: {solutions[-1].failure}")
    return Verification(run, solutions, failures)


def _located(recorded: Path, name: str, given: Path | None) -> Path:
    path = recorded if given is None else given
    if not path.exists():
        raise FileError(
            Path(name) if given is None else path,
            "the data are not where they were; say where they are with --data.",
        )
    return path


def _changed_inputs(source: Source, run: Run, samples: dict[str, Any] | None) -> list[str]:
    failures = []
    if checksum(source.data) != run.input["sha256"]:
        failures.append(f"{source.data} is not the file that was analysed: its checksum differs.")
    if source.samples is not None and samples is not None:
        if not source.samples.exists():
            raise FileError(source.samples, "the table of samples is not where it was; put it back beside the data.")
        if checksum(source.samples) != samples["sha256"]:
            failures.append(f"{source.samples} is not the table of samples that was used: its checksum differs.")
    return failures
