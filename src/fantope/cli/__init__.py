"""The command line. The only part of fantope that prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the program's name; those of the process if absent.

    Returns
    -------
    int
        0 on success, 1 if a run did not reach what was asked, 2 on bad input, 130 if interrupted.
    """
    try:
        from fantope.cli._group import run
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in {"click", "rich"}:
            raise
        print(
            f"fantope: the command line needs {missing}, which is not installed; install the extra fantope[cli].",
            file=sys.stderr,
        )
        return 2
    return run(argv)
