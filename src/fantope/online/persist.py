"""State on disk: exact, versioned, written whole or not at all, with the state before it kept as a fallback."""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fantope.atomic import whole_file
from fantope.online.base import State

FORMAT = "fantope-online"
VERSION = 4  # 2, 3, 4: what Online-P leaves for its next subproblem
HEADER = "header.json"


class CheckpointError(ValueError):
    """A file is not a state that can be used; the text says what is wrong or what differs."""


def previous(path: Path) -> Path:
    """Return where the state before the one in ``path`` is kept."""
    return path.with_name(path.name + ".previous")


def write_state(path: str | os.PathLike[str], header: dict[str, Any], state: State, *, keep_previous: bool) -> None:
    """Write ``header`` (plain values) and ``state`` (arrays, numbers, text; nested dictionaries) atomically.

    Whoever reads ``path`` finds the old state or the new one. With ``keep_previous`` the old one stays as
    ``path.previous``.
    """
    target = Path(path)
    arrays: dict[str, np.ndarray[Any, Any]] = {}
    plain = _flatten(state, "", arrays)
    text = json.dumps({"format": FORMAT, "version": VERSION, "header": header, "plain": plain})
    with (
        whole_file(target, keep=previous(target) if keep_previous else None) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive,
    ):
        archive.writestr(HEADER, text)
        for key, value in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(value), allow_pickle=False)
            archive.writestr(key + ".npy", buffer.getbuffer())


def read_state(path: str | os.PathLike[str]) -> tuple[dict[str, Any], State]:
    """Return header and state of a file that :func:`write_state` wrote.

    Raises
    ------
    CheckpointError
        If the file is damaged, is something else, or was written by another version of the format.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            content = json.loads(archive.read(HEADER))
            if content.get("format") != FORMAT:
                raise CheckpointError(f"{path} is not a state saved by fantope; choose another file.")
            if content.get("version") != VERSION:
                raise CheckpointError(
                    f"{path} has format version {content.get('version')}, this fantope reads version {VERSION}; use "
                    "the fantope that wrote it, or start afresh with another file."
                )
            state: State = dict(content["plain"])
            for name in archive.namelist():
                if name != HEADER:
                    stream = io.BytesIO(archive.read(name))
                    state[name.removesuffix(".npy")] = np.lib.format.read_array(stream, allow_pickle=False)
    except (zipfile.BadZipFile, zlib.error, KeyError, EOFError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path} is damaged or not a state saved by fantope ({error}).") from None
    except (ValueError, RuntimeError) as error:  # RuntimeError: a damaged byte that says "encrypted"
        if isinstance(error, CheckpointError):
            raise
        raise CheckpointError(f"{path} is damaged ({error}).") from None
    return content["header"], _unflatten(state)


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
