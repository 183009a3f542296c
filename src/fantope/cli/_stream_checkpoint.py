"""Checkpoints of `fantope stream`: the state and how far in the input it is; written, read back, refused."""

from __future__ import annotations

import os
import tempfile
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fantope import __version__
from fantope.cli._rows import Position
from fantope.cli.console import complain

if TYPE_CHECKING:
    from fantope.estimators.online_sparse_pca import OnlineSparsePCA


@dataclass
class InputProgress:
    """What was done with the input so far; saved with the state."""

    position: Position = field(default_factory=Position)
    bad_rows: int = 0
    log: str = ""  # the file that log_size is of; none before the first run that logs bad rows
    log_size: int = 0
    fingerprint: str = ""

    def saved(self) -> dict[str, Any]:
        """Return it as plain values, with the version that wrote it."""
        return {"fantope": __version__, **asdict(self)}


@dataclass
class Resumed:
    """What a checkpoint brought back."""

    estimator: OnlineSparsePCA
    columns: list[str] | None
    progress: InputProgress
    sound: bool  # whether the newest file was the one used, and is worth keeping as the one before


def writable(folder: Path, option: str) -> None:
    """Make a folder and try to write there: better now than after hours of rows."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise ValueError(
            f"{folder}: the folder cannot be written to ({error.strerror}); choose another place with {option}."
        ) from None


def save(path: Path, estimator: OnlineSparsePCA, progress: InputProgress, keep_previous: bool) -> None:
    """Write a checkpoint; one that cannot be written leaves those before it as they are."""
    from fantope.estimators.online_states import save_estimator
    from fantope.online.persist import previous

    first = not path.exists()
    try:
        save_estimator(estimator, path, position=progress.saved(), keep_previous=keep_previous)
    except OSError as error:
        raise ValueError(
            f"{path}: the checkpoint after {estimator.n_samples_seen_} samples cannot be written ({error.strerror}); "
            "the one before it, if any, is kept. Mend that and start the same command to go on."
        ) from None
    if first:  # what is left of a checkpoint that was removed is not the one before this
        previous(path).unlink(missing_ok=True)


def resume(path: Path, wanted: OnlineSparsePCA) -> Resumed | None:
    """Return what the checkpoint holds, or the one before it where it is damaged; None if there is none."""
    from fantope.online.persist import CheckpointError, previous

    if not path.exists():  # writing never leaves it missing: it was removed, in order to start afresh
        return None
    candidates = [file for file in (path, previous(path)) if file.exists()]
    for number, file in enumerate(candidates):
        try:
            return _load(file, wanted, sound=number == 0)
        except CheckpointError as error:
            if error.reason == "version":
                raise
            what = str(error).rstrip(".")
            if number + 1 < len(candidates):
                complain(f"{what}; going on from the checkpoint before it.")
                continue
            raise ValueError(
                f"{what}; choose another --checkpoint, or remove the file if it is one and start afresh."
            ) from None
    return None


def _load(file: Path, estimator: OnlineSparsePCA, sound: bool) -> Resumed:
    from fantope.estimators.online_states import load_with_header

    found, header = load_with_header(file)
    saved = header.get("position")
    if saved is None:
        raise ValueError(
            f"{file}: this is a saved estimator without a position in an input, not a checkpoint; choose another "
            "--checkpoint."
        )
    if saved["fantope"] != __version__:
        complain(
            f"{file}: the checkpoint was made by fantope {saved['fantope']}; this is {__version__}, and results may "
            "differ in the last digits from those of a run without a cut."
        )
    if type(found) is not type(estimator):
        raise ValueError(
            f"{file}: the checkpoint was made with --algorithm {found.algorithm}, this is {estimator.algorithm}; pass "
            "the same one, or another --checkpoint."
        )
    wanted = estimator.get_params()
    differing = [
        f"{name} was {value!r} and is {wanted[name]!r}"
        for name, value in found.get_params().items()
        if wanted[name] != value
    ]
    if differing:
        raise ValueError(
            f"{file}: the checkpoint was made with other parameters ({'; '.join(differing)}); pass the same ones, "
            "or another --checkpoint."
        )
    progress = InputProgress(
        Position(**saved["position"]), saved["bad_rows"], saved.get("log", ""), saved["log_size"], saved["fingerprint"]
    )
    return Resumed(found, header["columns"], progress, sound)


def begin_log(log: Path, progress: InputProgress) -> None:
    """Forget bad rows logged after the checkpoint: they will be met again. Another file is left as it is."""
    name, size = str(log.resolve()), log.stat().st_size if log.exists() else 0
    if progress.log == name and size > progress.log_size:
        os.truncate(log, progress.log_size)
        size = progress.log_size
    progress.log, progress.log_size = name, size
