"""The group of commands, and what becomes of the errors they raise."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version

import click

from fantope.cli._console import BAD_INPUT, INTERRUPTED, complain, sentence
from fantope.cli.coexpress import coexpress
from fantope.cli.demo import demo
from fantope.cli.fit import fit
from fantope.cli.path import path
from fantope.cli.reproduce import reproduce
from fantope.cli.stream import stream
from fantope.cli.verify import verify


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("fantope"), prog_name="fantope")
def cli() -> None:
    """Convex sparse PCA with a certificate of how far each answer can be from the best."""


for command in (coexpress, demo, fit, path, reproduce, stream, verify):
    cli.add_command(command)


def run(argv: Sequence[str] | None) -> int:
    """Run the group on `argv` and turn every expected failure into one sentence and an exit code."""
    try:
        code = cli.main(args=None if argv is None else list(argv), prog_name="fantope", standalone_mode=False)
    except (click.Abort, KeyboardInterrupt):
        complain("interrupted; nothing was written.")
        return INTERRUPTED
    except click.UsageError as error:
        # Click's own display adds the usage line, which tells the reader where to look.
        error.show()
        return BAD_INPUT
    except click.ClickException as error:
        complain(error.format_message())
        return BAD_INPUT
    except ImportError as error:
        # The library explains a missing extra by raising from the bare error; any other is a fault.
        if error.__cause__ is None:
            raise
        complain(sentence(error))
        return BAD_INPUT
    except (ValueError, OSError, MemoryError) as error:
        complain(sentence(error))
        return BAD_INPUT
    return int(code or 0)
