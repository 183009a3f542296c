import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fantope.problem.simplex import capped_simplex, capped_simplex_shift

VALUES = st.lists(st.floats(-5, 5), min_size=1, max_size=12).map(np.array)


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


def test_memory_is_that_of_the_values():
    values = np.random.default_rng(0).standard_normal(100_000)
    tracemalloc.start()
    try:
        shift = capped_simplex_shift(values, 1000.0)
        used = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert used < 20 * values.nbytes
    np.testing.assert_allclose(np.clip(values - shift, 0, 1).sum(), 1000.0, rtol=1e-10)
