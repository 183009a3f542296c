"""X and U on disk: all that is needed to check an answer again, apart from S."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from fantope.operators import Covariance
from fantope.penalties import L1, Entrywise
from fantope.problem.certificate import CertificateError
from fantope.problem.dual import DenseDual, ExtendedDual, LiftedDual, ReducedDual
from fantope.typing import AnyArray, Array, IntArray

PROJECTION, CERTIFICATE = "projection.npz", "certificate.npz"
BROKEN = (OSError, EOFError, ValueError, KeyError, TypeError, IndexError, zipfile.BadZipFile, zlib.error)


def save_certificate(folder: Path, projection: scipy.sparse.csr_array, dual: LiftedDual) -> None:
    """Write X and U.

    Of U only what no rule gives is stored: the rows of an active set, or the upper half of a dense U. Between
    components and among the other variables U follows from S (see docs/guarantees.md).

    Parameters
    ----------
    folder : Path
    projection : (p, p) sparse array
    dual : LiftedDual
    """
    scipy.sparse.save_npz(folder / PROJECTION, projection)
    kept = np.flatnonzero(dual.position >= 0)
    parts: dict[str, Any] = {"alpha": dual.alpha, "labels": dual.labels.astype(np.int32), "kept": kept.astype(np.int32)}
    if isinstance(dual.reduced, ExtendedDual):
        parts |= {"active": dual.reduced.active.astype(np.int32), "rows": dual.reduced.U}
    else:
        parts["half"] = _half(dual, kept)
    np.savez_compressed(folder / CERTIFICATE, **parts)


def _half(dual: LiftedDual, kept: IntArray) -> Array:
    """Return the upper half of U, row by row, with zeros between components, where U follows from S."""
    m = len(kept)
    labels = dual.labels[kept]
    half = np.empty(m * (m + 1) // 2)
    filled = 0
    for i in range(m):
        row = dual.block(kept[i : i + 1], kept[i:])[0]
        half[filled : filled + m - i] = np.where(labels[i:] == labels[i], row, 0.0)
        filled += m - i
    return half


def load_projection(folder: Path) -> scipy.sparse.csr_array:
    """Read X back.

    Raises
    ------
    CertificateError
        If the file is missing or damaged.
    """
    try:
        with (folder / PROJECTION).open("rb") as handle:  # numpy leaves a damaged archive open
            return scipy.sparse.csr_array(scipy.sparse.load_npz(handle))
    except BROKEN as error:
        raise CertificateError(f"{folder / PROJECTION} cannot be read ({error}).") from None


def load_dual(folder: Path, S: Covariance) -> LiftedDual:
    """Read U back, for the matrix S that it is to be checked against.

    Raises
    ------
    CertificateError
        If the file is missing, damaged, or not about as many variables as S has.
    """
    file = folder / CERTIFICATE
    try:
        with file.open("rb") as handle, np.load(handle, allow_pickle=False) as stored:
            parts = {name: stored[name] for name in stored.files}
        alpha = float(parts["alpha"])
        labels, kept = parts["labels"].astype(np.intp), parts["kept"].astype(np.intp)
        if len(labels) != S.size:
            raise CertificateError(f"{file} is about {len(labels)} variables, but the data have {S.size}.")
        _check_indices(labels, len(labels), distinct=False)
        _check_indices(kept, S.size)
        position = np.full(S.size, -1, dtype=np.intp)
        position[kept] = np.arange(len(kept))
        penalty = L1(alpha)
        return LiftedDual(S, penalty, labels, position, _reduced(parts, penalty, len(kept)))
    except BROKEN as error:
        raise CertificateError(f"{file} cannot be read ({error}).") from None


def _check_indices(indices: IntArray, size: int, *, distinct: bool = True) -> None:
    if indices.ndim != 1 or len(indices) == 0 or indices.min() < 0 or indices.max() >= size:
        raise ValueError("indices out of range")
    if distinct and (np.diff(indices) <= 0).any():
        raise ValueError("indices not rising")


def _reduced(parts: dict[str, AnyArray], penalty: Entrywise, m: int) -> ReducedDual:
    """Return the dual point of the reduced problem, over the kept variables."""
    if "half" in parts:
        U = np.zeros((m, m))
        upper = np.triu_indices(m)
        U[upper] = parts["half"]
        U.T[upper] = parts["half"]
        return DenseDual(U, penalty)
    active = parts["active"].astype(np.intp)
    if len(active):
        _check_indices(active, m)
    rows = np.asarray(parts["rows"], dtype=np.float64)
    if rows.shape != (len(active), m):
        raise ValueError(f"rows of shape {rows.shape} for {len(active)} active of {m} variables")
    return ExtendedDual(penalty, active, rows)
