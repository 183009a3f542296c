"""certificate.json: what is claimed of each solution, and all that a program without fantope needs to check it.

The format is frozen and described in docs/certificate.md; ``checker/fantope_check.py`` reads it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from fantope.checkpoint import BROKEN
from fantope.io.dataset import Dataset, Reading
from fantope.io.fingerprint import checksum
from fantope.problem.certificate import width_about_zero
from fantope.typing import AnyArray

CERTIFICATE_RECORD = "certificate.json"
PROJECTION, CERTIFICATE, SOLVER = "projection.npz", "certificate.npz", "solver.npz"
FORMAT = "fantope-certificate"
VERSION, SOME_COLUMNS = 1, 2  # the second where of the rows of a U only some columns are stored
ARRAYS = {"X": SOLVER, "U": CERTIFICATE}
SAID = ("folder", "alpha", "objective", "dual_bound", "gap", "status")  # by run.json and by certificate.json alike
CLAIM = (
    "For every solution, the maximum of <S, X> - penalty(X) over all symmetric X with eigenvalues between 0 and 1 and "
    "trace n_components lies between objective and dual_bound, and the X given reaches objective."
)


def digest(record: dict[str, Any]) -> str:
    """Return the SHA-256 of what a record says, apart from the digest itself."""
    said = {name: value for name, value in record.items() if name != "digest"}
    return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def write_sealed(file: Path, record: dict[str, Any]) -> None:
    """Write a record with its digest, which is added to it."""
    record["digest"] = digest(record)
    file.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


def from_data(data: Dataset, path: str, reading: Reading, kind: str, center: bool) -> dict[str, Any]:
    """Return how S comes from a file of data, whose ``path`` is relative to the result.

    Of a format that the checker does not read it can be given the values alone, in a file that has no checksum.
    """
    n, p = data.shape
    plain = data.layout is not None or data.path.suffix.lower() == ".npy"
    layout = {
        **(data.layout or {}),
        "transpose": data.transposed,
        "columns": None if data.columns is None else data.columns.tolist(),
        "impute": "mean" if reading.impute == "mean" else None,
    }
    return {
        "file": path, "sha256": data.checksum if plain else None, "stored": False, "n_samples": n, "n_variables": p,
        "kind": kind, "center": center, "divisor": n, "layout": layout if plain else None,
    }  # fmt: skip


def stored(folder: Path, name: str, S: Any) -> dict[str, Any]:
    """Write the numbers that S comes from into the result, for what no plain file of data gives; return how."""
    values, _ = _numbers(S)
    np.save(folder / name, values)
    return _stored(folder, name, S)


def _stored(folder: Path, name: str, S: Any) -> dict[str, Any]:
    """Return what certificate.json says of a file that S comes from."""
    values, kind = _numbers(S)
    n, p = values.shape
    return {
        "file": name, "sha256": checksum(folder / name), "stored": True, "n_samples": n, "n_variables": p,
        "kind": kind, "center": False, "divisor": n, "layout": None,
    }  # fmt: skip


def _numbers(S: Any) -> tuple[AnyArray, str]:
    """Return S itself, if it is formed, or the columns whose inner products are its correlations."""
    return (S.S, "precomputed") if hasattr(S, "S") else (S.columns.X - S.mean, "correlation")


def of_operator(folder: Path, S: Any, reading: Reading) -> list[dict[str, Any]] | None:
    """Write what S comes from if it is not the values of the file themselves, but ranks of them or pairs of samples."""
    if not changes_values(reading):
        return None
    return [stored(folder, "matrix.npy" if reading.missing == "pairwise" else "ranks.npy", S)]


def changes_values(reading: Reading) -> bool:
    """Return whether S comes from something else than the values of a file."""
    return reading.missing == "pairwise" or reading.method != "pearson"


def claim(
    folder: Path, recorded: dict[str, Any], matrix: int, n_components: int, tol: float, **penalty: Any
) -> dict[str, Any]:
    """Return what certificate.json says of a solution whose arrays are written; ``penalty`` if it is not of ℓ₁ kind."""
    place = folder / recorded["folder"]
    with _arrays(place / CERTIFICATE) as arrays:
        named = str(arrays["penalty"]) if "penalty" in arrays.files else "l1"
        kind = "weighted-l1" if "weights" in arrays.files else named
    return {
        **{name: recorded[name] for name in SAID if name != "alpha"},
        "matrix": matrix,
        "n_components": n_components,
        "penalty": {"kind": kind, "alpha": recorded["alpha"], **penalty},
        "tol": tol,
        **{name: {"file": file, "sha256": checksum(place / file)} for name, file in ARRAYS.items()},
    }


def write_certificate(
    folder: Path, data: str | None, matrices: list[dict[str, Any]], claims: list[dict[str, Any]]
) -> None:
    """Write certificate.json into a folder that holds all that it speaks of; ``data`` is the checksum of the data."""
    write_sealed(folder / CERTIFICATE_RECORD, _record(folder, data, matrices, claims))


def _record(
    folder: Path, data: str | None, matrices: list[dict[str, Any]], claims: list[dict[str, Any]]
) -> dict[str, Any]:
    version = VERSION
    for each in claims:
        with _arrays(folder / each["folder"] / CERTIFICATE) as arrays:
            version = SOME_COLUMNS if "columns" in arrays.files else version
    return {
        "format": FORMAT, "version": version, "claim": CLAIM, "data": data, "matrices": matrices, "solutions": claims,
    }  # fmt: skip


def contradictions(
    folder: Path, recorded: list[dict[str, Any]], parameters: dict[str, Any], data: str | None,
    described: dict[str, Any] | None, matrices: Sequence[Any],
) -> list[str]:  # fmt: skip
    """Return a sentence for everything in certificate.json that the rest of a result, and its data, do not say.

    ``recorded``, ``parameters`` and ``data``, a checksum, are those of run.json; ``described`` is how S comes from the
    data, if it is their values that it comes from; ``matrices`` are the S of all solutions, as the data give them now.
    A result without certificate.json, of before 0.2, has nothing to contradict.
    """
    file = folder / CERTIFICATE_RECORD
    if not file.exists():
        return []
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        failures = [] if found["digest"] == digest(found) else [f"{file} was changed after it was written."]
        said, count = found["matrices"], len(found["matrices"])
        claims = [
            claim(
                folder, {name: each[name] for name in SAID}, min(k, count - 1), parameters["n_components"],
                parameters["tol"], **each.get("penalty", {}),
            )
            for k, each in enumerate(recorded)
        ]  # fmt: skip
        expected = said
        if described is not None:
            expected, data = [described], described["sha256"]
        elif len(matrices) >= count and all(S is not None for S in matrices):
            expected = [_stored(folder, one["file"], S) for one, S in zip(said, matrices, strict=False)]
            failures += [
                f"{folder / one['file']} does not hold what the data give."
                for one, S in zip(said, matrices, strict=False)
                if not _holds(folder / one["file"], _numbers(S)[0])
            ]
        wanted = _record(folder, data, expected, claims)
        other = [name for name, value in wanted.items() if found[name] != value]
    except (*BROKEN, OSError, IndexError, AttributeError, RecursionError) as error:
        return [f"{file} cannot be read ({type(error).__name__}: {error})."]
    if other:
        failures.append(f"{file} and the rest of the result differ in what they say of {', '.join(other)}.")
    return failures


def _holds(file: Path, wanted: AnyArray) -> bool:
    """Whether a file holds an array, up to the rounding of another machine."""
    with file.open("rb") as handle:
        found = np.load(handle, allow_pickle=False)
    return found.shape == wanted.shape and bool(np.abs(found - wanted).max() <= 1e-9 * np.abs(wanted).max())


@contextmanager
def _arrays(file: Path) -> Iterator[Any]:
    # NumPy leaves a file open that it was given by name and that is no archive.
    with file.open("rb") as handle, np.load(handle, allow_pickle=False) as arrays:
        yield arrays


def unfounded_status(recorded: dict[str, Any], tol: float | None, terms: float) -> str:
    """Return what is wrong with a solution that is called SOLVED, if anything; ``terms`` is the size of its terms."""
    if tol is None or recorded.get("status") != "SOLVED" or recorded["gap"] <= tol:
        return ""
    if recorded["dual_bound"] - recorded["objective"] <= width_about_zero(tol, terms):
        return ""
    return f"the status SOLVED does not follow from a gap of {recorded['gap']:.3g}, with the tolerance {tol:g}"
