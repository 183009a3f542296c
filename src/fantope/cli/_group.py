"""The group of commands, and what becomes of the errors they raise."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from fantope import __version__, extensions
from fantope.cli.console import BAD_INPUT, INTERRUPTED, complain, heard_or_not, sentence
from fantope.errors import InputError, Spelling, Use, in_python
from fantope.interrupts import noticed_interrupts

CORE = ("completion", "demo", "fit", "path", "stream", "verify")
FIRST = """\
fantope: sparse principal components, each answer with a proof of how far it can be from the best.

New here?       fantope demo                            simulates, fits, certifies and draws; takes seconds
A table:        fantope fit data.csv -d 2 -o result     rows are samples, columns variables; a penalty is proposed
Which penalty:  fantope path data.csv -d 2 -o path      every penalty from sparse to dense, each certified
Is it true:     fantope verify result                   checks the proof again, without any solver
Genes, groups:  fantope coexpress --demo                modules, differences between groups, a report
Rows that come: fantope stream data.csv -o now          learns row by row

fantope --help lists every command, fantope COMMAND --help its options with an example.
fantope completion prints what makes the Tab key complete them."""


class Commands(click.Group):
    """Loads a command when it is used; applications register theirs as entry points ``fantope.commands``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands that are there."""
        return sorted([*CORE, *(name for name in extensions.names("commands") if extensions.find("commands", name))])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command; None, which click reports, if there is none of that name."""
        if cmd_name in CORE:
            command: click.Command = getattr(import_module(f"fantope.cli.{cmd_name}"), cmd_name)
            return command
        found: click.Command | None = extensions.find("commands", cmd_name)
        if found is None and cmd_name in extensions.names("commands"):
            raise click.UsageError(
                f"the command {cmd_name!r} belongs to an application that was left out of this installation; "
                "install fantope whole."
            )
        return found

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; its errors about arguments speak of the options that the user has to type."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            command = self.get_command(ctx, str(ctx.invoked_subcommand))
            spelled = error.sentence(_flags([] if command is None else command.params))
            raise click.ClickException(sentence(error, spelled)) from error


def _flags(parameters: list[click.Parameter]) -> Spelling:
    """Return how the arguments of the library are spelled as options of a command."""
    flags = {flag: option for option in parameters if isinstance(option, click.Option) for flag in option.opts}
    names = {str(option.name): option for option in flags.values()}

    def spelled(use: Use) -> str:
        option = names.get(use.argument) or flags.get(f"--{use.argument.replace('_', '-')}")
        if option is None:
            return in_python(use)
        flag = option.opts[0]
        return flag if option.is_flag or use.value is None else f"{flag} {shlex.quote(str(use.value))}"

    return spelled


@click.group(cls=Commands, invoke_without_command=True, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="fantope")
@click.pass_context
def cli(context: click.Context) -> None:
    """Convex sparse PCA with a certificate of how far each answer can be from the best."""
    if context.invoked_subcommand is None:
        with heard_or_not(sys.stdout):
            click.echo(FIRST)


def run(argv: Sequence[str] | None) -> int:
    """Run the group on `argv` and turn every expected failure into one sentence and an exit code."""
    with noticed_interrupts() as came:
        try:
            code = cli.main(args=None if argv is None else list(argv), prog_name="fantope", standalone_mode=False)
            return int(code or 0)
        except (click.Abort, KeyboardInterrupt):
            pass
        except Exception as error:
            # Compiled modules turn a Ctrl-C that comes while they are loaded into an ImportError.
            if not came.is_set():
                return _failed(error)
    complain("interrupted; nothing was written.")
    return INTERRUPTED


def _failed(error: Exception) -> int:
    """Say in one sentence what was wrong; raise what is a fault of the program."""
    if isinstance(error, click.UsageError):
        # Click's own display adds the usage line, which says where to look.
        error.show()
    elif isinstance(error, click.ClickException):
        complain(error.format_message())
    # The library explains a missing extra by raising from the bare error; any other is a fault.
    elif isinstance(error, ValueError | OSError | MemoryError) or (isinstance(error, ImportError) and error.__cause__):
        complain(sentence(error))
    else:
        raise error
    return BAD_INPUT
