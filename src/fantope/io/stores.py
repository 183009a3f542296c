"""Stores: AnnData in HDF5 (.h5ad) and zarr, and zarr arrays. Dense matrices stay in the file, sparse ones are loaded.

AnnData's layout is read directly, so that neither the other parts of a file nor anndata itself have to be loaded.
"""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from fantope.errors import FileError, Use, listed, need, unreadable
from fantope.io.dataset import Content, Reading


def read_h5ad(path: Path, reading: Reading) -> Content:
    """Open the X or a layer of an AnnData file."""
    h5py = need("h5py")
    with unreadable(path, "is cut off or no HDF5 file", OSError):
        file = h5py.File(path, "r")
    with unreadable(path, "cannot be read to its end", OSError, RuntimeError):
        return _annotated(path, file, reading)


def read_zarr(path: Path, reading: Reading) -> Content:
    """Open a zarr array, or the X or a layer of an AnnData group."""
    zarr = need("zarr")
    errors = (OSError, ValueError, KeyError, zarr.errors.BaseZarrError)
    with unreadable(path, "is no zarr store or lacks its metadata", *errors):
        node = zarr.open(str(path), mode="r")
    with unreadable(path, "cannot be read", Exception):  # codecs raise errors of many kinds
        if not hasattr(node, "keys"):
            _check_chunks(path, node, reading)
            return Content(node)
        if "var" in node and ("X" in node or "layers" in node):
            return _annotated(path, node, reading)
        return Content(_array_of_group(path, node, reading))


def _array_of_group(path: Path, group: Any, reading: Reading) -> Any:
    arrays = [name for name in group if not hasattr(group[name], "keys") and group[name].ndim == 2]
    chosen = reading.layer or ("X" if "X" in arrays else arrays[0] if len(arrays) == 1 else None)
    if chosen not in arrays:
        found = f"the matrices {listed(sorted(arrays))}" if arrays else "no matrix"
        raise FileError(path, f"is a group with {found}", remedy=("choose one with ", Use("layer")))
    _check_chunks(path, group[chosen], reading)
    return group[chosen]


def _annotated(path: Path, group: Any, reading: Reading) -> Content:
    """Return the matrix and names of an AnnData layout, in HDF5 or zarr."""
    layers = sorted(group["layers"].keys()) if "layers" in group else []
    if reading.layer is not None and reading.layer not in layers:
        found = f"the layers {listed(layers)}" if layers else "no layers"
        way_out = ("choose another with ", Use("layer"), ", or leave it out for X")
        raise FileError(path, f"has {found}, not {reading.layer!r}", remedy=way_out)
    node = group["layers"][reading.layer] if reading.layer is not None else group.get("X")
    if node is None or _attribute(node, "encoding-type") == "null":
        way_out = ("choose a layer with ", Use("layer"), f" ({listed(layers) or 'it has none'})")
        raise FileError(path, "has no matrix X", remedy=way_out)
    return Content(_matrix(path, node, reading), _index(path, group, "obs"), _index(path, group, "var"))


def _attribute(node: Any, name: str) -> str | None:
    value = node.attrs.get(name)
    return value.decode() if isinstance(value, bytes) else value


def _matrix(path: Path, node: Any, reading: Reading) -> Any:
    if not hasattr(node, "keys"):
        _check_chunks(path, node, reading)
        return node
    kind = _attribute(node, "encoding-type") or f"{_attribute(node, 'h5sparse_format')}_matrix"
    if kind not in ("csr_matrix", "csc_matrix"):
        raise FileError(path, f"holds a matrix of the kind {kind!r}", remedy="store it dense, or as csr or csc")
    for part in ("data", "indices", "indptr"):
        _check_chunks(path, node[part], reading)
    shape = node.attrs["shape"] if "shape" in node.attrs else node.attrs["h5sparse_shape"]
    parts: Any = tuple(np.asarray(node[part][...]) for part in ("data", "indices", "indptr"))
    make: Any = scipy.sparse.csr_array if kind == "csr_matrix" else scipy.sparse.csc_array
    return make(parts, shape=tuple(int(size) for size in shape))


def _index(path: Path, group: Any, axis: str) -> list[str] | None:
    """Return the names along an axis."""
    frame = group.get(axis)
    if frame is None:
        return None
    if not hasattr(frame, "keys"):
        way_out = "open it with anndata and write it again"
        raise FileError(path, "has AnnData's layout of before 2019", remedy=way_out)
    names = frame[_attribute(frame, "_index") or "_index"]
    if hasattr(names, "keys"):  # an array with a mask of missing entries
        names = names["values"]
    return [name.decode() if isinstance(name, bytes) else str(name) for name in names[...]]


def _check_chunks(path: Path, array: Any, reading: Reading) -> None:
    """Refuse a zarr array with missing chunks: they read as the fill value, without a word."""
    if not hasattr(array, "metadata") or reading.allow_empty_chunks or not path.is_dir():
        return
    size = array.shards or array.chunks  # what one file holds
    folder = path / array.path
    counts = [math.ceil(extent / step) for extent, step in zip(array.shape, size, strict=True)]
    keys = (array.metadata.encode_chunk_key(at) for at in itertools.product(*map(range, counts)))
    missing = [key for key in keys if not (folder / key).is_file()]
    if missing:
        name = f"{array.path}/{missing[0]}".lstrip("/")
        raise FileError(
            path,
            f"lacks {len(missing)} of {math.prod(counts)} chunks, the first being {name}",
            remedy=(
                "write the store again, or, if they were left out because they hold nothing but "
                f"{array.fill_value}, say ",
                Use("allow_empty_chunks", True),
            ),
        )
