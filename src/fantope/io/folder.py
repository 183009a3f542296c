"""A result's folder: it appears whole or not at all, and nothing that is not ours is replaced."""

from __future__ import annotations

import errno
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fantope.errors import FileError, Use

RECORD = "run.json"  # a folder that has one is whole
NO_ROOM = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}  # Windows knows no quota
ANOTHER = ("choose another folder with ", Use("out"))


@contextmanager
def result_folder(target: Path, *, command: str, replace: bool = True) -> Iterator[Path]:
    """Yield an empty folder that becomes `target` when the block ends, or vanishes if it fails.

    An existing `target` is replaced only if it is empty or carries the record of the same command, and, unless it is
    empty, only with `replace`; anything else might be the user's own work. The record is written here unless the block
    writes it.
    """
    target = target.expanduser().resolve()
    refuse_foreign(target, command, replace)
    building = _scratch(target)
    try:
        yield building
        if not (building / RECORD).exists():
            (building / RECORD).write_text(json.dumps({"command": command}) + "\n", encoding="utf-8")
        umask = os.umask(0)
        os.umask(umask)
        building.chmod(0o777 & ~umask)  # mkdtemp gives 0700, which is not what a result folder should have
        refuse_foreign(target, command, replace)  # minutes may have passed
        _swap(building, target)
    except BaseException as error:
        shutil.rmtree(building, ignore_errors=True)
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise FileError(
                target, f"{error.strerror}, so nothing was written", remedy=("make room, or ", *ANOTHER)
            ) from error
        raise


def refuse_foreign(target: Path, command: str, replace: bool = True) -> bool:
    """Return whether a folder has content, which must be that of the same command and is there to be replaced."""
    if not target.exists():
        return False
    if not target.is_dir():
        raise FileError(target, "is a file, not a folder", remedy=ANOTHER)
    if not any(target.iterdir()):
        return False
    try:
        writer = json.loads((target / RECORD).read_text(encoding="utf-8"))["command"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        writer = None
    if writer != command:
        raise FileError(target, f"is not empty and was not written by `{command}`", remedy=ANOTHER)
    if not replace:
        raise FileError(target, "exists already", remedy=(*ANOTHER, ", or replace it with ", Use("overwrite", True)))
    return True


def _scratch(target: Path) -> Path:
    """Return a new folder beside `target`, because a rename is atomic only within one file system."""
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise FileError(target.parent, f"cannot be written to ({error.strerror})", remedy=ANOTHER) from error


def _swap(building: Path, target: Path) -> None:
    if not target.exists():
        building.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        target.rename(old / "old")
        try:
            building.rename(target)
        except BaseException:
            (old / "old").rename(target)
            raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
