"""Finished parts of a long analysis in a folder, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

import hashlib
import os
import pickle
import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fantope.atomic import whole_file

DIGEST = 32  # bytes of a SHA-256
MARKER = "fantope-cache"


class FolderStore:
    """Values by key in the files of one folder, each written whole or not at all.

    A file starts with the SHA-256 of the rest, so that a damaged one is seen and ignored. What another version of
    fantope wrote is ignored too. Values are pickled: use only a folder of your own.

    Parameters
    ----------
    folder : Path
        Made when the first value is put.
    note : callable
        Called with a sentence if a file is ignored.

    Attributes
    ----------
    n_reused, n_kept : int
        Values found and values put.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     store = FolderStore(Path(folder) / "cache", print)
    ...     store.put("a", [1, 2])
    ...     FolderStore(Path(folder) / "cache", print).get("a"), store.get("b")
    ([1, 2], None)
    """

    def __init__(self, folder: Path, note: Callable[[str], object]) -> None:
        self.folder, self.note = folder, note
        self.n_reused = self.n_kept = 0
        if folder.exists() and any(folder.iterdir()) and not (folder / MARKER).exists():
            raise FileExistsError(f"{folder} is not empty and holds no cache of fantope; choose another with --cache.")
        self._version = version("fantope").encode() + b"\n"

    def get(self, key: str) -> Any:
        """Return what was put under this key, or None."""
        try:
            content = self._file(key).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self.note(f"{self._file(key)} cannot be read ({error.strerror}); that part is computed again.")
            return None
        digest, rest = content[:DIGEST], content[DIGEST:]
        if hashlib.sha256(rest).digest() != digest:
            self.note(f"{self._file(key)} is damaged; that part is computed again.")
            return None
        if not rest.startswith(self._version):
            self.note(f"{self._file(key)} was written by another version of fantope; that part is computed again.")
            return None
        self.n_reused += 1
        return pickle.loads(rest[len(self._version) :])

    def put(self, key: str, value: Any) -> None:
        """Keep a value."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (self.folder / MARKER).touch()
        rest = self._version + pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        with whole_file(self._file(key)) as file:
            if hasattr(os, "fchmod"):
                os.fchmod(file.fileno(), 0o600)  # it holds the data; the folder may be one that others can read
            file.write(hashlib.sha256(rest).digest() + rest)
        self.n_kept += 1

    def remove(self) -> None:
        """Remove the folder and all it holds."""
        if (self.folder / MARKER).exists():
            shutil.rmtree(self.folder)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.pickle"
