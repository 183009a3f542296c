"""What the active set does with variables outside it; whole runs are in test_every_solver.py and test_large.py."""

import numpy as np
import pytest

import fantope
from fantope.penalties import L1
from fantope.problem.problem import Problem
from fantope.solvers.active_set import ActiveSet, ActiveSetState


def _flat(seed, p=200, n=40):
    Z = np.random.default_rng(seed).standard_normal((n, p))
    return Z.T @ Z / n


def test_an_extended_dual_point_keeps_away_from_guards():
    S, alpha = _flat(0), 0.3
    problem, active = Problem(S, 2, L1(alpha)), np.arange(0, 200, 2)
    inner = fantope.solve(S[np.ix_(active, active)], 2, alpha)
    U = inner.dual.block(np.arange(100), np.arange(100))
    guards = np.zeros((3, 200))
    guards[:, active] = np.linalg.qr(np.random.default_rng(1).standard_normal((100, 3)))[0].T
    coupling = []
    for given in (None, guards):
        state = ActiveSetState(active, None, 1e-2, 1e-4, 1e-4, X=inner.factors.lifted(active), guards=given)
        dual = ActiveSet._extend(problem, state, U)[0]
        assert np.abs(dual.U).max() <= alpha
        slack = dual.slack(S)
        coupling.append(np.linalg.norm(guards[:, active] @ slack[np.ix_(active, np.arange(1, 200, 2))]))
    assert coupling[1] < 1e-2 * coupling[0]


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
