"""Finished parts of a long computation in a folder, so that a run that was interrupted goes on where it stopped."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from fantope.checkpoint import CheckpointError, State, read_checkpoint, write_checkpoint
from fantope.errors import FileError, Use

KIND = ("fantope-cache", 1)
MARKER = "fantope-cache"


class Cache:
    """States by key in the files of one folder, each written whole or not at all.

    A key names all that its state depends on: the fingerprints of data, parameters and code
    (:mod:`fantope.io.fingerprint`). Files hold arrays and plain values alone, so reading one runs nothing; one that is
    damaged, or another's, is ignored with a note.

    Parameters
    ----------
    folder : Path
        Made when the first state is put.
    note : callable
        Called with a sentence if a file is ignored.

    Attributes
    ----------
    n_reused, n_kept : int
        States found and states put.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cache = Cache(Path(folder) / "cache", print)
    ...     cache.put("a", {"x": 1.5, "name": "one"})
    ...     Cache(Path(folder) / "cache", print).get("a"), cache.get("b")
    ({'x': 1.5, 'name': 'one'}, None)
    """

    def __init__(self, folder: Path, note: Callable[[str], object]) -> None:
        self.folder, self.note = folder, note
        self.n_reused = self.n_kept = 0
        if folder.exists() and any(folder.iterdir()) and not (folder / MARKER).exists():
            raise FileError(
                folder, "is not empty and holds no cache of fantope", remedy=("choose another with ", Use("cache"))
            )

    def get(self, key: str) -> State | None:
        """Return what was put under this key, or None."""
        file = self._file(key)
        try:
            header, state = read_checkpoint(file, KIND)
            if header != {"key": key}:
                raise CheckpointError(f"{file} was put under another key.", "foreign")
        except FileNotFoundError:
            return None
        except OSError as error:
            self.note(f"{file} cannot be read ({error.strerror}); that part is computed again.")
            return None
        except CheckpointError as error:
            what = "damaged" if error.reason == "damaged" else "not what fantope put there"
            self.note(f"{file} is {what}; that part is computed again.")
            return None
        self.n_reused += 1
        return state

    def put(self, key: str, state: State) -> None:
        """Keep a state."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            (self.folder / MARKER).touch()
            # Private: it holds the data, and the folder may be one that others can read.
            write_checkpoint(self._file(key), KIND, {"key": key}, state, private=True)
        except OSError as error:  # not to be taken for one of the result's folder
            what = f"cannot be written to ({error.strerror})"
            raise FileError(self.folder, what, remedy=("make room, or choose another with ", Use("cache"))) from error
        self.n_kept += 1

    def remove(self) -> None:
        """Remove the folder and all it holds."""
        if (self.folder / MARKER).exists():
            shutil.rmtree(self.folder)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.npz"
