"""Optima that are tiny beside S and alpha: solved in a sense that is stated, proved and checked."""

import numpy as np
import pytest
import scipy.linalg

import fantope
from checking import checker
from fantope.penalties import WeightedL1
from fuzz.problems import judge


def ones_and_noise(seed, p, size):
    N = np.random.default_rng(seed).standard_normal((p, p))
    return np.ones((p, p)) + size * (N + N.T) / 2


@pytest.mark.parametrize("size", [1e-6, 1e-7, 1e-9, 1e-12])
@pytest.mark.parametrize("d", [1, 7, 20])
def test_alpha_at_nearly_every_entry(size, d):
    S = ones_and_noise(d, 24, size)
    alpha = float(np.median(S))
    sol = fantope.solve(S, d, alpha)
    assert sol.status.name == "SOLVED" and sol.n_iter < 2000
    judge(sol, checker.Matrix(S, "precomputed", False), 1e-4)
    if size >= 1e-6:
        assert sol.gap <= 1e-4  # far enough from rounding: relative to the optimum itself


def test_a_null_space_under_forbidden_entries():
    """Where S ⪯ 0 a tiny alpha decides in its null space: the bracket is narrow beside S, not beside alpha."""
    rng = np.random.default_rng(40391)
    weights = np.maximum(W := rng.choice([0.3, 1.0, 5.0, np.inf], (12, 12)), W.T)
    np.fill_diagonal(weights, rng.choice([0.0, 1.0, 2.0], 12))
    S, tol = -np.ones((12, 12)), 1e-2
    sol = fantope.solve(S, 4, WeightedL1(2e-7, weights), tol=tol)
    assert sol.status.name == "SOLVED"
    judge(sol, checker.Matrix(S, "precomputed", False), tol)
    assert "about zero" in sol.summary()


@pytest.mark.slow
def test_weights_that_no_variable_in_use_has_widen_nothing():
    """A huge alpha whose weights are tiny, and a huge variance that X does not use, are no scale of the problem."""
    rng = np.random.default_rng(0)
    S = scipy.linalg.block_diag(np.cov(rng.standard_normal((9, 30)), rowvar=False), 1e9)
    weights = np.full((31, 31), 1e-7)
    weights[30, 30] = 1e3
    sol = fantope.solve(S, 3, WeightedL1(1e6, weights))
    assert sol.status.name == "SOLVED" and sol.gap <= 1e-4 and 30 not in sol.support
    assert "about zero" not in sol.summary()


@pytest.mark.slow
def test_iterates_that_go_round_in_circles():
    """The mean of late iterates is certified where each of them is poor."""
    c = np.random.default_rng(5).integers(-3, 4, 33).astype(float)
    S = scipy.linalg.circulant(c)
    S = (S + S.T) / 2
    for alpha in (0.4, 1.1, 1.4):
        assert fantope.solve(S, 2, alpha).status.name == "SOLVED"
