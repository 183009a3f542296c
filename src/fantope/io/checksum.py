"""SHA-256 of a file, or of a folder that stands for one."""

from __future__ import annotations

import hashlib
from pathlib import Path


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file; of a folder, that of all its files' names and contents in sorted order."""
    if path.is_file():
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    whole = hashlib.sha256()
    for file_path in sorted(file for file in path.rglob("*") if file.is_file()):
        # A digest has a fixed length, and no name holds a NUL: nothing can move from one file into the next.
        whole.update(file_path.relative_to(path).as_posix().encode() + b"\0")
        whole.update(bytes.fromhex(checksum(file_path)))
    return whole.hexdigest()
