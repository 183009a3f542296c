"""Online-P (Algorithm 3): few samples, many variables, an optimisation problem for each sample."""

from __future__ import annotations

import math
from collections import deque
from copy import deepcopy
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from fantope.eigen import one_blas_thread
from fantope.online.base import State
from fantope.online.leader import Leader
from fantope.online.saved import saved_array, saved_count, saved_number
from fantope.penalties.squared_lr import L1SquaredLr, conjugate_exponent
from fantope.problem.certificate import Certificate, certify
from fantope.problem.dual import PenalisedDual
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors
from fantope.solvers.result import Status
from fantope.solvers.scaled_splitting import ScaledSplitting, Schedule, Warm, solve_warm
from fantope.typing import Array

Number = TypeVar("Number", float, Array)

SPLIT = 2.0**21 + 1.0  # a product with it parts a number's first 32 bits from the other 21
RECORDS = 1000  # how many of the latest records are kept: storage must not grow with t


@dataclass(frozen=True)
class SubproblemRecord:
    """How well one subproblem was solved."""

    sample: int  # t
    gap: float  # certified distance of X_t's objective from the optimum
    tolerance: float  # what was asked for
    n_iter: int

    @property
    def met(self) -> bool:
        """Whether the tolerance was met."""
        return self.gap <= self.tolerance


@dataclass(frozen=True)
class CertifiedEstimate:
    """X_t, and a proof of how good it is."""

    problem: Problem  # the subproblem, in the unit of the learner
    X: Factors
    dual: PenalisedDual
    certificate: Certificate
    tolerance: float  # what the width of the bracket should be at most

    @property
    def met(self) -> bool:
        """Whether it is."""
        return self.certificate.dual_bound - self.certificate.objective <= self.tolerance


def theorem_tolerance(penalty: L1SquaredLr) -> float:
    """Return β√t ε_t²/2 with ε_t = 1/√t, divided by t as the objective of the subproblem is."""
    return float(penalty.strong_convexity / (2.0 * penalty.t**1.5))


def _rounded(values: Number) -> Number:
    """Return values to 32 bits: what iterations with acceleration make of a last digit is as large as the tolerance."""
    large = values * SPLIT
    return large - (large - values)


class OnlineP(Leader):
    """Generalised mirror descent: X_t maximises ⟨S_{1:t}, X⟩ − λ‖X‖₁ − u²‖X‖²_{r,r}/(2√t) over the Fantope.

    u is the power of ten near the size of the samples, 1 in the paper. Data and √λ times ten give the same X_t, to the
    last bit: samples and λ, in the unit, are rounded to 32 bits, and with them what a unit leaves in their last digits.
    (But for one value in fifty million, where rounding turns; X_t then differs within its tolerance.)

    Parameters
    ----------
    n_features, n_components : int
    alpha : float
        λ.
    loosen : float, default 1
        Factor on the theorem's tolerance u²β√t ε_t²/2, ε_t = 1/√t. 1 is what the theorem needs; larger values save
        iterations at the price of the guarantee (the bound grows with ε_t, the square root of this factor).
    forgetting : float, default 1
        A sample k steps back weighs forgetting^k; t becomes the effective number of samples.
    window : int, optional
        Number of latest samples to learn from; t is then at most that.
    max_iter : int, default 5000
        Iterations after which a subproblem is given up on; its record then says that the tolerance was not met.
    """

    name = "online-p"
    schedule = Schedule()

    def __init__(
        self,
        n_features: int,
        n_components: int,
        alpha: float,
        *,
        loosen: float = 1.0,
        forgetting: float = 1.0,
        window: int | None = None,
        max_iter: int = 5000,
    ) -> None:
        if not (math.isfinite(loosen) and loosen > 0.0):
            raise ValueError(f"loosen must be a finite number above 0 (1 is the theorem's tolerance), got {loosen}.")
        super().__init__(n_features, n_components, alpha, forgetting, window)
        self.loosen, self.max_iter = float(loosen), max_iter
        self.warm: Warm | None = None
        self.records: deque[SubproblemRecord] = deque(maxlen=RECORDS)

    @property
    def penalty(self) -> float:
        """λ, in units of unit²."""
        return float(_rounded(super().penalty))

    def _measured(self, Z: Array) -> Array:
        return _rounded(super()._measured(Z))

    def resolve(self) -> None:
        """Bring X_t up to S, which was changed by other means than a sample."""
        self._learn(np.zeros(self.n_features))

    def _learn(self, z: Array) -> None:
        with one_blas_thread():
            self._solve(z)

    def _solve(self, z: Array) -> None:
        if float(self.S.trace()) <= 0.0:
            return  # nothing has varied yet, every X is as good
        problem, tolerance = self._subproblem()
        change = None
        if self.warm is None:
            self.warm = Warm.cold(problem)
        elif z.any() and self.count.effective > 1.0:  # in a window, a sample that leaves counts as the mean of all
            change = (np.outer(z, z) - self.S) / (self.count.effective - 1.0)
        # The sample draws X towards itself, the more the fewer there are.
        share = self.count.effective**-2.0
        drawn = self.n_components * z**2 / max(float(z @ z), 1e-300)
        expected = (1.0 - share) * np.maximum(self.warm.Y.diagonal(), 0.0) + share * drawn
        solver = ScaledSplitting(self.warm, expected, tolerance, self.schedule, change)
        run, self.warm = solve_warm(solver, problem, self.max_iter)
        assert run.X is not None
        self._vectors, self._weights = run.X.vectors.copy(), run.X.weights.copy()
        gap, asked = (value * self.unit * self.unit for value in (run.dual_bound - run.objective, tolerance))
        self.records.append(SubproblemRecord(self.n_samples, gap, asked, run.n_iter))
        self.n_unmet += run.status is not Status.SOLVED

    def _subproblem(self) -> tuple[Problem, float]:
        """Return what X_t maximises, and the gap that is allowed."""
        # Above the largest |S_ij| X is diagonal, and a larger penalty changes nothing but digits that would be lost.
        alpha = min(self.penalty, 2.0 * float(self.S.diagonal().max()))
        penalty = L1SquaredLr(alpha, self.count.effective, conjugate_exponent(self.n_features))
        return Problem(self.S, self.n_components, penalty), self.loosen * theorem_tolerance(penalty)

    def certified(self) -> CertifiedEstimate:
        """Return X_t with a dual point, from a solve of its subproblem that starts where the last one ended."""
        problem, tolerance = self._subproblem()
        warm = Warm.cold(problem) if self.warm is None else deepcopy(self.warm)
        expected = np.maximum(warm.Y.diagonal(), 0.0)
        with one_blas_thread():
            run, _ = solve_warm(ScaledSplitting(warm, expected, tolerance, self.schedule), problem, self.max_iter)
            dual = run.dual
            if not isinstance(dual, PenalisedDual):  # none was found in time; clipping S always gives one
                dual = PenalisedDual(self.S - np.clip(self.S, -problem.alpha, problem.alpha), 0.0)
            X = self.estimate()
            bracket = certify(problem, X, dual, 0.0, tolerance)
        return CertifiedEstimate(problem, X, dual, bracket, tolerance)

    def _change_unit(self, change: float) -> None:
        """Begin afresh: in another unit the mirror term has another weight."""
        super()._change_unit(change)
        self.warm = None

    def state(self) -> State:
        """Return everything that later results depend on."""
        warm = {} if self.warm is None else {f"warm_{name}": value for name, value in vars(self.warm).items()}
        records = np.array([[r.sample, r.gap, r.tolerance, r.n_iter] for r in self.records]).reshape(-1, 4)
        return {**super().state(), **warm, "records": records}

    def restore(self, state: State) -> None:
        """Take over a saved state."""
        super().restore(state)
        if "warm_Y" in state:
            p, d = self.n_features, self.n_components
            Y, D = (saved_array(state, f"warm_{name}", (p, p)) for name in ("Y", "D"))
            lift = saved_array(state, "warm_lift", (p, d))
            theta, norm, step = (saved_number(state, f"warm_{name}") for name in ("theta", "norm", "step"))
            left = saved_number(state, "warm_left") if "warm_left" in state else Warm.left  # earlier states have none
            self.warm = Warm(Y, D, theta, lift, norm, saved_count(state, "warm_plain"), left, step)
        records = saved_array(state, "records", (None, 4), finite=False)
        self.records = deque(
            (SubproblemRecord(int(s), float(g), float(t), int(n)) for s, g, t, n in records), maxlen=RECORDS
        )
