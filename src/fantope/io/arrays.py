"""NumPy files: .npy, mapped into memory as it is read, and .npz, dense or scipy.sparse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from fantope.checkpoint import BROKEN as BROKEN_ARCHIVE
from fantope.errors import FileError, Use, listed, unreadable
from fantope.io.dataset import Content, Reading

COLUMN_NAMES = ("variables", "var_names", "names", "columns", "feature_names")
ROW_NAMES = ("samples", "obs_names", "index")
BROKEN = (*BROKEN_ARCHIVE, OSError)


def read_npy(path: Path, reading: Reading) -> Content:
    """Map a .npy file; nothing is read until it is needed."""
    if path.stat().st_size == 0:
        raise FileError(path, "is empty", remedy="check how it was written")
    with unreadable(path, "is cut off or no .npy file", *BROKEN):
        if _holds_objects(path):
            raise FileError(path, "holds Python objects, not numbers", remedy="save it as floats")
        values = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(values, np.ndarray):  # numpy goes by content, and this is an archive
        values.close()
        raise FileError(path, "is an archive of arrays", remedy="give it the ending .npz")
    return Content(values)


def _holds_objects(path: Path) -> bool:
    """Return whether the header of a .npy file speaks of Python objects, which numpy would have to unpickle."""
    with path.open("rb") as file:
        if file.read(2) != np.lib.format.MAGIC_PREFIX[:2]:
            return False
        file.seek(0)
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        return bool(read(file)[2].hasobject)


def read_npz(path: Path, reading: Reading) -> Content:
    """Read the matrix ``X`` (or the only one, or the layer) of an archive, or a matrix that scipy.sparse saved."""
    if path.stat().st_size == 0:
        raise FileError(path, "is empty", remedy="check how it was written")
    # Opened here: numpy leaves a damaged archive open.
    with unreadable(path, "is cut off or no .npz file", *BROKEN), path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        if isinstance(archive, np.ndarray):
            raise FileError(path, "is a single array", remedy="give it the ending .npy")
        values = _sparse(archive) if reading.layer is None else None
        if values is None:
            values = archive[_choose(path, archive, reading.layer)]
        return Content(values, _names(archive, ROW_NAMES), _names(archive, COLUMN_NAMES))


def _sparse(archive: Mapping[str, Any]) -> Any:
    """Return the matrix that scipy.sparse.save_npz wrote (or its parts under the same names), else None."""
    if not {"data", "shape"} <= set(archive):
        return None
    shape = tuple(int(size) for size in archive["shape"])
    if {"row", "col"} <= set(archive):
        return scipy.sparse.csr_array(
            scipy.sparse.coo_array((archive["data"], (archive["row"], archive["col"])), shape=shape)
        )
    if not {"indices", "indptr"} <= set(archive):
        return None
    parts = (archive["data"], archive["indices"], archive["indptr"])
    stored = archive["format"].item() if "format" in archive else b"csr"
    kinds = {"csr": scipy.sparse.csr_array, "csc": scipy.sparse.csc_array, "bsr": scipy.sparse.bsr_array}
    matrix = kinds[stored.decode() if isinstance(stored, bytes) else str(stored)](parts, shape=shape)
    return matrix if matrix.format != "bsr" else scipy.sparse.csr_array(matrix)


def _choose(path: Path, archive: Mapping[str, Any], layer: str | None) -> str:
    if layer is not None:
        if layer not in archive:
            way_out = (f"choose one of {listed(sorted(archive))} with ", Use("layer"))
            raise FileError(path, f"has no array {layer!r}", remedy=way_out)
        return layer
    if "X" in archive:
        return "X"
    matrices = [name for name in archive if archive[name].ndim == 2 and archive[name].dtype.kind in "iufb"]
    if len(matrices) != 1:
        found = f"the matrices {listed(sorted(matrices))}" if matrices else "no matrix of numbers"
        remedy = ("choose one with ", Use("layer"), ", or save it as 'X'")
        raise FileError(path, f"holds {found} and none called 'X'", remedy=remedy)
    return matrices[0]


def _names(archive: Mapping[str, Any], keys: Sequence[str]) -> list[str] | None:
    for key in keys:
        if key in archive and archive[key].ndim == 1:
            return [str(name) for name in archive[key]]
    return None
