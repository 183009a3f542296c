"""The objective of a point that uses some of the variables."""

import numpy as np
import pytest

from fantope.penalties import L1, WeightedL1
from fantope.problem.problem import NEARLY_WHOLE, Problem
from fantope.problem.projection import Factors

SIZE = 60


def weighted(forbidden=False):
    W = np.random.default_rng(1).uniform(0.5, 2.0, (SIZE, SIZE))
    W = W + W.T
    if forbidden:
        W[0, 1] = W[1, 0] = np.inf
    return WeightedL1(0.1, W).restrict(np.arange(SIZE))


@pytest.mark.parametrize("penalty", [L1(0.2), weighted(), weighted(forbidden=True)], ids=["l1", "weights", "forbidden"])
@pytest.mark.parametrize("used", [10, int(NEARLY_WHOLE * SIZE), SIZE - 1, SIZE])
def test_the_objective_is_that_of_the_entries_in_use(penalty, used):
    rng = np.random.default_rng(used)
    A = rng.standard_normal((SIZE, SIZE))
    problem = Problem(A + A.T, 2, penalty)
    rows = np.sort(rng.choice(np.arange(2, SIZE), used, replace=False)) if used < SIZE - 1 else np.arange(SIZE)[-used:]
    V = np.linalg.qr(rng.standard_normal((used, 3)))[0].T
    X = Factors(rows, V, np.array([1.0, 0.6, 0.4]))
    if np.isinf(penalty.limits()).any():
        V[:, rows <= 1] = 0.0  # where X may not be
    dense = X.matrix(SIZE).toarray()
    limits = np.nan_to_num(np.broadcast_to(penalty.limits(), dense.shape), posinf=0.0)
    expected = float(np.vdot(problem.S, dense) - (limits * np.abs(dense)).sum())
    assert problem.objective(X) == pytest.approx(expected, rel=1e-12)
