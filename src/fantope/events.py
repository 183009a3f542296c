"""Progress as data: what a long computation reports, for a front end to show its own way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Event:
    """Something that was done on the way.

    Attributes
    ----------
    stage : str
        What is being done, by a name that does not change.
    done, total : int
        How much of this stage has been done, of how much at the most.
    subject : str
        Whom it is about: a group of samples, a pair of groups, a penalty.
    message : str
        What came out, in a few words.

    Examples
    --------
    >>> print(Event("permutations", 50, 200, "cases against controls"))
    cases against controls: 50 of 200 permutations
    """

    stage: str
    done: int
    total: int
    subject: str = ""
    message: str = ""

    @property
    def share(self) -> float:
        """How much of the stage has been done, from 0 to 1."""
        return self.done / self.total if self.total else 1.0

    def __str__(self) -> str:
        what = self.message or f"{self.done} of {self.total} {self.stage}"
        return f"{self.subject}: {what}" if self.subject else what


Listener = Callable[[Event], object]


def ignore(event: Event) -> None:
    """Listen to nothing."""
