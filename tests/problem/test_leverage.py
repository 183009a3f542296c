"""Bounds of the leverage of each variable over all optima, against a generic convex solver and known optima."""

import cvxpy as cp
import numpy as np
import pytest

import fantope
from fantope.penalties import WeightedL1
from fantope.problem import leverage
from problems import blocks, correlation, equicorrelated, sample_covariance, spectrum


def extremes(S, d, alpha, value):
    """Return the least and the largest X_jj over feasible X whose objective is ``value`` or more."""
    p = len(S)
    X = cp.Variable((p, p), symmetric=True)
    objective = cp.sum(cp.multiply(S, X)) - alpha * cp.sum(cp.abs(X))
    allowed = [X >> 0, np.eye(p) - X >> 0, cp.trace(X) == d, objective >= value]
    found = np.empty((2, p))
    for j in range(p):
        for row, sense in enumerate((cp.Minimize, cp.Maximize)):
            problem = cp.Problem(sense(X[j, j]), allowed)
            problem.solve(solver="CLARABEL", tol_gap_abs=1e-6, tol_gap_rel=1e-6, tol_feas=1e-6)  # the set may be thin
            found[row, j] = problem.value
    return found


RNG = np.random.default_rng(0)
PROBLEMS = {
    "covariance": (sample_covariance(RNG, 20, 6), 1, 0.15),
    "two components": (sample_covariance(RNG, 20, 6), 2, 0.1),
    "correlation": (correlation(sample_covariance(RNG, 12, 6)), 2, 0.2),
    "indefinite": (spectrum(RNG, np.array([2.0, 1.2, 0.3, -0.2, -0.7, -1.5])), 2, 0.05),
    "many optima": (blocks(equicorrelated(3, 0.5), equicorrelated(3, 0.5)), 1, 0.1),
    "isolated": (np.diag([3.0, 2.0, 1.0, 0.5]) + 0.01, 2, 0.1),
    "isolated twins": (np.diag([3.0, 2.0, 2.0, 0.5]), 2, 0.1),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("tol", [1e-2, 1e-3])
def test_every_point_as_good_as_the_solution_is_within_the_bounds(name, tol):
    S, d, alpha = PROBLEMS[name]
    sol = fantope.solve(S, d, alpha, tol=tol)
    lower, upper = sol.leverage_bounds()
    least, largest = extremes(S, d, alpha, sol.objective - 1e-5)  # every optimum is among these points
    assert (lower <= least + 1e-2).all() and (upper >= largest - 1e-2).all()  # √1e-5 and the generic solver's accuracy
    said = sol.verdicts()
    assert (largest[said == "out"] < 0.1 * d / len(sol.support) + 1e-3).all()
    assert (least[said == "in"] >= lower[said == "in"] - 1e-2).all()


def test_bounds_close_in_as_the_gap_does():
    sim = fantope.simulate(200, 60)
    S = sim.Z.T @ sim.Z / 200
    widths = []
    for tol in (1e-2, 1e-4, 1e-6):
        sol = fantope.solve(S, 2, 0.15, tol=tol)
        lower, upper = sol.leverage_bounds()
        X = sol.projection.diagonal()
        assert (lower <= X + 1e-12).all() and (upper + 1e-12 >= X).all()
        widths.append((upper - lower).max())
    assert widths[2] <= widths[1] < widths[0] and widths[2] < 1e-2
    assert (sol.verdicts()[:35] == "in").all() and (sol.verdicts()[35:] == "out").all()
    assert "35 variables are in use in every optimum and 25 carry no weight" in sol.summary()


def test_many_variables_need_few_eigenvectors_and_say_the_same(monkeypatch):
    sim = fantope.simulate(100, 120, random_state=1)
    sol = fantope.solve(sim.Z.T @ sim.Z / 100, 2, 0.3, tol=1e-5)
    whole = sol.leverage_bounds()
    monkeypatch.setattr(leverage, "DENSE_UP_TO", 10)
    few = leverage.leverage_bounds(sol.covariance, sol.dual, sol.factors, 2, sol.objective)
    for one, other in zip(whole, few, strict=True):
        np.testing.assert_allclose(one, other, atol=5e-3)
    assert ((few[0] > 0) == (whole[0] > 0)).all()


def test_variables_that_were_dropped_or_forbidden():
    X = np.random.default_rng(0).standard_normal((50, 400))
    X[:, :10] += 3 * X[:, [0]]
    sol = fantope.solve(fantope.covariance(X, kind="correlation"), 1, 0.6)
    said = sol.verdicts()
    assert (said[:10] == "in").all() and (said[10:] == "out").all()
    weights = np.ones((4, 4))
    weights[3, 3] = np.inf
    S = equicorrelated(4, 0.5)
    forbidden = fantope.solve(S, 1, WeightedL1(0.1, weights))
    assert forbidden.leverage_bounds()[1][3] == 0.0


def test_a_wide_bracket_says_nothing():
    S = sample_covariance(np.random.default_rng(0), 20, 30)
    sol = fantope.solve(S, 2, 0.05, max_iter=1, tol=1e-8, solver="subgradient")
    if sol.gap > 0.2:
        lower, upper = sol.leverage_bounds()
        assert not lower.any() and (upper == 1.0).all()
    with pytest.raises(ValueError, match="threshold must be"):
        sol.verdicts(-1.0)
