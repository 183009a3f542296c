"""States of online learners on disk, with the state before the last kept as a fallback."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fantope.checkpoint import CheckpointError, State, read_checkpoint, write_checkpoint

__all__ = ["CheckpointError", "previous", "read_state", "write_state"]

# 2, 3, 4: what Online-P leaves for its next subproblem; 5: the unit of the data; 6: windows and checks
KIND = ("fantope-online", 6)


def previous(path: Path) -> Path:
    """Return where the state before the one in ``path`` is kept."""
    return path.with_name(path.name + ".previous")


def write_state(path: str | os.PathLike[str], header: dict[str, Any], state: State, *, keep_previous: bool) -> None:
    """Write a header and a state; with ``keep_previous`` the old one stays as ``path.previous``."""
    write_checkpoint(path, KIND, header, state, keep=previous(Path(path)) if keep_previous else None)


def read_state(path: str | os.PathLike[str]) -> tuple[dict[str, Any], State]:
    """Return header and state of a file that :func:`write_state` wrote, or raise ``CheckpointError``."""
    return read_checkpoint(path, KIND, since=4)
