"""What an experiment gets and what it may report: its progress, and that it cannot be done here."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

Report = Callable[[float, str], None]


class Skipped(Exception):
    """Raised by a run that cannot be done here; the text says why."""


class Config:
    """Parameters of one run: a frozen dataclass of plain values, with the pattern that names a run after them."""

    pattern: ClassVar[str]

    @property
    def label(self) -> str:
        """Its name among the runs of the experiment, fit for a file name."""
        return self.pattern.format(**vars(self))
