"""What :class:`fantope.solvers.near_admm.NearAdmm` keeps between its iterations, and the constants of its schedule."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from fantope.kernels.elementwise import box_part
from fantope.kernels.near import mirror
from fantope.problem.dual import DenseDual
from fantope.problem.near_projection import NearProjection
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors
from fantope.solvers.base import Candidate
from fantope.solvers.drift import Drift
from fantope.solvers.row_metric import RowMetric
from fantope.typing import AnyArray, Array

PROMISE = 5.0  # times the tolerance: an estimate from which both points are completed


@dataclass(frozen=True)
class Schedule:
    """The constants of :class:`NearAdmm`, with what was measured (noise and factor models, 100 to 400 variables).

    Attributes
    ----------
    most : int
        Iterations that one decomposition may serve.
    good, bad : float
        ‖X by derivative − X‖ over ‖X − Y‖ below which a decomposition serves longer, above which it serves less long.
    early : float
        Times both, before a gap of EARLY_ABOVE: a quarter fewer decompositions up to there.
    growth : float
        Of ‖X − Y‖ since the decomposition: beyond it a new one is made at once.
    fall : float
        Of ‖X − Y‖ and of the change of Y since the decomposition: the derivative leads no further.
    renewal : float
        Of ‖X − Y‖: residual of leading eigenvectors that may take the place of a decomposition.
    single_above : float
        Estimated relative gap above which single precision is enough: it moves the estimate by a tenth there.
    single_from : int
        Variables from which single precision pays (at 100 variables a decomposition takes 0.6 in place of 0.8 ms).
    balance : float
        Ratio of the relative residuals within which ρ stays (3 took a quarter more iterations, 1.2 oscillates).
    primal_rho, dual_rho : float
        Times ρ, to complete X and U: the gap falls to a third or an eighth (with 10 × ρ for X to a half).
    complete : int
        Iterations for either. With 10 the run itself takes a third more of them, with 50 as many as with 30.
    again : float
        Where both points were completed in vain: of the estimate that would have been enough, where it is tried again.
    """

    most: int = 50
    good: float = 0.3
    bad: float = 0.5
    early: float = 3.0
    growth: float = 2.0
    fall: float = 0.05
    renewal: float = 0.2
    single_above: float = 3e-5
    single_from: int = 150
    balance: float = 1.5
    primal_rho: float = 300.0
    dual_rho: float = 0.05
    complete: int = 30
    again: float = 0.9


@dataclass
class Best:
    """The best points that attempts to end a run have found; values are to rounding, a certificate proves them."""

    X: Factors | None = None
    dual: DenseDual | None = None
    value: float = -np.inf
    bound: float = np.inf

    @property
    def short(self) -> float:
        """How far X is below the bound."""
        return self.bound - self.value

    def take_primal(self, problem: Problem, X: Factors | None) -> None:
        """Keep X if it is better."""
        value = -np.inf if X is None else problem.objective(X)
        if value > self.value:
            self.X, self.value = X, value

    def take_dual(self, dual: DenseDual, bound: float) -> None:
        """Keep U if its bound is lower."""
        if bound < self.bound:
            self.dual, self.bound = dual, bound


@dataclass
class Means:
    """Sums of Y and U after the decompositions since an iteration, and how many; when they are to be certified."""

    since: int
    Y: Array
    U: Array
    count: int = 0
    due: int = 0

    def add(self, Y: Array, U: Array, iteration: int) -> None:
        """Add an iterate; begin anew when all but the later half would be too old."""
        if iteration >= 2 * self.since:
            self.since, self.count, self.due = iteration, 0, iteration + self.since // 4
            self.Y[:] = self.U[:] = 0.0
        self.Y += Y
        self.U += U
        self.count += 1


class Workspace:
    """What the passes of one problem need beside its state.

    Attributes
    ----------
    limits : (m, m) array
        Of the box.
    lower : (m, m) array
        How often an entry of a lower triangle counts in a symmetric matrix.
    scratch : (2, m, m) array
    """

    def __init__(self, problem: Problem) -> None:
        given = problem.limits
        self.limits: Array = np.full_like(problem.S, given) if isinstance(given, float) else given
        self.lower: Array = np.tri(problem.size) + np.tri(problem.size, k=-1)
        self.scratch: Array = np.empty((2, *problem.S.shape))


@dataclass
class NearAdmmState:
    """Z = Y + W holds both splitting variables (Y is its soft-thresholding), in its lower triangle."""

    Z: Array
    G: Array  # what is projected next, or, between decompositions, S/ρ less what was
    rho: float
    projection: NearProjection
    tol: float
    work: Workspace
    change: AnyArray | None = None  # of the matrix to project since the decomposition
    serves: int = 2  # iterations that the next decomposition serves
    patience: int = 1  # decompositions in which the derivative has to prove good before one serves two iterations, …
    doubts: int = 0  # … and those that are left
    served: int = 0  # iterations since the decomposition, and the sum of their W
    total: Array = field(init=False)
    iteration: int = 0
    primal: float = np.inf
    dual: float = np.inf
    multiplier: float = 0.0
    dual_scale: float = 1.0
    bound: float = 0.0  # what the optimum is about, from the dual side, …
    estimate: float = np.inf  # … and how far X is below it; …
    lowest: float = np.inf  # … the lowest so far: with a new ρ it can be a hundred times as high for some iterations
    promise: float = PROMISE
    tried_at: int = 0  # iteration of the last certificate
    balance_at: int = 1  # iteration from which ρ may change again
    look_at: int = 0  # iteration from which a certificate is due in any case
    means: Means | None = None  # of late iterates
    drift: Drift = field(default_factory=Drift)  # from one decomposition to the next
    rows: RowMetric | None = None  # where the run goes on in another metric
    plain: bool = False  # it does not go there, or not again
    best: Best = field(default_factory=Best)
    completed: bool = False  # the best points promise to be enough
    share: float = 0.97  # of the tolerance that they have to keep to: a run is solved at 0.98
    offer: Candidate | None = None  # what a rough look has found good enough, …
    nearly: float = 0.9  # … by this share of the tolerance, …
    close: float = 0.8  # … and by this one, where X is flat: U adds a quarter or half of what X is short of

    def __post_init__(self) -> None:
        self.total = np.zeros_like(self.Z)

    @property
    def step_size(self) -> float:
        """The paper's α."""
        return 1.0 / self.rho

    def split(self, problem: Problem) -> tuple[Array, Array]:
        """Return Y and U = ρW."""
        mirror(self.Z)
        W = np.empty_like(self.Z)
        box_part(self.Z, problem.limits, 1 / self.rho, W)
        Y = self.Z - W
        W *= self.rho
        return Y, W

    def mean(self) -> Array:
        """Return the mean of U over the iterations since the decomposition.

        On flat data S − U has a wide cluster of leading eigenvalues, beside which U goes to and fro: the bound of the
        mean was half as far from the optimum.
        """
        U = self.total * (self.rho / self.served) if self.rows is None else self.rows.mean()
        mirror(U)
        return U
