"""Errors about what the user passed, with their parts as data, so that a front end can spell them its own way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import pandas as pd

SHOWN = 5  # names listed in one sentence


@dataclass(frozen=True)
class Use:
    """An argument that a sentence mentions, with the value to give it, if there is one.

    ``Use("impute", "mean")`` is ``impute='mean'`` in Python, and an option on the command line.
    """

    argument: str
    value: object = None


Text = str | Sequence[str | Use]
Spelling = Callable[[Use], str]


def in_python(use: Use) -> str:
    """Return how an argument is written in a call."""
    return use.argument if use.value is None else f"{use.argument}={use.value!r}"


class InputError(ValueError):
    """What was passed cannot be used: one sentence with the argument, what was expected, what came and the way out.

    Parameters
    ----------
    problem : str or sequence of str and Use
        What is wrong; by default "<argument> must be <expected>, got <got>".
    argument, expected, got : str
    remedy : str or sequence of str and Use
        What to do about it.

    Examples
    --------
    >>> error = InputError(argument="tol", expected="positive", got="0", remedy=("try ", Use("tol", 0.1)))
    >>> str(error)
    'tol must be positive, got 0; try tol=0.1.'
    >>> error.sentence(lambda use: " ".join([use.argument.upper()] + [str(use.value)] * (use.value is not None)))
    'TOL must be positive, got 0; try TOL 0.1.'
    """

    def __init__(
        self, problem: Text = "", *, argument: str = "", expected: str = "", got: str = "", remedy: Text = ""
    ) -> None:
        self.argument, self.expected, self.got, self.remedy = argument, expected, got, remedy
        self.problem = problem or (Use(argument), f" must be {expected}" + (f", got {got}" if got else ""))
        super().__init__(self.sentence())

    def sentence(self, spelling: Spelling = in_python) -> str:
        """Return the sentence, with arguments in the words of a front end."""
        parts = [_spelled(part, spelling) for part in (self.problem, self.remedy) if part]
        return f"{'; '.join(parts).rstrip('.')}."

    def renamed(self, names: Mapping[str, str]) -> Self:
        """Return the same error where a caller has other names for the arguments."""
        error = copy(self)
        for part in ("problem", "remedy"):
            text = getattr(self, part)
            if not isinstance(text, str):
                text = tuple(p if isinstance(p, str) else Use(names.get(p.argument, p.argument), p.value) for p in text)
            setattr(error, part, text)
        error.argument = names.get(self.argument, self.argument)
        error.args = (error.sentence(),)
        return error

    def __reduce__(self) -> Any:
        # An error that was raised in another process comes back with its parts.
        return _restored, (type(self), self.args, self.__dict__)


def require(holds: object, argument: str, expected: str, got: str = "", remedy: Text = "") -> None:
    """Refuse an argument unless it holds: "<argument> must <expected>, got <got>; <remedy>."."""
    if not holds:
        problem = (Use(argument), f" must {expected}" + (f", got {got}" if got else ""))
        raise InputError(problem, argument=argument, expected=expected.removeprefix("be "), got=got, remedy=remedy)


def check_choice(argument: str, value: object, choices: Iterable[str | None]) -> None:
    """Refuse an argument that is not one of some words."""
    known = list(choices)
    require(value in known, argument, f"be one of {', '.join(map(repr, known))}", repr(value))


class FileError(InputError):
    """A file that cannot be used: one sentence with the file, the place and the way out."""

    def __init__(self, path: Path, problem: Text, *, remedy: Text = "") -> None:
        self.path = path
        super().__init__(problem, remedy=remedy)

    def sentence(self, spelling: Spelling = in_python) -> str:
        """Return the sentence, with arguments in the words of a front end."""
        return f"{self.path}: {' '.join(super().sentence(spelling).split())}"


@contextmanager
def unreadable(path: Path, what: str, *errors: type[BaseException], remedy: str = "write it again") -> Iterator[None]:
    """Turn what reading a damaged or foreign file raises into a sentence with the beginning of the error's own."""
    try:
        yield
    except FileError:
        raise
    except errors as error:
        said = re.split(r"\n|\. ", str(error))[0] or type(error).__name__
        raise FileError(path, f"{what} ({said})", remedy=remedy) from None


@contextmanager
def renamed(**names: str) -> Iterator[None]:
    """Let errors of the block speak of arguments by the caller's names for them."""
    try:
        yield
    except InputError as error:
        raise error.renamed(names) from None


def _restored(kind: type[InputError], args: tuple[str], parts: dict[str, Any]) -> InputError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(parts)
    return error


def _spelled(text: Text, spelling: Spelling) -> str:
    return text if isinstance(text, str) else "".join(p if isinstance(p, str) else spelling(p) for p in text)


def need(module: str, extra: str = "files", what: str = "this format") -> Any:
    """Import a module that ``what`` needs, or say which extra brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{what} needs {module.partition('.')[0]}, which is not installed; install the extra fantope[{extra}]."
        ) from error


def data_frame(data: Any, index: Any = None, columns: Any = None) -> pd.DataFrame:
    """Return a pandas DataFrame, or say which extra brings pandas."""
    found: pd.DataFrame = need("pandas", "frames", "a DataFrame").DataFrame(data, index, columns)
    return found


def listed(names: Any) -> str:
    """Return "'a', 'b' and 3 more" of a list or another sequence of names; numbers stay without quotes."""
    shown = ", ".join(repr(str(name)) if isinstance(name, str) else str(name) for name in names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else "")
