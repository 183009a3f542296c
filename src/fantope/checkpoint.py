"""One file for arrays and plain values: exact, versioned, written whole or not at all, read without running anything.

States of online learners and entries of the cache are such files: a zip archive with ``header.json`` and one .npy file
for each array.
"""

from __future__ import annotations

import errno
import io
import json
import lzma
import os
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np

from fantope.atomic import whole_file

State = dict[str, Any]  # arrays, numbers, text and None, in nested dictionaries
HEADER = "header.json"
# RuntimeError: a damaged byte that says "encrypted", or JSON nested too deep. Others name another compression, or are
# what NumPy's reader of headers, which are Python literals, meets in damaged ones.
BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, KeyError, TypeError, AttributeError, EOFError,
    ValueError, RuntimeError, SyntaxError, tokenize.TokenError,
)  # fmt: skip


class CheckpointError(ValueError):
    """A file is not a state that can be used; the text says what is wrong or what differs.

    Attributes
    ----------
    reason : {"damaged", "foreign", "version"}
        "foreign": something else than what was expected; "version": written by another version of the format.
    """

    def __init__(self, text: str, reason: Literal["damaged", "foreign", "version"] = "damaged") -> None:
        super().__init__(text)
        self.reason = reason


def write_checkpoint(
    path: str | os.PathLike[str],
    kind: tuple[str, int],
    header: dict[str, Any],
    state: State,
    *,
    keep: Path | None = None,
    private: bool = False,
) -> None:
    """Write ``header`` (what JSON can hold) and ``state`` atomically: whoever reads ``path`` finds the old or the new.

    ``kind`` is the name and the version of what is written, ``keep`` where the old content stays, and ``private``
    whether nobody else may read the file.
    """
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    plain = _flatten(state, "", arrays)
    text = json.dumps({"format": kind[0], "version": kind[1], "header": header, "plain": plain})
    with whole_file(Path(path), keep=keep) as file:
        if private and hasattr(os, "fchmod"):
            os.fchmod(file.fileno(), 0o600)
        with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(HEADER, text)
            for key, value in arrays.items():
                buffer = io.BytesIO()
                np.lib.format.write_array(buffer, np.ascontiguousarray(value), allow_pickle=False)
                archive.writestr(key + ".npy", buffer.getbuffer())


def read_checkpoint(
    path: str | os.PathLike[str], kind: tuple[str, int], *, since: int | None = None
) -> tuple[dict[str, Any], State]:
    """Return header and state of a file that :func:`write_checkpoint` wrote, from version ``since`` on if it is given.

    Raises CheckpointError if the file is damaged, is something else, or was written by another version of the format.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            content = json.loads(archive.read(HEADER))
            if content.get("format") != kind[0]:
                raise CheckpointError(f"{path} is not a state saved by fantope; choose another file.", "foreign")
            if content.get("version") not in range(kind[1] if since is None else since, kind[1] + 1):
                raise CheckpointError(
                    f"{path} has format version {content.get('version')}, this fantope reads version {kind[1]}; use "
                    "the fantope that wrote it, or start afresh with another file.",
                    "version",
                )
            state: State = dict(content["plain"])
            for name in archive.namelist():
                if name != HEADER:
                    stream = io.BytesIO(archive.read(name))
                    state[name.removesuffix(".npy")] = np.lib.format.read_array(stream, allow_pickle=False)
        return content["header"], _unflatten(state)
    except CheckpointError:
        raise
    except (*BROKEN, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:  # a damaged offset, before the file's first byte
            raise
        raise CheckpointError(f"{path} is damaged or not a state saved by fantope ({error}).") from None


def _flatten(state: State, prefix: str, arrays: dict[str, np.ndarray[Any, Any]]) -> State:
    plain: State = {}
    for key, value in state.items():
        name = prefix + key
        if isinstance(value, dict):
            plain.update(_flatten(value, name + "/", arrays))
        elif isinstance(value, np.ndarray):
            arrays[name] = value
        elif isinstance(value, float):
            plain[name] = {"float": value.hex()}  # exact, and JSON has no infinity
        else:
            plain[name] = value
    return plain


def _unflatten(flat: State) -> State:
    state: State = {}
    for name, value in flat.items():
        *folders, key = name.split("/")
        place = state
        for folder in folders:
            place = place.setdefault(folder, {})
        place[key] = float.fromhex(value["float"]) if isinstance(value, dict) and "float" in value else value
    return state
