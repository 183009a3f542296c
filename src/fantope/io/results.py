"""Results on disk: run.json with what was asked of what and what came out, and each solution, to the bit."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Container, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np
import scipy.sparse

from fantope import __version__, extensions
from fantope.checkpoint import BROKEN as BROKEN_ARCHIVE
from fantope.errors import FileError, Use
from fantope.io.certificates import (
    CERTIFICATE,
    CERTIFICATE_RECORD,
    PROJECTION,
    SOLVER,
    changes_values,
    claim,
    digest,
    from_data,
    write_certificate,
    write_sealed,
)
from fantope.io.covariances import Kind, making, operator
from fantope.io.dataset import Dataset, Reading
from fantope.io.fingerprint import checksum
from fantope.io.folder import RECORD
from fantope.io.readers import read
from fantope.io.solutions import pack, unpack, unpack_dual
from fantope.operators import Covariance
from fantope.path import Path as SolutionPath
from fantope.problem.certificate import CertificateError
from fantope.problem.dual import LiftedDual
from fantope.solvers import Solution
from fantope.typing import AnyArray

COMMANDS, STREAM = ("fantope fit", "fantope path"), "fantope stream"
WRITERS = "`fantope fit`, `path` or `coexpress`"
NEEDED = {".tsv", ".npz"}  # endings of the files without which a result is not read back; figures may be edited
BROKEN = (*BROKEN_ARCHIVE, OSError, IndexError)


@dataclass(frozen=True)
class RunRecord:
    """A run.json that was read back and found complete."""

    command: str
    input: dict[str, Any]  # ``name``, ``path`` (from the result's folder), ``sha256``, ``n_samples``, ``n_variables``
    reading: Reading
    kind: Kind
    center: bool
    n_components: int
    solutions: list[dict[str, Any]]  # ``folder``, ``alpha``, ``objective``, ``dual_bound``, ``gap``, ``status`` of each
    files: dict[str, str]  # checksum of each file
    record: dict[str, Any]  # all that run.json says


@dataclass(frozen=True)
class Inputs:
    """What a result was computed from, read again."""

    # S of each solution; None where the inputs no longer have it, and no entries if they cannot be read.
    matrices: list[Covariance | None]
    failures: list[str]  # a sentence for all that is not as it was
    described: dict[str, Any] | None = None  # how S comes from the values of the data, for certificate.json


# --- writing ---------------------------------------------------------------------------------------------------------


def write_solution(folder: Path, place: str, solution: Solution) -> dict[str, Any]:
    """Write X, U, and what the solver knows besides, into ``folder/place``; return what run.json says of them.

    X and U are all that is needed to check the answer again, apart from S.
    """
    target, state = folder / place, pack(solution)
    target.mkdir(parents=True, exist_ok=True)
    scipy.sparse.save_npz(target / PROJECTION, solution.projection)
    np.savez_compressed(target / CERTIFICATE, **state["dual"])
    step_size = np.nan if solution.step_size is None else solution.step_size
    np.savez_compressed(target / SOLVER, history=state["history"], step_size=step_size, **state["factors"])
    return {
        "folder": place,
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
        **({"steps": [asdict(step) for step in solution.steps]} if solution.steps else {}),
    }


def relative(path: Path, out: Path) -> str:
    """Return a path as seen from a result, so that both can move together."""
    source = path.expanduser().resolve()
    try:
        return Path(os.path.relpath(source, out.expanduser().resolve())).as_posix()
    except ValueError:  # on another drive
        return source.name


def write_record(
    folder: Path, command: str, data: Dataset, out: Path, reading: Reading, parameters: dict[str, Any],
    solutions: list[dict[str, Any]], *, matrices: list[dict[str, Any]] | None = None, **rest: Any,
) -> dict[str, Any]:  # fmt: skip
    """Write certificate.json and run.json into a folder that is otherwise complete, and return what run.json says.

    ``matrices`` say how the S of all solutions, or of each, is found again, where it is not simply that of ``data``.
    """
    d, tol = parameters["n_components"], parameters["tol"]
    if matrices is None:
        path = relative(data.path, out)
        matrices = [from_data(data, path, reading, parameters["kind"], parameters["center"])]
    claims = [claim(folder, each, min(k, len(matrices) - 1), d, tol) for k, each in enumerate(solutions)]
    known = data.checksum if matrices[0]["stored"] else matrices[0]["sha256"]
    write_certificate(folder, known, matrices, claims)
    record = {
        "command": command,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {
            "fantope": __version__,
            **{name: version(name) for name in ("numpy", "scipy")},
            "python": platform.python_version(),
        },
        "input": {
            "name": data.path.expanduser().resolve().name,
            "path": relative(data.path, out),
            "sha256": data.checksum,
            "format": data.description,
            "n_samples": data.shape[0],
            "n_variables": data.shape[1],
            "n_dropped": len(data.dropped),
        },
        "reading": asdict(reading),
        "parameters": parameters,
        **rest,
        "solutions": solutions,
        "files": content_checksums(folder),
    }
    write_sealed(folder / RECORD, record)
    return record


def content_checksums(folder: Path) -> dict[str, str]:
    """Return the checksum of every file of a result but its record."""
    return {name: checksum(folder / name) for name in _content(folder)}


def _content(folder: Path) -> list[str]:
    """Return the names of all files of a result but its record, with ``/`` between folders."""
    files = (file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())
    return sorted(name for name in files if name != RECORD)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_result(folder: str | os.PathLike[str], data: str | os.PathLike[str] | None = None) -> SolutionPath:
    """Read a result back: the solutions of ``fantope fit`` (one), ``path``, or a command that an application adds.

    Each comes with X, U, the solver's history and its matrix, as it was when it was written, to the bit.

    Parameters
    ----------
    folder : path
    data : path, optional
        Where the data are now; by default where run.json says, relative to ``folder``.

    Raises
    ------
    FileError
        If ``folder`` is not a result, or it or its data were changed.
    """
    folder = Path(folder)
    run = read_record(folder)
    if run.command == STREAM:
        raise FileError(folder, "was written by `fantope stream`", remedy="open its state.fantope with fantope.load")
    inputs = read_inputs(folder, run, None if data is None else Path(data))
    failures = changed_files(folder, run, NEEDED) + inputs.failures
    if failures:
        raise FileError(folder, f"cannot be read back: {failures[0].rstrip('.')}", remedy=f"run `{run.command}` again")
    pairs = zip(run.solutions, inputs.matrices, strict=True)
    solutions = tuple(load_solution(folder, run, recorded, S) for recorded, S in pairs if S is not None)
    return SolutionPath(solutions, bool(run.record.get("interrupted", False)))


def read_record(folder: Path) -> RunRecord:
    """Read run.json back.

    Raises FileError if the folder is not a result, or its record is damaged.
    """
    file, remedy = folder / RECORD, f"give the OUT of {WRITERS}"
    if not folder.is_dir():
        raise FileError(folder, "there is no such folder", remedy=remedy)
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        command = record["command"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise FileError(file, "is missing or damaged", remedy=remedy) from None
    certified = command in COMMANDS or (command == STREAM and "solutions" in record)
    if command == STREAM and not certified:
        what = "was written by `fantope stream`, which certifies the estimate of Online-P alone"
        raise FileError(folder, what, remedy="open its state.fantope with fantope.load")
    if not certified and _application(command) is None:
        raise FileError(folder, f"was written by `{command}`, not by {WRITERS}")
    try:
        return _run(record)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise damaged(folder, command, error) from None


def damaged(folder: Path, command: str, error: Exception) -> FileError:
    """Return the error for a run.json that lacks something."""
    return FileError(folder / RECORD, f"is damaged ({type(error).__name__}: {error})", remedy=f"run `{command}` again")


def _application(command: str) -> Any | None:
    """Return what reads the inputs of an application's command again (entry points ``fantope.results``)."""
    return extensions.find("results", str(command).removeprefix("fantope "))


def _run(record: dict[str, Any]) -> RunRecord:
    parameters, known = record["parameters"], {field.name for field in fields(Reading)}
    numbers = ("alpha", "objective", "dual_bound", "gap")
    solutions = [
        {**each, **{name: float(each[name]) for name in numbers}, "folder": str(each["folder"])}
        for each in record["solutions"]
    ]
    kind = parameters["kind"]
    if not solutions or kind not in ("covariance", "correlation", "precomputed"):
        raise ValueError("no solutions, or a kind that is not known")
    return RunRecord(
        command=record["command"],
        input={name: record["input"][name] for name in ("name", "path", "sha256", "n_samples", "n_variables")},
        reading=Reading(**{name: value for name, value in record["reading"].items() if name in known}),
        kind=cast(Kind, kind),
        center=bool(parameters["center"]),
        n_components=int(parameters["n_components"]),
        solutions=solutions,
        files={str(name): str(found) for name, found in record["files"].items()},
        record=record,
    )


def changed_files(folder: Path, run: RunRecord, endings: Container[str] | None = None) -> list[str]:
    """Return a sentence for each file of a result, or those with these endings, that is missing or was changed."""
    failures = []
    old = CERTIFICATE_RECORD not in run.files and not (folder / CERTIFICATE_RECORD).exists()  # from before 0.2
    if not (old and "digest" not in run.record) and run.record.get("digest") != digest(run.record):
        failures.append(f"{folder / RECORD} was changed after it was written.")
    for name, written in run.files.items():
        file = folder / name
        if endings is not None and file.suffix not in endings:
            continue
        if not file.is_file():
            failures.append(f"{file} is missing.")
        elif checksum(file) != written:
            failures.append(f"{file} was changed after it was written.")
    return failures


def uncovered_files(folder: Path, run: RunRecord) -> list[str]:
    """Return the files in a result's folder that no checksum speaks of.

    The user's own; and in a result of before 0.2 the record itself, and all that is neither a table nor an array.
    """
    own = [] if "digest" in run.record else [RECORD]
    return own + [name for name in _content(folder) if name not in run.files]


def locate_data(folder: Path, run: RunRecord, given: Path | None) -> Path:
    """Return where the data are: as given, or where run.json says."""
    path = folder / run.input["path"] if given is None else given
    if not path.exists():
        raise FileError(
            Path(run.input["name"]) if given is None else path,
            "the data are not where they were",
            remedy=("say where they are with ", Use("data")),
        )
    return path


def read_inputs(folder: Path, run: RunRecord, data: Path | None = None) -> Inputs:
    """Read what a result was computed from again, and make S of it."""
    application = _application(run.command)
    if application is not None:
        return cast(Inputs, application(folder, run, data))
    path = locate_data(folder, run, data)
    failures = []
    try:
        found, S = operator(read(path, run.reading), run.kind, center=run.center, **making(run.reading))
    except ValueError as error:
        if checksum(path) == run.input["sha256"]:
            raise
        return Inputs([], [f"{path} is not the file that was fitted: its checksum differs.", str(error)])
    if found.checksum != run.input["sha256"]:
        failures.append(f"{path} is not the file that was fitted: its checksum differs.")
    n, p = run.input["n_samples"], run.input["n_variables"]
    if found.shape != (n, p):
        failures.append(f"{path} has {found.shape[0]} × {found.shape[1]} values, but {n} × {p} were fitted.")
    described = None
    if run.command in COMMANDS and not changes_values(run.reading):
        described = from_data(found, run.input["path"], run.reading, run.kind, run.center)
    return Inputs([S] * len(run.solutions), failures, described)


def load_projection(folder: Path) -> scipy.sparse.csr_array:
    """Read X back.

    Raises CertificateError if the file is missing or damaged.
    """
    with _readable(folder / PROJECTION):
        parts = _arrays(folder / PROJECTION)
        whole = {parts[name].dtype.kind for name in ("indices", "indptr", "shape")}
        if not whole <= set("iu") or parts["data"].dtype.kind != "f":
            raise ValueError("its arrays are not of the types that a sparse matrix has")
        shape = tuple(parts["shape"].tolist())
        return scipy.sparse.csr_array((parts["data"], parts["indices"], parts["indptr"]), shape=shape)


def load_dual(folder: Path, S: Covariance) -> LiftedDual:
    """Read U back, for the matrix S that it is to be checked against.

    Raises CertificateError if the file is missing, damaged, or not about as many variables as S has.
    """
    with _readable(folder / CERTIFICATE):
        return unpack_dual(_arrays(folder / CERTIFICATE), S)


def load_solution(folder: Path, run: RunRecord, recorded: dict[str, Any], S: Covariance) -> Solution:
    """Read one solution back, with its matrix."""
    place = folder / recorded["folder"]
    X = load_projection(place)
    try:
        solver = _arrays(place / SOLVER) if (place / SOLVER).exists() else _decomposed(X)
        step_size = float(solver.pop("step_size"))
        state = {
            **recorded,
            "n_components": run.n_components,
            "n_features": S.size,
            "step_size": None if np.isnan(step_size) else step_size,
            "history": solver.pop("history"),
            "factors": solver,
            "dual": _arrays(place / CERTIFICATE),
        }
        solution = unpack(state, S)
    except BROKEN as error:
        raise FileError(place, f"cannot be read ({error})", remedy=f"run `{run.command}` again") from None
    vars(solution)["projection"] = X  # as it was written, whichever BLAS multiplies the factors now
    return solution


def read_arrays(file: Path) -> dict[str, AnyArray]:
    """Return the arrays of an archive.

    Raises CertificateError if the file is missing or damaged.
    """
    with _readable(file):
        return _arrays(file)


@contextmanager
def _readable(file: Path) -> Iterator[None]:
    try:
        yield
    except BROKEN as error:
        raise CertificateError(f"{file} cannot be read ({error}).") from None


def _arrays(file: Path) -> dict[str, AnyArray]:
    with file.open("rb") as handle, np.load(handle, allow_pickle=False) as stored:
        return {name: stored[name] for name in stored.files}


def _decomposed(X: scipy.sparse.csr_array) -> dict[str, AnyArray]:
    """Return what the solver knew of an X that was written without it, by a fantope of before 0.2."""
    rows = np.flatnonzero(np.diff(X.indptr))
    weights, vectors = np.linalg.eigh(X[rows][:, rows].toarray())
    used = np.flatnonzero(weights > 1e-12)[::-1]
    return {
        "rows": rows, "vectors": vectors.T[used], "weights": np.minimum(weights[used], 1.0),
        "history": np.zeros((0, 6)), "step_size": np.array(np.nan),
    }  # fmt: skip
