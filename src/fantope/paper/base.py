"""What an experiment gets and what it may report: its progress, and that it cannot be done here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

Report = Callable[[float, str], None]


class Skipped(Exception):
    """Raised by a run that cannot be done here; the text says why."""


class Config(Protocol):
    """Parameters of one run: a frozen dataclass of plain values."""

    @property
    def label(self) -> str:
        """Its name among the runs of the experiment, fit for a file name."""
        ...
