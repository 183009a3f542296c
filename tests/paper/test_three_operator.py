"""The paper's scheme for Online-P's subproblem against the one that is used."""

import numpy as np
import pytest

from fantope.paper.three_operator import ThreeOperator
from fantope.penalties.squared_lr import L1SquaredLr, conjugate_exponent
from fantope.problem.problem import Problem
from fantope.simulation import simulate
from fantope.solvers import Status
from fantope.solvers.base import Start
from fantope.solvers.iterate import iterate
from fantope.solvers.scaled_splitting import ScaledSplitting, Warm, solve_warm


@pytest.mark.slow
def test_both_schemes_agree():
    Z = simulate(6, 35).Z[:, -9:]
    problem = Problem(Z.T @ Z / 6, 2, L1SquaredLr(0.3, 6.0, conjugate_exponent(9)))
    warm = Warm.cold(problem)
    fast, _ = solve_warm(ScaledSplitting(warm, warm.Y.diagonal(), 1e-7), problem)
    slow = iterate(ThreeOperator(0.05), problem, tol=0.0, absolute=1e-6, max_iter=20_000)
    assert fast.status is slow.status is Status.SOLVED
    assert fast.objective == pytest.approx(slow.objective, abs=2e-6)
    X, other = ((each.X.vectors.T * each.X.weights) @ each.X.vectors for each in (fast, slow))
    np.testing.assert_allclose(X, other, atol=5e-3)
    start = Start(np.arange(9), X)
    assert iterate(ThreeOperator(0.05), problem, tol=0.0, absolute=1e-6, start=start).n_iter < slow.n_iter
