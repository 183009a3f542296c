import numpy as np
import pytest

from fantope.penalties import L1
from fantope.problem.dual import ExtendedDual
from fantope.problem.problem import Problem
from fantope.solvers.active_set import ActiveSet
from fantope.solvers.memory import Memory


def point(memory, size=(4, 10)):
    U = memory.taken(size, np.float64)
    rough = memory.taken((size[1] - size[0], size[0]), np.float32)
    U[:], rough[:] = 1.0, 2.0
    return ExtendedDual(L1(1.0), np.arange(size[0]), U, None, rough)


def test_what_is_given_back_is_taken_again():
    memory = Memory()
    first = point(memory)
    memory.give_back(first)
    again = memory.taken((5, 10), np.float64)  # a little more than before
    assert again.shape == (5, 10) and again.dtype == np.float64 and np.shares_memory(again, first.U)
    large = memory.taken((50, 100), np.float64)
    assert not np.shares_memory(large, first.U) and not np.shares_memory(large, first.rough)
    single = memory.taken((3, 3), np.float32)
    assert single.shape == (3, 3) and single.dtype == np.float32 and np.shares_memory(single, first.rough)


def test_what_is_in_use_is_not():
    memory = Memory()
    one, other = point(memory), point(memory)
    for each in (one.U, one.rough):
        assert not np.shares_memory(each, other.U) and not np.shares_memory(each, other.rough)
    memory.lent = one
    memory.give_back(one)
    memory.give_back(None)
    memory.give_back(ExtendedDual.empty(10, L1(1.0)))  # whose array is its own
    assert not memory.spare and (point(memory).U == 1.0).all() and (one.U == 1.0).all()


@pytest.mark.slow
def test_a_dual_point_that_was_offered_is_not_written_to():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 700)) + rng.standard_normal((60, 5)) @ rng.standard_normal((5, 700))
    S = np.cov(X, rowvar=False)
    problem, solver = Problem(S, 3, L1(float(np.sort(np.abs(S), axis=None)[-7000]))), ActiveSet()
    state = solver.init(problem, None, 1e-2)
    while not state.pending:
        solver.step(problem, state, 1000)
    offered = solver.candidate(problem, state).dual
    U, later = offered.U.copy(), []
    state.memory.spare.clear()  # or older arrays would be taken first
    for _ in range(3):  # as if the certificate had failed
        state.pending = True
        solver.step(problem, state, 1000)
        later.append(state.dual.U)
    np.testing.assert_array_equal(offered.U, U)
    assert np.shares_memory(later[0], later[2]) or np.shares_memory(later[1], later[2])
