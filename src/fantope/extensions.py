"""What applications add to the library: commands, figures and checks of results, found by entry point.

The library names no application. One that is registered but not there, because its folder was left out of an
installation, adds nothing.
"""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any


def names(kind: str) -> list[str]:
    """Return the names that applications register under ``fantope.<kind>``."""
    return sorted({entry.name for entry in entry_points(group=f"fantope.{kind}")})


def find(kind: str, name: str) -> Any | None:
    """Load what an application registers under a name; None if nobody does or the application is not there."""
    for entry in entry_points(group=f"fantope.{kind}", name=name):
        try:
            return entry.load()
        except ModuleNotFoundError as error:
            # Only its own absence: a library that it needs and lacks is an error for the caller to see.
            if not f"{entry.module}.".startswith(f"{error.name}."):
                raise
    return None
