"""What a solver is: init, step, candidate. The loop that drives it is in iterate.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from fantope.problem.dual import ReducedDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors
from fantope.typing import Array


@dataclass(frozen=True)
class Start:
    """Where to start from, over the variables of the reduced problem.

    Attributes
    ----------
    X : (m, m) array
        A primal guess; it need not be feasible.
    U : (m, m) array or None
        A dual guess.
    """

    X: Array
    U: Array | None = None


@dataclass(frozen=True)
class Candidate:
    """A primal and a dual point read from a solver's state; either may be missing for the moment."""

    X: Factors | None
    dual: ReducedDual | None
    n_active: int


class Solver(Protocol):
    """One algorithm. Options are its attributes; what changes while it runs is in the state."""

    @property
    def name(self) -> str:
        """What the solution says it was solved by."""
        ...

    @property
    def max_iter(self) -> int:
        """Default limit of iterations."""
        ...

    @property
    def check_every(self) -> int:
        """Steps between two certificates."""
        ...

    def init(self, problem: Problem, start: Start | None, tol: float) -> Any:
        """Return the state before the first iteration."""
        ...

    def step(self, problem: Problem, state: Any, budget: int) -> int:
        """Advance the state in place; return the number of iterations done, at most ``budget``."""
        ...

    def candidate(self, problem: Problem, state: Any) -> Candidate:
        """Return the primal and dual points that the state stands for."""
        ...
