"""What a co-expression analysis was computed from, read again, so that its certificates can be checked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fantope.coexpression.analysis.correlation import operator, rewrite
from fantope.coexpression.analysis.expression import prepare
from fantope.coexpression.io.source import Source, read_input
from fantope.errors import FileError
from fantope.io.fingerprint import checksum
from fantope.io.results import Inputs, RunRecord, damaged, locate_data
from fantope.operators import Covariance

PREPARATION = ("transform", "min_expressed", "missing", "mangled")


def read_inputs(folder: Path, run: RunRecord, data: Path | None = None) -> Inputs:
    """Prepare the expression as the run did, and return the correlation matrix of each group."""
    try:
        described, parameters = run.record["source"], run.record["parameters"]
        settings = {name: parameters[name] for name in PREPARATION}
        samples = described["samples"]
        source = Source(
            data=locate_data(folder, run, data),
            samples=None if samples is None else folder / samples["path"],
            **{name: described[name] for name in ("genes_in", "layer", "sample_column", "group_column")},
            covariates=tuple(described["covariates"]),
            probes=folder / described["probes"]["path"] if described.get("probes") else None,
        )
        groups = [str(each["group"]) for each in run.solutions]
        method = parameters["correlation"]
    except (KeyError, TypeError) as error:
        raise damaged(folder, run.command, error) from None
    failures = _changed(source, run, samples)
    try:
        found = read_input(source)
        prepared = prepare(found.table, found.groups, covariates=found.covariates, **settings)
    except ValueError as error:
        return Inputs([], [*failures, str(error)])
    matrices: list[Covariance | None] = []
    for name in groups:
        rows = (prepared.groups == name).to_numpy()
        matrices.append(operator(rewrite(prepared.expression.to_numpy()[rows], method)) if rows.any() else None)
        if not rows.any():
            failures.append(f"the inputs have no group {name!r} any more.")
    return Inputs(matrices, failures)


def _changed(source: Source, run: RunRecord, samples: dict[str, Any] | None) -> list[str]:
    known = (
        (source.probes, run.record["source"].get("probes"), "table of probes that was used"),
        (source.data, run.input, "file that was analysed"),
        (source.samples, samples, "table of samples that was used"),
    )
    failures = []
    for path, written, what in known:
        if path is None or written is None:
            continue
        if not path.exists():
            raise FileError(path, f"the {what} is not where it was", remedy="put it back beside the data")
        if checksum(path) != written["sha256"]:
            failures.append(f"{path} is not the {what}: its checksum differs.")
    return failures
