"""Figure 2: estimation error against time for GradFPS and ADMM-FPS as published, GradFPS's limit, and the default."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.linalg

from fantope.eigen import all_blas_threads, one_blas_thread
from fantope.kernels.elementwise import soft_threshold
from fantope.paper.base import Config, Report
from fantope.paper.experiments.common import Draw, distance, draw, few, plain, warm_up
from fantope.penalties import L1
from fantope.problem.problem import Problem
from fantope.solvers import ActiveSet, Admm, GradFps
from fantope.solvers.admm import AdmmState
from fantope.solvers.base import Start
from fantope.solvers.solve import solve_to_the_end
from fantope.typing import Array

STEP_SIZES = tuple(round(0.01 * k, 2) for k in range(1, 11))  # the paper's ten
MU = 100.0  # the published one
PUBLISHED, LIMIT, ADMM = "GradFPS", "GradFPS, μ → ∞", "ADMM-FPS"


@dataclass(frozen=True)
class Batch(Config):
    """One panel of figure 2."""

    pattern = "n{n}-p{p}"
    n: int
    p: int
    pilot: int = 30  # iterations by which a step size is judged: the one nearest to the certified optimum is the best
    iterations: int = 150  # that are drawn
    step_sizes: tuple[float, ...] = STEP_SIZES
    seed: int = 0
    repeats: int = 2  # of the iterations that are drawn; each counts with its shortest time, without one-off costs


@dataclass
class Curve:
    """What each iterate of a method is worth, and when it was there."""

    truth: Array
    target: Array
    time: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    distance: list[float] = field(default_factory=list)
    other: list[float] = field(default_factory=list)

    def add(self, spent: float, X: Array, other: Array | None = None) -> None:
        """Judge an iterate by the truth and by the optimum, and the method's other iterate by the truth."""
        self.time.append(spent)
        self.error.append(distance(X, self.truth))
        self.distance.append(distance(X, self.target))
        if other is not None:
            self.other.append(distance(other, self.truth))


def run(config: Batch, report: Report) -> dict[str, Any]:
    """Run three methods from V₂V₂ᵀ with the best of the step sizes, and the default solver from its own start."""
    warm_up(config.p)
    given = draw(config.n, config.p, config.seed)
    report(0.0, "certified optimum")
    optimum = solve_to_the_end(given.S, given.d, given.alpha, tol=1e-5)
    target = optimum.projection.toarray()
    began = time.perf_counter()
    sol = solve_to_the_end(given.S, given.d, given.alpha, tol=1e-4)
    certified = time.perf_counter() - began
    V = scipy.linalg.eigh(given.S, subset_by_index=(config.p - given.d, config.p - 1))[1]
    X0 = V @ V.T
    curves: dict[str, Curve] = {}
    steps: dict[str, float] = {}
    work = len(METHODS) * (len(config.step_sizes) * config.pilot + config.iterations)
    done = 0
    for name, make in METHODS.items():
        pilots = {}
        for size in config.step_sizes:
            report(done / work, f"{name}, step size {size:g}")
            pilots[size] = _drive(make(size), given, X0, target, config.pilot).distance[-1]
            done += config.pilot
        steps[name] = min(pilots, key=lambda size: pilots[size])
        report(done / work, f"{name}, the curve")
        curves[name] = _drive(make(steps[name]), given, X0, target, config.iterations, config.repeats)
        done += config.iterations
    curves["auto"] = _drive_auto(given, target)
    return {
        "n": config.n,
        "p": config.p,
        "error_of_optimum": distance(target, given.sim.projection),
        "gap_of_optimum": optimum.verify(given.S).gap,
        "certified_time": plain(certified, 4),
        "certified_error": distance(sol.projection.toarray(), given.sim.projection),
        "step_sizes": steps,
        "monotone": {name: _monotone(curve) for name, curve in curves.items()},
        "per_iteration": {name: plain(curves[name].time[-1] / config.iterations, 4) for name in METHODS},
        "curves": {name: _thinned(curve) for name, curve in curves.items()},
    }


def _published(step_size: float) -> GradFps:
    """GradFPS as published: finite penalties."""
    return GradFps(step_size=step_size, mu=MU)


def _admm(step_size: float) -> Admm:
    """ADMM as published: a fixed penalty, no over-relaxation, a full eigendecomposition in every iteration."""
    return Admm(step_size=step_size, relax=1.0, eigen="full")


METHODS: dict[str, Callable[[float], GradFps | Admm]] = {PUBLISHED: _published, LIMIT: GradFps, ADMM: _admm}


def _drive(solver: GradFps | Admm, given: Draw, X0: Array, target: Array, iterations: int, repeats: int = 1) -> Curve:
    """Run a splitting method from X0 and judge both iterates of each step.

    The first is the sparse one, prox_{αf₁}(2X − Z₁) of GradFPS and Y of ADMM; the other X_k of GradFPS and the
    projection of ADMM. Only the iterations are timed.
    """
    curve = Curve(given.sim.projection, target)
    curve.add(0.0, X0, X0)
    times = [_times(solver, given, X0, iterations, curve)]
    times += [_times(solver, given, X0, iterations, None) for _ in range(repeats - 1)]
    curve.time[1:] = np.cumsum(np.min(times, axis=0)).tolist()
    return curve


def _times(solver: GradFps | Admm, given: Draw, X0: Array, iterations: int, curve: Curve | None) -> list[float]:
    """Return the time of each iteration, and judge the iterates if there is a curve to add them to.

    Large full eigendecompositions get all BLAS threads, which suits them; thin blocks get one, which suits those.
    """
    problem = Problem(given.S, given.d, L1(given.alpha))
    spent = []
    with one_blas_thread(), all_blas_threads(problem.size) if isinstance(solver, Admm) else nullcontext():
        # Without a dual guess of its own ADMM would start from clip(S); the paper's start is X₀ and a zero multiplier.
        start = Start(rows=np.arange(problem.size), X=X0, U=np.zeros_like(X0))
        state: Any = solver.init(problem, start, 1e-12)
        for _ in range(iterations):
            began = time.perf_counter()
            solver.step(problem, state, 1)
            spent.append(time.perf_counter() - began)
            if curve is not None:
                curve.add(0.0, *_iterates(problem, state))
    return spent


def _iterates(problem: Problem, state: Any) -> tuple[Array, Array]:
    """Return the sparse iterate and the other one."""
    if isinstance(state, AdmmState):
        assert state.vectors is not None and state.weights is not None
        return state.split(problem)[0], (state.vectors.T * state.weights) @ state.vectors
    X = state.scale * 0.5 * (state.Z1 + state.Z2)
    sparse = 2.0 * X - state.Z1
    soft_threshold(sparse, problem.limits, state.step_size)
    return sparse, X


def _drive_auto(given: Draw, target: Array) -> Curve:
    """Run the default solver to 1e-4; one point for each of its rounds, the last one with its certificate."""
    curve = Curve(given.sim.projection, target)
    problem = Problem(given.S, given.d, L1(given.alpha))
    solver = ActiveSet()
    with one_blas_thread():
        began = time.perf_counter()
        state = solver.init(problem, None, 1e-4)
        spent = time.perf_counter() - began
        while True:
            began = time.perf_counter()
            solver.step(problem, state, solver.max_iter)
            spent += time.perf_counter() - began
            assert state.X is not None
            curve.add(spent, state.X.matrix(problem.size).toarray())
            if state.pending:
                return curve


def _monotone(curve: Curve) -> dict[str, float]:
    """Return how much of the error's movement is upwards.

    The first iteration is left out: it goes from the common start to wherever the method's first map puts it.
    """
    steps = np.diff(curve.error[1:])
    moved = float(np.abs(steps).sum())
    return {"share": float(steps[steps > 0.0].sum()) / moved if moved > 0.0 else 0.0}


def _thinned(curve: Curve) -> dict[str, list[float]]:
    kept = few(len(curve.time))
    return {
        "time": plain([curve.time[k] for k in kept], 4),
        "error": [curve.error[k] for k in kept],
        "distance": [curve.distance[k] for k in kept],
        "other": [curve.other[k] for k in kept if curve.other],
    }
