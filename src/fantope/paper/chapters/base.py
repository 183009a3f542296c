"""What a chapter consists of, and how a claim is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from fantope.errors import require

if TYPE_CHECKING:
    from matplotlib.figure import FigureBase

    from fantope.paper.store import Stored


MOST = 8  # values of what was varied that are listed
# What is varied inside the runs of an experiment, or of a part of one.
INSIDE = {
    "batch": "step size of each method, the best is shown",
    "regret": "number of samples",
    "online": "number of samples",
    "application": "λ, chosen by the overlap rule",
    "geometry": "spectra, d",
    "estimation": "T, λ",
    "online-t": "T",
    "online-p": "T",
    "penalty": "μ, 0.001 to 10 times the paper's",
    "theorem1": "μ, points of the ball",
}


class Verdict(Enum):
    """Whether a claim of the paper agrees with what was measured."""

    HOLDS = "holds"
    PARTLY = "partly"
    FAILS = "does not hold"


@dataclass(frozen=True)
class Claim:
    """A claim of the paper in our words, what was measured, whether the two agree, and what was varied."""

    where: str  # section, figure or theorem
    text: str
    measured: str
    verdict: Verdict
    varied: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; all columns but the first are numbers."""

    head: Sequence[str]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True)
class Picture:
    """A figure, its file name without ending, and what it shows."""

    name: str
    caption: str
    figure: FigureBase


@dataclass(frozen=True)
class Chapter:
    """One section of the page: paragraphs (str), tables and pictures in order, and the claims it settles."""

    title: str
    blocks: list[str | Table | Picture] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def add(self, *blocks: str | Table | Picture) -> None:
        """Add to what is shown."""
        self.blocks.extend(blocks)

    def claim(self, where: str, text: str, measured: str, checks: Sequence[bool]) -> None:
        """Add a claim, judged by these checks."""
        self.claims.append(Claim(where, text, measured, judge(checks)))

    def describe(self, runs: Sequence[Stored], parts: Mapping[str, Callable[[list[Stored], Chapter], None]]) -> Chapter:
        """Let each part that has runs add what it shows, and return the chapter."""
        for part, show in parts.items():
            chosen = [run for run in runs if run.config["part"] == part]
            if chosen:
                show(chosen, self)
                self.note_varied(chosen, part)
        return self

    def note_varied(self, runs: Sequence[Stored], about: str) -> None:
        """Note what was varied in these runs with the claims that do not say it yet."""
        between = varied([run.config for run in runs])
        text = "; ".join(filter(None, (between, INSIDE.get(about, "")))) or "nothing: one run"
        self.claims[:] = [claim if claim.varied else replace(claim, varied=text) for claim in self.claims]


def judge(checks: Sequence[bool]) -> Verdict:
    """Return HOLDS if every check passed, FAILS if none did, else PARTLY.

    Examples
    --------
    >>> judge([True, False]).value, judge([False]).value
    ('partly', 'does not hold')
    """
    require(checks, "checks", "hold at least one result", "none")
    if all(checks):
        return Verdict.HOLDS
    return Verdict.PARTLY if any(checks) else Verdict.FAILS


def varied(configs: Sequence[Mapping[str, Any]]) -> str:
    """Return what differs between the configurations of runs, each name with its values.

    Examples
    --------
    >>> varied([{"n": 50, "seed": k, "T": 9} for k in range(10)]), varied([{"n": 50}])
    ('seed 0, 1, 2, …, 9', '')
    """
    texts = []
    for name in configs[0]:
        values = list(dict.fromkeys(_plain(config[name]) for config in configs))
        if len(values) > 1 and name != "part":
            shown = values if len(values) <= MOST else [*values[:3], "…", values[-1]]
            texts.append(f"{name} {', '.join(shown)}")
    return "; ".join(texts)


def _plain(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_plain, value))})"
    return f"{value:g}" if isinstance(value, (int, float)) else str(value)


def number(value: float | None, digits: int = 3) -> str:
    """Return a number with ``digits`` significant digits; a dash for what is not there."""
    return "–" if value is None else f"{value:.{digits}g}"


def duration(value: float) -> str:
    """Return seconds with three significant digits, as milliseconds if less than one."""
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def tolerance(loosen: float) -> str:
    """Return to what Online-P's subproblems were solved."""
    return "the theorem's tolerance" if loosen == 1 else f"{loosen:g} times the theorem's tolerance"


def several(values: Sequence[float], digits: int = 3) -> str:
    """Return numbers separated by commas."""
    return ", ".join(number(value, digits) for value in values)
