"""Circulant S: a linear programme, for the runs in which splitting crawls.

Shifting all variables in a circle does not change S, so the mean of an optimal X over all shifts is optimal, and
circulant, and so is that of U. With first rows c and u, and m_j entries alike in each row, the eigenvalues
Σ_j m_j c_j cos(2πjk/p) of X must be in [0, 1], and those of S − U give the bound: linear in c and in u. An optimum that
is not circulant may have fewer variables, so this comes second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from fantope.problem.dual import DenseDual
from fantope.problem.problem import Problem
from fantope.problem.projection import shrink
from fantope.solvers.base import Candidate, Start
from fantope.typing import Array


def is_circulant(problem: Problem) -> bool:
    """Whether S is the same after a shift by one, to rounding, and all weights are."""
    S = problem.S
    alike = isinstance(problem.limits, float) and problem.size > 2
    return alike and bool(np.abs(S - np.roll(S, (1, 1), (0, 1))).max() <= 1e-13 * np.abs(S).max())


@dataclass
class CirculantState:
    """The optimal X and U."""

    X: Array
    U: Array
    step_size: None = None

    def split(self, problem: Problem) -> tuple[Array, Array]:
        """Return X and U."""
        return self.X, self.U


@dataclass(frozen=True)
class CirculantProgramme:
    """The linear programmes in c and in u, solved at once."""

    name: str = "circulant"
    max_iter: int = 1
    check_every: int = 1

    def init(self, problem: Problem, start: Start | None, tol: float) -> CirculantState:
        """Solve both."""
        from scipy.optimize import linprog  # loaded for this alone

        p, d, alpha, s = problem.size, problem.n_components, problem.alpha, problem.S[0]
        size = max(float(np.abs(s).max()), alpha, 1e-300)
        lags = np.arange(p // 2 + 1)
        alike = np.where((lags == 0) | (2 * lags == p), 1.0, 2.0)
        waves = np.cos(2.0 * np.pi / p * np.outer(lags, lags)) * alike  # eigenvalue k of lag j; twice, as alike says
        gain, weight, off = s[lags] / size, alpha / size, lags[1:]
        # c_j = a_j − b_j, both at least 0; c_0 = d/p.
        cost = np.concatenate([alike[off] * (weight - gain[off]), alike[off] * (weight + gain[off])])
        rows = np.hstack([waves[:, off], -waves[:, off]])
        primal = linprog(cost, np.vstack([rows, -rows]), np.repeat([1.0 - d / p, d / p], len(lags)))
        # u_j, then θ, then what each eigenvalue of S − U is above it at least.
        bound = np.concatenate([np.zeros(len(off)), [d], alike])
        above = np.hstack([-waves[:, off], -np.ones((len(lags), 1)), -np.eye(len(lags))])
        limits = [(-weight, weight)] * len(off) + [(None, None)] + [(0.0, None)] * len(lags)
        dual = linprog(bound, above, -waves[:, off] @ gain[off], bounds=limits)
        if primal.x is None or dual.x is None:
            raise FloatingPointError("a linear programme was not solved")
        c = np.concatenate([[d / p], primal.x[: len(off)] - primal.x[len(off) :]])
        u = np.concatenate([[alpha], size * dual.x[: len(off)]])
        around = np.minimum(np.arange(p), p - np.arange(p))
        X, U = (np.asarray(scipy.linalg.circulant(row[around]), dtype=np.float64) for row in (c, u))
        return CirculantState(X, U)

    def step(self, problem: Problem, state: CirculantState, budget: int) -> int:
        """Nothing is left to do."""
        return 1

    def candidate(self, problem: Problem, state: CirculantState) -> Candidate:
        """X, moved into the Fantope where rounding left it outside, and U."""
        return Candidate(shrink(state.X, problem.n_components), DenseDual(state.U, problem.box), problem.size)
