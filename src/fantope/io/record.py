"""run.json: what was asked of what, by which versions, and what came out."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from fantope import extensions
from fantope.io.checksum import checksum
from fantope.io.content import Data, Reading
from fantope.io.errors import FileError
from fantope.io.operator import Kind
from fantope.solvers import Solution

RECORD = "run.json"
COMMANDS = ("fantope fit", "fantope path")
CHECKED = {".tsv", ".npz"}  # endings of the files whose checksums are recorded; figures may be edited


@dataclass(frozen=True)
class Run:
    """A run.json that was read back and found complete.

    Attributes
    ----------
    command : str
    input : dict
        ``name``, ``path`` (from the result's folder), ``sha256``, ``n_samples``, ``n_variables``.
    reading : Reading
    kind : str
    center : bool
    n_components : int
    solutions : list of dict
        ``folder``, ``alpha``, ``objective``, ``dual_bound``, ``gap``, ``status`` of each.
    files : dict
        Checksum of each file.
    """

    command: str
    input: dict[str, Any]
    reading: Reading
    kind: Kind
    center: bool
    n_components: int
    solutions: list[dict[str, Any]]
    files: dict[str, str]


def describe_input(data: Data, out: Path) -> dict[str, Any]:
    """Return what run.json says of the data; the path is relative to the result, so that both can move together."""
    source, target = data.path.expanduser().resolve(), out.expanduser().resolve()
    try:
        path = Path(os.path.relpath(source, target)).as_posix()
    except ValueError:  # on another drive
        path = source.name
    return {
        "name": source.name,
        "path": path,
        "sha256": data.checksum,
        "format": data.description,
        "n_samples": data.shape[0],
        "n_variables": data.shape[1],
        "n_dropped": len(data.dropped),
    }


def describe_solution(solution: Solution, folder: str) -> dict[str, Any]:
    """Return what run.json says of one solution."""
    return {
        "folder": folder,
        "alpha": solution.alpha,
        "objective": solution.objective,
        "dual_bound": solution.dual_bound,
        "gap": solution.gap,
        "status": solution.status.name,
        "n_variables": len(solution.support),
        "explained_variance": float(solution.explained_variance.sum()),
        "is_projection": solution.is_projection,
        "n_iter": solution.n_iter,
        "solver": solution.solver,
    }


def write_record(
    folder: Path, command: str, data: Data, out: Path, reading: Reading, parameters: dict[str, Any],
    solutions: list[dict[str, Any]], **rest: Any,
) -> dict[str, Any]:  # fmt: skip
    """Write run.json into a folder that is otherwise complete, and return what it says."""
    record = {
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            **{name: version(name) for name in ("fantope", "numpy", "scipy")},
            "python": platform.python_version(),
        },
        "input": describe_input(data, out),
        "reading": asdict(reading),
        "parameters": parameters,
        **rest,
        "solutions": solutions,
        "files": {
            file.relative_to(folder).as_posix(): checksum(file)
            for file in sorted(folder.rglob("*"))
            if file.suffix in CHECKED
        },
    }
    (folder / RECORD).write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    return record


def read_record(folder: Path) -> Run:
    """Read run.json back.

    Raises
    ------
    FileError
        If the folder is not a result, or its record is damaged.
    """
    file = folder / RECORD
    if not folder.is_dir():
        raise FileError(folder, "there is no such folder; give the OUT of `fantope fit`, `path` or `coexpress`.")
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        command = record["command"]
    except (OSError, ValueError, KeyError, TypeError):
        raise FileError(file, "is missing or damaged; give the OUT of `fantope fit`, `path` or `coexpress`.") from None
    if command not in COMMANDS and application_check(command) is None:
        raise FileError(folder, f"was written by `{command}`, not by `fantope fit`, `path` or `coexpress`.")
    try:
        return _run(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FileError(file, f"is damaged ({type(error).__name__}: {error}); run `{command}` again.") from None


def application_check(command: str) -> Any | None:
    """Return the function that checks results of an application's command (entry points ``fantope.results``)."""
    return extensions.find("results", str(command).removeprefix("fantope "))


def _run(record: dict[str, Any]) -> Run:
    parameters, known = record["parameters"], {field.name for field in fields(Reading)}
    numbers = ("alpha", "objective", "dual_bound", "gap")
    solutions = [
        {**each, **{name: float(each[name]) for name in numbers}, "folder": str(each["folder"])}
        for each in record["solutions"]
    ]
    kind = parameters["kind"]
    if not solutions or kind not in ("covariance", "correlation", "precomputed"):
        raise ValueError("no solutions, or a kind that is not known")
    return Run(
        command=record["command"],
        input={name: record["input"][name] for name in ("name", "path", "sha256", "n_samples", "n_variables")},
        reading=Reading(**{name: value for name, value in record["reading"].items() if name in known}),
        kind=cast(Kind, kind),
        center=bool(parameters["center"]),
        n_components=int(parameters["n_components"]),
        solutions=solutions,
        files={str(name): str(digest) for name, digest in record["files"].items()},
    )
