import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fantope.prox.simplex import capped_simplex, capped_simplex_shift, soft_capped_simplex

VALUES = st.lists(st.floats(-5, 5), min_size=1, max_size=12).map(np.array)
WEIGHTS = st.floats(0.0, 3.0)


@given(values=VALUES, share=st.floats(0.0, 1.0))
def test_capped_simplex_is_the_projection(values, share):
    total = share * len(values)
    u = capped_simplex(values, total)
    assert ((u >= 0) & (u <= 1)).all()
    np.testing.assert_allclose(u.sum(), total, atol=1e-10)
    # Optimality of a projection: no feasible exchange of mass between two entries brings u closer.
    pull = values - u
    can_rise, can_fall = u < 1 - 1e-9, u > 1e-9
    if can_rise.any() and can_fall.any():
        assert pull[can_rise].max() <= pull[can_fall].min() + 1e-8


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
@pytest.mark.parametrize("total", [1, 2, 5])
def test_extreme_scales(scale, total):
    values = scale * np.random.default_rng(0).standard_normal(9)
    u = capped_simplex(values, total)
    np.testing.assert_allclose(u.sum(), total, rtol=1e-6)
    if scale == 1e8:
        assert set(np.flatnonzero(u > 0.5)) == set(np.argsort(-values)[:total])


def test_equal_values_share_equally():
    np.testing.assert_allclose(capped_simplex(np.full(5, 3.0), 2), 0.4)
    np.testing.assert_allclose(capped_simplex(np.array([9.0, 1.0, 1.0, 1.0]), 2), [1, 1 / 3, 1 / 3, 1 / 3])


@given(values=VALUES, share=st.floats(0.05, 0.95))
def test_shift_solves_its_equation(values, share):
    total = share * len(values)
    shift = capped_simplex_shift(values, total)
    np.testing.assert_allclose(np.clip(values - shift, 0, 1).sum(), total, atol=1e-10)


def soft_objective(u, values, total, above, trace, below):
    return (
        above * max(u.max() - 1, 0)
        + trace * abs(u.sum() - total)
        + below * max(-u.min(), 0)
        + 0.5 * np.sum((u - values) ** 2)
    )


@pytest.mark.parametrize("seed", range(25))
def test_soft_penalties_against_a_convex_solver(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 11))
    values = 2 * rng.standard_normal(n)
    total = int(rng.integers(1, n + 1))
    above, trace, below = rng.uniform(0, 3, 3) * (rng.uniform(size=3) < 0.8)
    u = cp.Variable(n)
    penalty = above * cp.pos(cp.max(u) - 1) + trace * cp.abs(cp.sum(u) - total) + below * cp.pos(-cp.min(u))
    problem = cp.Problem(cp.Minimize(penalty + 0.5 * cp.sum_squares(u - values)))
    problem.solve(solver="CLARABEL")
    found = soft_capped_simplex(values, total, above, trace, below)
    assert soft_objective(found, values, total, above, trace, below) <= problem.value + 1e-7
    np.testing.assert_allclose(found, u.value, atol=1e-4)


@given(values=VALUES, total=st.integers(1, 5), above=WEIGHTS, trace=WEIGHTS, below=WEIGHTS, seed=st.integers(0, 99))
def test_soft_penalties_no_better_point_nearby(values, total, above, trace, below, seed):
    found = soft_capped_simplex(values, total, above, trace, below)
    best = soft_objective(found, values, total, above, trace, below)
    rng = np.random.default_rng(seed)
    for size in (1e-3, 0.1, 1.0):
        for _ in range(10):
            other = found + size * rng.standard_normal(len(values))
            assert best <= soft_objective(other, values, total, above, trace, below) + 1e-10


@given(values=VALUES)
def test_large_weights_give_the_projection(values):
    total = (len(values) + 1) // 2
    soft = soft_capped_simplex(values, total, 1e3, 1e3, 1e3)
    np.testing.assert_allclose(soft, capped_simplex(values, total), atol=1e-9)


def test_zero_weights_change_nothing():
    values = np.array([3.0, -1.0, 0.5])
    np.testing.assert_allclose(soft_capped_simplex(values, 1, 0.0, 0.0, 0.0), values)
