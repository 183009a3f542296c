"""A file that cannot be used, and libraries that a format needs."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

SHOWN = 5  # names listed in one sentence


class FileError(ValueError):
    """A file that cannot be used: one sentence with the file, the place and the way out."""

    def __init__(self, path: Path, text: str) -> None:
        super().__init__(f"{path}: {' '.join(text.split())}")
        self.path = path


def need(module: str) -> Any:
    """Import what a format needs, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this format needs {module.partition('.')[0]}, which is not installed; install the extra fantope[files]."
        ) from error


def listed(names: list[str]) -> str:
    """Return "'a', 'b' and 3 more"."""
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
