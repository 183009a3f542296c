"""`fantope completion`: what a shell needs to complete commands, options and files."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from fantope.cli.console import OK

WHERE = {
    "bash": '~/.bashrc:                     eval "$(fantope completion bash)"',
    "zsh": '~/.zshrc, after compinit:      eval "$(fantope completion zsh)"',
    "fish": "~/.config/fish/config.fish:    fantope completion fish | source",
}


@click.command()
@click.argument("shell", required=False, type=click.Choice(list(WHERE)))
@click.pass_context
def completion(context: click.Context, shell: str | None) -> int:
    """Print the script that makes the Tab key complete fantope's commands, options and files.

    Without SHELL it says which line to add to which file, for the shell in use.

    Example: eval "$(fantope completion bash)"
    """
    if shell is None:
        mine = Path(os.environ.get("SHELL", "")).name
        lines = [WHERE[mine]] if mine in WHERE else list(WHERE.values())
        click.echo(
            "Add this line to the file named, and open a new shell:\n" + "\n".join(f"  {line}" for line in lines)
        )
        return OK
    found = get_completion_class(shell)
    assert found is not None  # click knows the three of WHERE
    click.echo(found(context.find_root().command, {}, "fantope", "_FANTOPE_COMPLETE").source())
    return OK
