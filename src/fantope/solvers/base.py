"""What a solver is: init, step, candidate. The loop that drives it is in iterate.py."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from fantope.penalties.structured import Parts
from fantope.problem.dual import ReducedDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors
from fantope.typing import Array, IntArray


@dataclass(frozen=True)
class Start:
    """Where to start from."""

    rows: IntArray  # (r,): the variables of the reduced problem that it covers, ascending; X is zero elsewhere
    X: Array  # (r, r): a primal guess; it need not be feasible
    U: Array | None = None  # (r, r): a dual guess
    step_size: float | None = None  # the step size at which an earlier run ended
    parts: Parts | None = None  # a dual guess for a structured penalty, over all variables

    def spread(self, problem: Problem) -> tuple[Array, Array | None]:
        """Return X and U over all variables; where there is no dual guess it is S, clipped to the box."""
        if len(self.rows) == problem.size:
            return self.X, self.U
        where = np.ix_(self.rows, self.rows)
        X = np.zeros_like(problem.S)
        X[where] = self.X
        if self.U is None:
            return X, None
        U = problem.box.clip(problem.S.copy())
        U[where] = self.U
        return X, U


@dataclass(frozen=True)
class Candidate:
    """A primal and a dual point read from a solver's state; either may be missing for the moment.

    The dual point may be in an array that the solver lends: it is good until the next step, and so far nobody writes to
    it. A certificate has an array of its own for S − U. ``leading`` may hold approximate leading eigenvectors of S − U
    as rows: a help to be fast, no part of the proof.
    """

    X: Factors | None
    dual: ReducedDual | None
    n_active: int
    leading: Array | None = None


class Solver(Protocol):
    """One algorithm. Options are its attributes; what changes while it runs is in the state."""

    @property
    def name(self) -> str:
        """What the solution says it was solved by."""

    @property
    def max_iter(self) -> int:
        """Default limit of iterations."""

    @property
    def check_every(self) -> int:
        """Steps between two certificates."""

    def init(self, problem: Problem, start: Start | None, tol: float) -> Any:
        """Return the state before the first iteration."""

    def step(self, problem: Problem, state: Any, budget: int) -> int:
        """Advance the state in place; return the number of iterations done, at most ``budget``."""

    def candidate(self, problem: Problem, state: Any) -> Candidate:
        """Return the primal and dual points that the state stands for."""
