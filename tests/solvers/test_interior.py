"""The barrier method by itself, against the default."""

import numpy as np
import pytest

import fantope
from fantope.penalties import L1, WeightedL1
from fantope.problem.problem import Problem
from fantope.solvers.interior import Interior
from fantope.solvers.iterate import iterate
from fantope.solvers.result import Status


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_the_default(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(4, 16))
    A = rng.standard_normal((p, p))
    S, d = 0.5 * (A + A.T), int(rng.integers(1, p))
    weights = 0.4 * np.abs(S[:1]).T @ np.abs(S[:1]) + 0.1
    for penalty in (L1(0.3), WeightedL1(1.0, weights)):
        run = iterate(Interior(), Problem(S, d, penalty), tol=1e-5)
        assert run.status is Status.SOLVED
        sol = fantope.solve(S, d, penalty, tol=1e-5)
        assert run.objective <= sol.dual_bound + 1e-12
        assert sol.objective <= run.dual_bound + 1e-12


def test_the_derivatives_are_those_of_the_function():
    rng = np.random.default_rng(0)
    S = np.cov(rng.standard_normal((20, 5)).T)
    problem = Problem(S, 2, L1(0.2))
    state = Interior().init(problem, None, 1e-4)
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    state.X, state.mu = (Q * [0.9, 0.5, 0.3, 0.2, 0.1]) @ Q.T, 0.05
    D = np.zeros((5, 5))
    D[1, 3] = D[3, 1] = 1e-5
    inverse, other = np.linalg.inv(state.X), np.linalg.inv(np.eye(5) - state.X)
    slope = 2.0 * (state.slope() - state.C - state.mu * (inverse - other))[1, 3]
    found = (state.value(state.X + D) - state.value(state.X - D)) / 2e-5
    assert found == pytest.approx(slope, rel=1e-6)


def test_a_point_at_the_edge_ends_the_run():
    problem, solver = Problem(np.diag([3.0, 2.0, 1.0]), 1, L1(0.1)), Interior()
    state = solver.init(problem, None, 1e-4)
    state.X = np.diag([1.0, 0.0, 0.0])
    with pytest.raises(FloatingPointError, match="edge"):
        solver.step(problem, state, 1)
