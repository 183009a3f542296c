"""What the commands share: how they talk, how they end, how they write."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TextIO, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

OK, NOT_REACHED, BAD_INPUT, ALARM, INTERRUPTED = 0, 1, 2, 3, 130
SILENCE = 30.0  # seconds without a line of progress, at most, as long as there is anything to report

Function = TypeVar("Function", bound=Callable[..., Any])


def complain(text: str) -> None:
    """Write one sentence to standard error."""
    with heard_or_not(sys.stderr):
        click.echo(f"fantope: {text}", err=True)


@contextmanager
def heard_or_not(stream: TextIO) -> Iterator[None]:
    """Go on if nobody reads ``stream`` any more, as after ``| head``: what is computed is for the files."""
    try:
        yield
    except BrokenPipeError:
        _into_the_void(stream)


def _into_the_void(stream: TextIO) -> None:
    """Let what is still written to ``stream``, and what Python flushes at the end, vanish."""
    void = os.open(os.devnull, os.O_WRONLY)
    os.dup2(void, stream.fileno())
    os.close(void)


class Screen(Console):
    """A console without markup that goes on if nobody reads it any more.

    Names of genes, groups and folders are shown as they are, whatever brackets and colons they have.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, emoji=False)

    def on_broken_pipe(self) -> None:
        """Be quiet from here on; rich would end the program."""
        self.quiet = True
        _into_the_void(sys.stderr if self.stderr else sys.stdout)


def sentence(error: BaseException, text: str | None = None) -> str:
    """Return what `error` says, or `text` in its place, on one line and without Python's error number."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}."
    if isinstance(error, MemoryError) and not str(error):
        text = "the memory does not suffice; use fewer variables or samples, or a machine with more."
    return " ".join(" ".join([text or str(error), *getattr(error, "__notes__", [])]).split()) or type(error).__name__


@dataclass(frozen=True)
class Talk:
    """How a command speaks: results to standard output, progress to standard error.

    With `json` the result is one JSON object and nothing else is said; with `quiet` nothing is.
    """

    quiet: bool = False
    json: bool = False
    # Made per command, so that streams redirected by a caller are respected.
    out: Console = field(default_factory=Screen)
    err: Console = field(default_factory=lambda: Screen(stderr=True))

    @property
    def chatty(self) -> bool:
        """Whether text for people is wanted."""
        return not (self.quiet or self.json)

    def say(self, what: Any) -> None:
        """Show text or a table to people."""
        if self.chatty:
            # In a file or a pipe a sentence is one line: a path that is broken in two cannot be copied.
            with heard_or_not(sys.stdout):
                self.out.print(what, highlight=False, soft_wrap=isinstance(what, str) and not self.out.is_terminal)

    def result(self, value: dict[str, Any]) -> None:
        """Write the machine-readable result, if it was asked for."""
        if self.json:
            with heard_or_not(sys.stdout):
                click.echo(json.dumps(value))

    @contextmanager
    def progress(self, title: str, lines: int = 10) -> Iterator[Callable[[float, str], None]]:
        """Yield ``report(fraction, text)``: a bar on a terminal, `lines` lines, and one each half minute, elsewhere.

        A fraction below 0 is for what comes before the start.
        """
        if not self.chatty:
            yield lambda fraction, text: None
        elif self.err.is_terminal:
            columns = (
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.fields[text]}", markup=False),
                TimeElapsedColumn(),
            )
            with Progress(*columns, console=self.err) as bar:
                task = bar.add_task(title, total=1.0, text="")
                yield lambda fraction, text: bar.update(task, completed=max(fraction, 0.0), text=text)
        else:
            yield _plain_lines(title, lines)


def _plain_lines(title: str, lines: int) -> Callable[[float, str], None]:
    reached, said = -math.inf, time.monotonic()

    def report(fraction: float, text: str) -> None:
        nonlocal reached, said
        part = math.floor(lines * min(fraction, 1.0) + 1e-9)
        if part > reached or time.monotonic() - said > SILENCE:
            reached, said = max(part, reached), time.monotonic()
            with heard_or_not(sys.stderr):
                print(f"{title}: {text}", file=sys.stderr, flush=True)

    return report


def with_options(*options: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return a decorator that adds options to a command, in the order in which its help lists them."""

    def add(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return add


talk_options = with_options(
    click.option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else."),
)


def given(context: click.Context, name: str) -> bool:
    """Return whether an option stands on the command line."""
    return context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
