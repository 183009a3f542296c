"""What the active set does with variables outside it; whole runs are in test_every_solver.py and test_large.py."""

import numpy as np
import pytest

import fantope
from fantope.penalties import L1
from fantope.problem.problem import Problem
from fantope.solvers.active_set import ActiveSet, ActiveSetState


def test_an_extended_dual_point_keeps_away_from_guards():
    sim = fantope.simulate(100, 200, random_state=0)
    S, alpha = sim.Z.T @ sim.Z / 100, 0.2
    whole = fantope.solve(S, 2, alpha, tol=1e-5)
    outside = np.setdiff1d(np.arange(200), whole.support)[60:]
    active = np.setdiff1d(np.arange(200), outside)
    guards = np.zeros((3, 200))
    guards[:, active] = np.linalg.qr(np.random.default_rng(1).standard_normal((len(active), 3)))[0].T
    coupling = []
    for given in (None, guards):
        state = ActiveSetState(active, None, 1e-2, 1e-4, 1e-4, X=whole.factors, guards=given)
        state.inner_bound = whole.dual_bound
        dual = ActiveSet._extend(Problem(S, 2, L1(alpha)), state, whole.dual.block(active, active))[0]
        assert np.abs(dual.U).max() <= alpha
        coupling.append(np.linalg.norm(guards[:, active] @ dual.slack(S)[np.ix_(active, outside)]))
    assert coupling[1] < 0.1 * coupling[0]


def test_a_dual_point_that_was_bent_is_certified_before_anything_is_solved_again(monkeypatch):
    sim = fantope.simulate(100, 200, random_state=0)
    S, alpha = sim.Z.T @ sim.Z / 100, 0.2
    problem, solver = Problem(S, 2, L1(alpha)), ActiveSet()
    monkeypatch.setattr("fantope.solvers.active_set.WHOLE_UP_TO", 50)
    state = solver.init(problem, None, 1e-4)
    while not state.pending:
        solver.step(problem, state, 1000)
    solved = []
    inner, extend = ActiveSet._inner, ActiveSet._extend

    def bend(self, problem, state, steps):
        block = problem.block(state.active, state.active)
        U_inner = state.dual.over(block, state.active, state.active)
        state.dual, state.promising = extend(problem, state, U_inner)[0], True
        return state.active[:0]

    def counted(self, *given):
        solved.append(True)
        return inner(self, *given)

    monkeypatch.setattr(ActiveSet, "_heavy", bend)
    monkeypatch.setattr(ActiveSet, "_inner", counted)
    before = state.dual
    assert solver.step(problem, state, 1000) == 1
    assert state.pending
    assert not solved
    assert solver.candidate(problem, state).dual is not before
    solver.step(problem, state, 1000)  # that was refused as well: now the inner problem is
    assert solved


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_many_weak_factors_are_certified_with_and_without_bending(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    loadings = rng.standard_normal((30, 900)) * (rng.random((30, 900)) < 0.15)
    S = np.corrcoef((rng.standard_normal((60, 30)) @ loadings * 1.5 + rng.standard_normal((60, 900))).T)
    bounds = []
    for far in (0.0, 0.05):
        monkeypatch.setattr("fantope.solvers.active_set.FAR", far)
        sol = fantope.solve(S, 4, 0.6, tol=1e-3)
        assert sol.status is fantope.Status.SOLVED
        sol.verify(S)
        bounds.append((sol.objective, sol.dual_bound))
    assert max(low for low, _ in bounds) <= min(high for _, high in bounds)
