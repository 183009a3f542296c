"""certificate.json: what is claimed of each solution, and all that a program without fantope needs to check it.

The format is frozen and described in docs/certificate.md; ``checker/fantope_check.py`` reads it.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from fantope.io.dataset import Dataset, Reading
from fantope.io.fingerprint import checksum
from fantope.problem.certificate import width_about_zero

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


def stored(folder: Path, name: str, values: Any, kind: str) -> dict[str, Any]:
    """Write the numbers that S comes from into the result, for what no plain file of data gives; return how."""
    np.save(folder / name, values)
    n, p = values.shape
    return {
        "file": name, "sha256": checksum(folder / name), "stored": True, "n_samples": n, "n_variables": p,
        "kind": kind, "center": False, "divisor": n, "layout": None,
    }  # fmt: skip


def of_operator(folder: Path, S: Any, reading: Reading) -> list[dict[str, Any]] | None:
    """Write what S comes from if it is not the values of the file themselves, but ranks of them or pairs of samples."""
    if reading.missing == "pairwise":
        return [stored(folder, "matrix.npy", S.S, "precomputed")]
    if reading.method != "pearson":
        return [stored(folder, "ranks.npy", S.columns.X - S.mean, "correlation")]
    return None


def claim(
    folder: Path, recorded: dict[str, Any], matrix: int, n_components: int, tol: float, **penalty: Any
) -> dict[str, Any]:
    """Return what certificate.json says of a solution whose arrays are written; ``penalty`` if it is not of ℓ₁ kind."""
    place = folder / recorded["folder"]
    with np.load(place / CERTIFICATE, allow_pickle=False) as arrays:
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
    version = VERSION
    for each in claims:
        with np.load(folder / each["folder"] / CERTIFICATE, allow_pickle=False) as arrays:
            version = SOME_COLUMNS if "columns" in arrays.files else version
    record = {
        "format": FORMAT, "version": version, "claim": CLAIM, "data": data, "matrices": matrices, "solutions": claims,
    }  # fmt: skip
    write_sealed(folder / CERTIFICATE_RECORD, record)


def contradictions(folder: Path, recorded: list[dict[str, Any]]) -> list[str]:
    """Return a sentence for everything in certificate.json that is not what run.json says of the solutions.

    A result without one, of before 0.3, has nothing to contradict.
    """
    file = folder / CERTIFICATE_RECORD
    if not file.exists():
        return []
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        whole = found["digest"] == digest(found)
        said = [{**each, "alpha": each["penalty"]["alpha"]} for each in found["solutions"]]
        same = len(said) == len(recorded) and all(
            one[name] == other[name] for one, other in zip(said, recorded, strict=True) for name in SAID
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        return [f"{file} cannot be read ({type(error).__name__}: {error})."]
    failures = [] if whole else [f"{file} was changed after it was written."]
    return failures if same else [*failures, f"{file} claims something else than run.json does."]


def unfounded_status(recorded: dict[str, Any], tol: float | None, terms: float) -> str:
    """Return what is wrong with a solution that is called SOLVED, if anything; ``terms`` is the size of its terms."""
    if tol is None or recorded.get("status") != "SOLVED" or recorded["gap"] <= tol:
        return ""
    if recorded["dual_bound"] - recorded["objective"] <= width_about_zero(tol, terms):
        return ""
    return f"the status SOLVED does not follow from a gap of {recorded['gap']:.3g}, with the tolerance {tol:g}"
