"""What one subproblem leaves for the next, and the metric that follows from it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from fantope.penalties.squared_lr import L1SquaredLr, lr_norm
from fantope.problem.problem import Problem
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.typing import Array

SAMPLE = 10_000  # non-zeros from which the median curvature is taken


def norms_of(problem: Problem) -> L1SquaredLr:
    """Return the penalty, which must be Online-P's."""
    if not isinstance(problem.penalty, L1SquaredLr):
        raise TypeError(f"this solver needs the penalty L1SquaredLr, got {problem.penalty!r}.")
    return problem.penalty


@dataclass
class Warm:
    """What one subproblem leaves for the next."""

    Y: Array  # (p, p): the sparse iterate, and D a subgradient of the norms at it
    D: Array
    theta: float  # multiplier of the trace
    lift: Array  # (p, d): P: PPᵀ is the multiplier of X ⪯ I
    norm: float  # ‖Y‖_{r,r}
    plain: int = 0  # for how many subproblems to come the plain metric is taken at once
    left: float = 0.2  # part of what X loses on zeros that the last Y, completed, still lost
    step: float = Schedule.least_step  # ρ as a multiple of the median curvature

    @classmethod
    def cold(cls, problem: Problem) -> Warm:
        """Start from the multiple of S that has the right trace; S must not be zero."""
        S, d, norms = problem.S, problem.n_components, norms_of(problem)
        Y = S * (d / S.trace())
        norm = lr_norm(Y, norms.r)
        slope = norm ** (2.0 - norms.r) / math.sqrt(norms.t) * np.abs(Y) ** (norms.r - 1.0)
        D = np.sign(Y) * (norms.alpha + slope)
        return cls(Y, D, float(np.vdot(S - D, Y)) / d, np.zeros((len(S), d)), norm)

    def after(self, change: Array, alpha: float) -> Warm:
        """Return where to start when S has changed: D goes along, and S − D, the dual point, stays where it was.

        Where Y is zero it stays zero. (Of four streams, p = 160, 60 samples, the one with heavy tails took 20 % more
        products from a D that stays, the paper's model and counts 1 to 4 %.)
        """
        D = self.D + change
        return replace(self, D=np.where(self.Y == 0.0, np.clip(D, -alpha, alpha), D))


@dataclass(frozen=True)
class Metric:
    """ρ Σ (x_ij/(s_i s_j))², with s_i a power of the expected X_ii."""

    scale: Array  # (p,): the s_i
    units: Array  # (p, p): s sᵀ
    rho: float
    expected: Array  # (p,): the X_ii that it was made for

    @classmethod
    def plain(cls, problem: Problem, schedule: Schedule) -> Metric:
        """Return the metric that treats all entries alike."""
        ones = np.ones(len(problem.S))
        return cls(ones, np.outer(ones, ones), schedule.plain_step * float(problem.S.trace()), ones)

    @classmethod
    def following(cls, problem: Problem, warm: Warm, expected: Array, schedule: Schedule) -> Metric:
        """Return the metric in which the curvature of most entries is within a small factor of ρ."""
        norms = norms_of(problem)
        scale = np.maximum(expected / expected.mean(), schedule.floor) ** ((2.0 - norms.r) / 4.0)
        some = np.flatnonzero(warm.Y)
        some = some[:: 1 + len(some) // SAMPLE]
        row, column = np.divmod(some, len(scale))
        curvature = np.abs(warm.Y.ravel()[some]) ** (norms.r - 2.0) * (scale[row] * scale[column]) ** 2
        curvature *= (norms.r - 1.0) * warm.norm ** (2.0 - norms.r) / math.sqrt(norms.t)
        return cls(scale, np.outer(scale, scale), warm.step * float(np.median(curvature)), expected)

    @classmethod
    def for_bound(cls, problem: Problem, expected: Array, schedule: Schedule) -> Metric:
        """Return the metric with half the power, in which a dual point comes before X."""
        power = (2.0 - norms_of(problem).r) / 8.0
        scale = np.maximum(expected / expected.mean(), schedule.floor) ** power
        return cls(scale, np.outer(scale, scale), schedule.bound_step * float(problem.S.trace()), expected)

    def off(self, diagonal: Array, floor: float) -> float:
        """Return how far the diagonal of a Y in this metric is from the one expected, as a factor's logarithm."""
        least = floor * self.expected.mean()
        found = np.maximum(diagonal * self.scale**2, least)
        return float(np.median(np.abs(np.log(found / np.maximum(self.expected, least)))))
