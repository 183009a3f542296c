"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(target: Path, *, keep: Path | None = None) -> Iterator[BinaryIO]:
    """Open a file that takes the place of ``target`` once it is complete and on the disk.

    It is written beside its place, flushed to the disk and renamed over it: whoever reads ``target`` finds the old
    content or the new one, whatever happens in between. An error, be it a full disk or Ctrl-C, leaves the old content
    and nothing beside it. ``keep`` is where the old content stays, in the same folder; untouched until the new one is
    on the disk.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "answer"
    ...     with whole_file(target) as file:
    ...         _ = file.write(b"42")
    ...     target.read_bytes()
    b'42'
    """
    building = _beside(target)
    try:
        with open(building, "xb") as file:  # with the permissions of any new file: the umask decides
            yield file
            file.flush()
            os.fsync(file.fileno())
        if keep is not None and target.exists():
            _link_over(target, keep)
        os.replace(building, target)
        _sync_folder(target.parent)
    except BaseException:
        building.unlink(missing_ok=True)
        raise


def write_whole(target: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with whole_file(target) as file:
        file.write(text.encode("utf-8"))


def _beside(target: Path) -> Path:
    """Return a new name in the same folder: a rename is atomic only within a file system."""
    return target.with_name(f".{target.name}-{secrets.token_hex(8)}")


def _link_over(source: Path, target: Path) -> None:
    """Make ``target`` a second name of ``source``, atomically, without a moment in which ``source`` is missing."""
    spare = _beside(target)
    try:
        os.link(source, spare)
        os.replace(spare, target)
    except OSError:  # a file system without hard links
        with whole_file(target) as file:
            file.write(source.read_bytes())
    finally:
        spare.unlink(missing_ok=True)  # a rename onto another name of the same file leaves both


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable, where the system allows opening a folder."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
