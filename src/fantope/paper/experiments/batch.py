"""Figure 2: estimation error against time for GradFPS and ADMM-FPS as published, GradFPS's limit, and the default.

Times are those of the processor on one thread, so that other programs hardly matter.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
import scipy.linalg

from fantope.eigen import one_blas_thread
from fantope.kernels.elementwise import soft_threshold
from fantope.paper.base import Config, Report
from fantope.paper.experiments.common import Draw, distance, draw, warm_up
from fantope.penalties import L1
from fantope.problem.problem import Problem
from fantope.solvers import ActiveSet, Admm, GradFps
from fantope.solvers.admm import AdmmState
from fantope.solvers.base import Start
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array

STEP_SIZES = tuple(round(0.01 * k, 2) for k in range(1, 11))  # the paper's ten
PILOT_UP_TO = 800  # variables; ten pilots of larger panels would take hours
MU = 100.0  # the published one
PUBLISHED, LIMIT, ADMM = "GradFPS", "GradFPS, μ → ∞", "ADMM-FPS"


@dataclass(frozen=True)
class Batch(Config):
    """One panel of figure 2."""

    pattern = "n{n}-p{p}"
    n: int
    p: int
    pilot: int = 30  # iterations by which a step size is judged: the one nearest to the certified optimum is the best
    iterations: int = 150  # that are drawn …
    seconds: float = 600.0  # … if a method does not take longer than this
    step_sizes: tuple[float, ...] = STEP_SIZES
    seed: int = 0


@dataclass
class Curve:
    """What each iterate of a method is worth, and when it was there."""

    time: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    distance: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Panel:
    """What the methods of a panel start from and are judged by."""

    given: Draw
    start: Array  # X₀ = V₂V₂ᵀ
    optimum: Array
    gap: float
    truth: Array

    @classmethod
    def of(cls, config: Batch) -> Panel:
        """Draw the samples and solve to a relative gap of 1e-5."""
        given = draw(config.n, config.p, config.seed)
        optimum = solve_to_the_end(given.S, given.d, given.alpha, tol=1e-5)
        V = scipy.linalg.eigh(given.S, subset_by_index=(config.p - given.d, config.p - 1))[1]
        return cls(given, V @ V.T, optimum.projection.toarray(), optimum.verify(given.S).gap, given.sim.projection)

    def judge(self, curve: Curve, spent: float, X: Array, other: Array | None = None) -> None:
        """Judge an iterate by the truth and by the optimum, and the method's other iterate by the truth."""
        curve.time.append(spent)
        curve.error.append(distance(X, self.truth))
        curve.distance.append(distance(X, self.optimum))
        if other is not None:
            curve.other.append(distance(other, self.truth))


def run(config: Batch, report: Report) -> dict[str, Any]:
    """Run three methods from V₂V₂ᵀ with the best of the step sizes, and the default solver from its own start."""
    warm_up(config.p)
    report(0.0, "step sizes")
    scale = min(1.0, PILOT_UP_TO / config.p)
    n, p = round(scale * config.n), round(scale * config.p)
    pilots = _pilots(Batch(n, p, config.pilot, step_sizes=config.step_sizes, seed=config.seed))
    steps = {name: min(found, key=lambda size: found[size][1]) for name, found in pilots.items()}
    report(0.3, "certified optimum")
    panel = Panel.of(config)
    given = panel.given
    began = time.process_time()
    sol = solve_to_the_end(given.S, given.d, given.alpha, tol=1e-4)
    certified = time.process_time() - began
    curves: dict[str, Curve] = {}
    for k, (name, make) in enumerate(METHODS.items()):

        def tell(done: int, name: str = name, k: int = k) -> None:
            report(0.4 + 0.2 * (k + done / config.iterations), f"{name}, iteration {done}")

        curves[name] = _drive(make(steps[name]), panel, config.iterations, config.seconds, tell)
    curves["auto"] = _drive_auto(panel)
    return {
        "n": config.n,
        "p": config.p,
        "error_of_optimum": distance(panel.optimum, panel.truth),
        "gap_of_optimum": panel.gap,
        "certified_time": certified,
        "certified_error": distance(sol.projection.toarray(), panel.truth),
        "step_sizes": steps,
        "first_errors": {name: [error for error, _ in found.values()] for name, found in pilots.items()},
        "curves": {name: asdict(curve) for name, curve in curves.items()},
    }


# Both as published: GradFPS with finite penalties; ADMM with a fixed one, without over-relaxation and with a full
# eigendecomposition in every iteration.
METHODS: dict[str, Callable[[float], GradFps | Admm]] = {
    PUBLISHED: partial(GradFps, mu=MU),
    LIMIT: GradFps,
    ADMM: partial(Admm, relax=1.0, eigen="full"),
}


@cache
def _pilots(config: Batch) -> dict[str, dict[float, tuple[float, float]]]:
    """Return, by method and step size, the error after one iteration and the distance from the optimum at the end."""
    panel = Panel.of(config)
    found: dict[str, dict[float, tuple[float, float]]] = {}
    for name, make in METHODS.items():
        curves = {size: _drive(make(size), panel, config.pilot) for size in config.step_sizes}
        found[name] = {size: (curve.error[1], curve.distance[-1]) for size, curve in curves.items()}
    return found


def _drive(
    solver: GradFps | Admm,
    panel: Panel,
    iterations: int,
    seconds: float = math.inf,
    tell: Callable[[int], None] = lambda done: None,
) -> Curve:
    """Run a splitting method from X₀ and judge both iterates of each step; only the iterations are timed.

    The first is the sparse one, prox_{αf₁}(2X − Z₁) of GradFPS and Y of ADMM; the other X_k of GradFPS and the
    projection of ADMM.
    """
    curve, X0 = Curve(), panel.start
    panel.judge(curve, 0.0, X0, X0)
    problem = Problem(panel.given.S, panel.given.d, L1(panel.given.alpha))
    # Without a dual guess of its own ADMM would start from clip(S); the paper's start is X₀ and a zero multiplier.
    start = Start(rows=np.arange(problem.size), X=X0, U=np.zeros_like(X0))
    with one_blas_thread():
        state: Any = solver.init(problem, start, 1e-12)
        solver.step(problem, state, 1)  # not timed: it has one-off costs, of memory above all
        state = solver.init(problem, start, 1e-12)
        while len(curve.time) <= iterations and curve.time[-1] < seconds:
            tell(len(curve.time) - 1)
            began = time.process_time()
            solver.step(problem, state, 1)
            panel.judge(curve, curve.time[-1] + time.process_time() - began, *_iterates(problem, state))
    return curve


def _iterates(problem: Problem, state: Any) -> tuple[Array, Array]:
    """Return the sparse iterate and the other one."""
    if isinstance(state, AdmmState):
        assert state.vectors is not None and state.weights is not None
        return state.split(problem)[0], (state.vectors.T * state.weights) @ state.vectors
    X = state.scale * 0.5 * (state.Z1 + state.Z2)
    sparse = 2.0 * X - state.Z1
    soft_threshold(sparse, problem.limits, state.step_size)
    return sparse, X


def _drive_auto(panel: Panel) -> Curve:
    """Run the default solver to 1e-4; one point for each of its rounds, the last one with its certificate."""
    curve = Curve()
    problem = Problem(panel.given.S, panel.given.d, L1(panel.given.alpha))
    solver = ActiveSet()
    with one_blas_thread():
        began = time.process_time()
        state = solver.init(problem, None, 1e-4)
        spent = time.process_time() - began
        while True:
            began = time.process_time()
            solver.step(problem, state, solver.max_iter)
            spent += time.process_time() - began
            assert state.X is not None
            panel.judge(curve, spent, state.X.matrix(problem.size).toarray())
            if state.pending:
                return curve
