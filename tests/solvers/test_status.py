"""Each way to end, forced once; the answer is certified whatever the way."""

import dataclasses
import signal
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import pytest

import fantope
from fantope import Status
from fantope.solvers import Admm, GradFps, NearAdmm
from fantope.solvers import active_set as active_set_module
from problems import BY_NAME, assert_certified, sample_covariance

INSTANCE = BY_NAME["random-30-d4"]
SOLVERS = ["auto", "admm", "gradfps"]


def solve(**options):
    return fantope.solve(INSTANCE.S, INSTANCE.d, INSTANCE.alpha, **options)


def assert_valid(sol, status):
    assert sol.status is status
    assert_certified(INSTANCE, sol, tight=status is not Status.INTERRUPTED or bool(sol.history))
    sol.verify(INSTANCE.S)


@dataclass
class Wrapped:
    """ADMM with something that happens at a certain step."""

    inner: object = field(default_factory=Admm)
    at: int = 0
    effect: object = None
    name: str = "wrapped"
    max_iter: int = 2000
    check_every: int = 10
    steps: int = 0

    def init(self, problem, start, tol):
        return self.inner.init(problem, start, tol)

    def step(self, problem, state, budget):
        self.steps += 1
        if self.steps >= self.at and self.effect is not None:
            return self.effect(self.inner, problem, state, budget)
        return self.inner.step(problem, state, budget)

    def candidate(self, problem, state):
        return self.inner.candidate(problem, state)


def stand_still(_inner, _problem, _state, _budget):
    return 1


def interrupt(_inner, _problem, _state, _budget):
    raise KeyboardInterrupt


def overflow(inner, problem, state, budget):
    done = inner.step(problem, state, budget)
    state.Z[:] = np.nan
    state.G[:] = np.nan
    return done


def infinite(inner, problem, state, budget):
    state.Z[0, 0] = np.inf
    return inner.step(problem, state, budget)


def floating_point_error(_inner, _problem, _state, _budget):
    raise FloatingPointError


def linear_algebra_error(_inner, _problem, _state, _budget):
    raise np.linalg.LinAlgError


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_solved(solver):
    assert_valid(solve(solver=solver), Status.SOLVED)


@pytest.mark.parametrize("max_iter", [1, 7, 25])
@pytest.mark.parametrize("solver", [*SOLVERS, "subgradient", "projected-subgradient"])
def test_max_iter(solver, max_iter):
    sol = solve(solver=solver, max_iter=max_iter, tol=1e-9)
    assert_valid(sol, Status.MAX_ITER)
    assert sol.n_iter == max_iter
    assert "raise max_iter" in str(sol.status)


@pytest.mark.slow
def test_stalled():
    sol = solve(solver=Wrapped(at=21, effect=stand_still), tol=1e-9)
    assert_valid(sol, Status.STALLED)
    assert sol.n_iter < 2000
    assert "loosen tol" in str(sol.status)


@pytest.mark.slow
@pytest.mark.parametrize("effect", [overflow, infinite, floating_point_error, linear_algebra_error])
def test_not_finite(effect):
    """The last good answer comes back, and it is the one of the run without the accident."""
    sol = solve(solver=Wrapped(at=41, effect=effect), tol=1e-9)
    assert_valid(sol, Status.NON_FINITE)
    good = solve(solver="admm", max_iter=40, tol=1e-9)
    assert sol.objective == good.objective
    assert sol.dual_bound == good.dual_bound


@pytest.mark.parametrize("effect", [overflow, infinite, floating_point_error])
def test_not_finite_from_the_first_step_on(effect):
    sol = solve(solver=Wrapped(at=1, effect=effect))
    assert_valid(sol, Status.NON_FINITE)


@pytest.mark.slow
@pytest.mark.parametrize("solver", [*SOLVERS, "subgradient", "projected-subgradient"])
@pytest.mark.parametrize("factor", [1e-139, 1e100, 1e138])
def test_extreme_numbers_are_certified(solver, factor):
    """Fourth powers of such entries leave the range of double precision; what comes back is valid all the same."""
    S = factor * sample_covariance(np.random.default_rng(0), 20, 6)
    sol = fantope.solve(S, 2, 0.2 * factor, solver=solver, max_iter=200)
    unit = fantope.solve(S / factor, 2, 0.2, tol=1e-8)
    assert sol.status in (Status.SOLVED, Status.MAX_ITER)
    assert sol.objective / factor <= unit.dual_bound * (1 + 1e-8)
    assert sol.dual_bound / factor >= unit.objective * (1 - 1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("record", [1, 2, 4])
@pytest.mark.parametrize("solver", SOLVERS)
def test_interrupted_by_the_callback(solver, record, monkeypatch):
    monkeypatch.setattr(active_set_module, "WHOLE_UP_TO", 10)
    seen = []

    def callback(found):
        seen.append(found)
        if len(seen) == record:
            raise KeyboardInterrupt

    sol = solve(solver=solver, tol=1e-8, callback=callback)
    if len(seen) < record:
        pytest.skip("solved before")
    assert_valid(sol, Status.INTERRUPTED)
    assert len(sol.history) == record
    assert "pass it as init" in str(sol.status)
    again = solve(solver=solver, tol=1e-6, init=sol)
    assert_valid(again, Status.SOLVED)
    assert again.dual_bound >= sol.objective
    assert again.objective >= sol.objective * (1 - 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 2, 5, 35])
@pytest.mark.parametrize("inner", [Admm(), GradFps()], ids=["admm", "gradfps"])
def test_interrupted_in_a_step(inner, at):
    sol = solve(solver=Wrapped(inner=inner, at=at, effect=interrupt), tol=1e-8)
    assert_valid(sol, Status.INTERRUPTED)
    assert_valid(solve(solver="admm", init=sol), Status.SOLVED)


@pytest.mark.slow
@pytest.mark.parametrize("at", [1, 2, 10, 20])
@pytest.mark.parametrize("whole_up_to", [10, 400])
def test_interrupted_in_a_step_of_the_inner_solver(monkeypatch, at, whole_up_to):
    """An interrupt in the method that the active set runs inside ends the outer run with a certified answer too."""
    monkeypatch.setattr(active_set_module, "WHOLE_UP_TO", whole_up_to)
    count = 0
    step = NearAdmm.step

    def counted(self, problem, state, budget):
        nonlocal count
        count += 1
        if count == at:
            raise KeyboardInterrupt
        return step(self, problem, state, budget)

    monkeypatch.setattr(NearAdmm, "step", counted)
    sol = solve(tol=1e-8)
    assert_valid(sol, Status.INTERRUPTED)
    assert sol.n_iter > 0 or at == 1
    assert_valid(solve(init=sol), Status.SOLVED)


def test_interrupted_while_starting(monkeypatch):
    def init(self, problem, start, tol):
        raise KeyboardInterrupt

    for method in (Admm, NearAdmm):
        monkeypatch.setattr(method, "init", init)
    for solver in ("admm", "auto"):
        assert_valid(solve(solver=solver), Status.INTERRUPTED)


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.5])
def test_a_solver_that_offers_an_infeasible_point_is_not_believed(factor):
    """X outside of the Fantope would have too good an objective, above all where the optimum is negative."""
    instance = BY_NAME["negative-definite"]

    class Cheating(Wrapped):
        def candidate(self, problem, state):
            found = self.inner.candidate(problem, state)
            wrong = dataclasses.replace(found.X, weights=factor * found.X.weights)
            return dataclasses.replace(found, X=wrong)

    sol = fantope.solve(instance.S, instance.d, instance.alpha, solver=Cheating())
    assert sol.status is Status.NON_FINITE
    assert_certified(instance, sol)
    sol.verify(instance.S)


def test_other_errors_are_not_swallowed():
    def callback(_record):
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        solve(callback=callback)


def test_ctrl_c_that_a_loader_swallows_is_heeded_after_the_step():
    class Swallowing(Admm):
        def step(self, problem, state, budget):
            if state.iteration == 3:
                with suppress(KeyboardInterrupt):
                    signal.raise_signal(signal.SIGINT)
            return super().step(problem, state, budget)

    sim = fantope.simulate(30, 20, sizes=(4, 3))
    found = fantope.solve(sim.Z.T @ sim.Z / 30, 2, 0.2, solver=Swallowing(), tol=1e-8)
    assert found.status.name == "INTERRUPTED" and found.n_iter == 4
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
