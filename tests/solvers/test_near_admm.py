"""When runs with few decompositions change their step size, and when they end."""

import sys

import numpy as np
import pytest

import fantope
from fantope.penalties import L1
from fantope.problem.problem import Problem
from fantope.solvers.near_admm import NearAdmm


def noise(n=60, p=120):
    return np.cov(np.random.default_rng(0).standard_normal((n, p)), rowvar=False)


def test_the_first_step_size_is_judged_by_the_start():
    problem = Problem(noise(), 2, L1(0.12))
    solver = NearAdmm()
    state = solver.init(problem, None, 1e-4)
    first = state.rho
    for _ in range(2):  # without the size of U the second would divide ρ by ten, whatever it is
        solver.step(problem, state, 100)
        assert 0.5 <= state.rho / first <= 2.0


@pytest.mark.slow
def test_an_optimum_that_is_a_projection_is_noticed(monkeypatch):
    iterations = []
    for few in (6, 0):  # the second time by estimates alone
        monkeypatch.setattr("fantope.solvers.near_admm.FEW", few)
        found = []
        for seed in range(8):
            sim = fantope.simulate(100, 120, random_state=seed)
            S = sim.Z.T @ sim.Z / 100
            found.append(fantope.solve(S, 2, 0.2))
            assert found[-1].verify(S).gap <= 1e-4
        iterations.append(sum(each.n_iter for each in found))
    assert iterations[0] < 0.7 * iterations[1]


def test_flat_data_end_when_what_a_product_makes_of_them_is_good_enough(monkeypatch):
    rng = np.random.default_rng(3)
    loadings = rng.standard_normal((20, 320)) * (rng.random((20, 320)) < 0.2)
    S = np.corrcoef((rng.standard_normal((60, 20)) @ loadings * 1.5 + rng.standard_normal((60, 320))).T)
    iterations = []
    for above in (5e-3, np.inf):
        monkeypatch.setattr("fantope.solvers.near_admm.TRY_ABOVE", above)
        found = fantope.solve(S, 4, 0.5, tol=1e-2)
        assert found.verify(S).gap <= 1e-2
        iterations.append(found.n_iter)
    assert iterations[0] < iterations[1]


def test_a_jump_that_leads_nowhere_is_undone(monkeypatch):
    monkeypatch.setattr("fantope.solvers.near_admm.FEW", 60)  # of noise there are many eigenvectors
    problem = Problem(noise(), 2, L1(0.12))
    solver = NearAdmm()
    state = solver.init(problem, None, 1e-4)
    for _ in range(4):
        solver.step(problem, state, 100)
    begin = state.Z.copy()
    before = state.primal, state.dual, state.estimate, state.bound
    state.drift.move, state.drift.ahead = np.tril(np.ones_like(begin)), 3.0
    assert solver._drift(problem, state, 100) >= 1
    np.testing.assert_array_equal(state.Z, begin)
    assert (state.primal, state.dual, state.estimate, state.bound) == before
    assert state.drift.wait == 2
    assert state.change is None


@pytest.mark.slow
def test_rows_that_cannot_be_left_out_are_not_tried(monkeypatch):
    tried = []
    narrowed = Problem.narrowed

    def counted(self, X, used):
        tried.append(True)
        return narrowed(self, X, used)

    monkeypatch.setattr(Problem, "narrowed", counted)
    found = []
    for hopeless in (2.0, np.inf):
        monkeypatch.setattr(sys.modules["fantope.solvers.solve"], "HOPELESS", hopeless)  # its name is the function's
        tried.clear()
        found.append((fantope.solve(noise(), 2, 0.12, tol=1e-2).support, sum(tried)))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] < found[1][1]
