"""Ctrl-C at many moments of a solve, a path and a search: the best certified answer so far, always marked as such."""

import time

import numpy as np
import pytest

import fantope
from fantope import Status
from fantope.penalties import L1
from fantope.problem import bounds, certificate
from fantope.problem.dual import ExtendedDual
from fantope.problem.problem import Problem
from fantope.solvers import active_set
from fantope.solvers.solve import Interrupted, solve_to_the_end
from interrupting import ctrl_c_after, interrupted, moments
from problems import BY_NAME, assert_certified, sample_covariance

pytestmark = pytest.mark.slow

INSTANCE = BY_NAME["random-30-d4"]
S = sample_covariance(np.random.default_rng(3), 60, 40)


def assert_interrupted(found):
    """Nothing was there yet, or what was there comes back certified and says that it was interrupted."""
    if not isinstance(found, KeyboardInterrupt):
        assert found.status is Status.INTERRUPTED
        assert_certified(INSTANCE, found, tight=False)
        found.verify(INSTANCE.S)


@pytest.mark.parametrize("whole_up_to", [10, 400])
@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps", "subgradient"])
def test_solve(monkeypatch, solver, whole_up_to):
    monkeypatch.setattr(active_set, "WHOLE_UP_TO", whole_up_to)

    def action():
        return fantope.solve(INSTANCE.S, INSTANCE.d, INSTANCE.alpha, solver=solver, tol=1e-5, max_iter=150)

    best = action()
    answers = [interrupted(action, at) for at in moments(action, 40)]
    for found in answers:
        assert_interrupted(found)
    late = [found.objective for found in answers if not isinstance(found, KeyboardInterrupt)]
    assert len(late) > 20, "most of the run is iterations, which leave an answer"
    assert max(late) >= best.objective - 1e-3 * abs(best.objective)


def test_callers_inside_the_library_get_an_exception():
    def action():
        return solve_to_the_end(INSTANCE.S, INSTANCE.d, INSTANCE.alpha)

    for at in moments(action, 40):
        assert isinstance(interrupted(action, at), KeyboardInterrupt)


def test_an_interrupt_between_processes_is_a_plain_one():
    import pickle

    with pytest.raises(Interrupted) as stop:
        solve_to_the_end(S, 2, 0.2, callback=_stop)
    assert stop.value.solution().status is Status.INTERRUPTED
    assert type(pickle.loads(pickle.dumps(stop.value))) is KeyboardInterrupt


def _stop(_record):
    raise KeyboardInterrupt


def test_a_dual_point_is_never_kept_half_written(monkeypatch):
    """Its memory is that of the one before: an interrupt while it is written must not leave a mixture."""
    from fantope.problem.dual import DenseDual

    kept, count = DenseDual.kept, 0

    def half(self, previous):
        nonlocal count
        count += 1
        if count == 3:
            previous.U[:] = np.nan
            raise KeyboardInterrupt
        return kept(self, previous)

    monkeypatch.setattr(DenseDual, "kept", half)
    found = fantope.solve(INSTANCE.S, INSTANCE.d, INSTANCE.alpha, solver="admm", tol=1e-8)
    assert found.status is Status.INTERRUPTED
    assert_certified(INSTANCE, found)


def test_solve_at_random_times():
    rng = np.random.default_rng(0)
    large = sample_covariance(rng, 60, 50)

    def action():
        return fantope.solve(large, 2, 0.15, tol=1e-6)

    action()  # compiled

    began = time.perf_counter()
    action()
    whole = time.perf_counter() - began
    for share in rng.random(20):
        try:
            with ctrl_c_after(share * whole):
                found = action()
        except KeyboardInterrupt:
            continue
        assert found.status in (Status.INTERRUPTED, Status.SOLVED)  # solved before the time was over
        found.verify(large)


@pytest.mark.parametrize("at", ["certificate", "inner certificate", "extension"])
def test_nothing_is_factorised_after_ctrl_c(monkeypatch, at):
    """The answer to Ctrl-C comes at once, however large the problem: no certificate over all variables any more."""
    monkeypatch.setattr(active_set, "WHOLE_UP_TO", 10)
    sim = fantope.simulate(200, 400)
    large, size = sim.Z.T @ sim.Z / 200, 398  # of them have a partner above alpha
    came = False

    def guard(name, module, condition):
        inner = getattr(module, name)

        def guarded(M, *arguments, **options):
            nonlocal came
            assert not came, f"{name} after Ctrl-C"
            if condition(M):
                came = True
                raise KeyboardInterrupt
            return inner(M, *arguments, **options)

        monkeypatch.setattr(module, name, guarded)

    def never(_M):
        return False

    whole, inner = (lambda M: len(M) == size), (lambda M: len(M) < size)
    guard("_cholesky", bounds, never)
    guard("_lapack", bounds, never)
    guard("dominated_bounds", certificate, never)
    guard("bounds_within", certificate, never)
    guard("spectrum_bounds", certificate, {"certificate": whole, "inner certificate": inner}.get(at, never))
    guard("extend_dual", active_set, (lambda _: True) if at == "extension" else never)
    found = fantope.solve(large, 2, 0.2, tol=1e-3)
    assert came and found.status is Status.INTERRUPTED
    if at == "certificate":  # what the active set found is not lost with its bound
        assert len(found.support) > 2
    monkeypatch.undo()
    found.verify(large)
    assert fantope.solve(large, 2, 0.2, tol=1e-3, init=found).status is Status.SOLVED


@pytest.mark.parametrize("size", [1, 7, 700])
def test_the_cheap_bound_is_a_bound(size):
    rng = np.random.default_rng(size)
    A = rng.standard_normal((size, size))
    A = np.ascontiguousarray(0.5 * (A + A.T))
    for d in range(1, min(size, 4) + 1):
        problem = Problem(A, d, L1(0.4))
        dual = ExtendedDual.empty(size, L1(0.4))
        exact = float(np.linalg.eigvalsh(dual.slack(A))[-d:].sum())
        assert exact <= certificate.row_sum_bound(problem, dual)
    alone = np.diag(rng.random(size) + 1.0)
    bound = certificate.row_sum_bound(Problem(alone, 1, L1(0.4)), ExtendedDual.empty(size, L1(0.4)))
    assert bound == pytest.approx(alone.max() - 0.4)


def test_path():
    alphas = [0.5, 0.4, 0.3]

    def action():
        return fantope.solve_path(S, 2, alphas)

    whole = action()
    assert not whole.interrupted
    finished = []
    for at in moments(action, 60):
        found = interrupted(action, at)
        if isinstance(found, KeyboardInterrupt):
            continue
        assert found.interrupted
        for solution, same in zip(found, whole, strict=False):
            assert solution.status in (Status.SOLVED, Status.INTERRUPTED)
            if solution.status is Status.SOLVED:
                assert (solution.objective, solution.dual_bound) == (same.objective, same.dual_bound)
            solution.verify(S)
        assert all(solution.status is Status.SOLVED for solution in found.solutions[:-1])
        finished.append(len(found))
    assert set(finished) == {1, 2, 3}


@pytest.mark.parametrize(
    ("search", "wish"),
    [(fantope.solve_for_size, 12), (fantope.solve_for_variance, 0.5), (fantope.solve_for_norm, 5.0)],
)
def test_searches(search, wish):
    def action():
        return search(S, 2, wish)

    marked = 0
    for at in moments(action, 25):
        found = interrupted(action, at)
        if isinstance(found, KeyboardInterrupt):
            continue
        solution = getattr(found, "solution", found)
        assert solution.status is Status.INTERRUPTED
        solution.verify(S)
        if search is fantope.solve_for_norm:
            assert found.norm <= wish * (1 + 1e-9) and found.objective <= found.dual_bound
        marked += 1
    assert marked > 12
