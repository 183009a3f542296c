"""Projections to first order: exact where they should be, first order elsewhere, symmetric always."""

import numpy as np
import pytest

from fantope.problem.near_projection import NearProjection
from fantope.prox.simplex import capped_simplex


def reference(G, total):
    values, V = np.linalg.eigh(G)
    weights = np.maximum(values, 0.0) if total is None else capped_simplex(values, total)
    return (V * weights) @ V.T


@pytest.mark.parametrize("total", [None, 3.0, 12.0, 25.0])
@pytest.mark.parametrize("shift", [-3.0, 0.0, 3.0])
@pytest.mark.parametrize("size", [0.05, 0.3, 1.0])
def test_the_error_falls_with_the_square_of_the_step(total, shift, size):
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((2, 30, 30))
    G, B = size * (A + A.T) + shift * np.eye(30), B + B.T
    projection = NearProjection(total)
    np.testing.assert_allclose(projection.exact(G), reference(G, total), atol=1e-13)
    if total is None and projection.rank == 0:
        return  # nothing is positive, nor is it nearby
    # So close that no eigenvalue crosses a bend; then the second-order term is all that is left.
    steps = 1e-5 * np.array([1.0, 0.25])
    errors = [np.linalg.norm(projection.near(G + h * B) - reference(G + h * B, total)) for h in steps]
    assert errors[0] <= 0.02 * np.linalg.norm(steps[0] * B)
    assert errors[1] <= 0.1 * errors[0] + 1e-11
    X = projection.near(G + 0.1 * B)
    np.testing.assert_array_equal(X, X.T)
    if total is not None:
        assert X.trace() == pytest.approx(total, abs=1e-4)


def test_a_rough_decomposition_is_single_precision_and_numbers_must_be_finite():
    G = np.diag(np.arange(-5.0, 5.0)) + 1e-3
    rough = NearProjection().exact(G, rough=True)
    error = np.abs(rough - reference(G, None)).max()
    assert 0.0 < error < 1e-5
    G[0, 0] = np.nan
    with pytest.raises(FloatingPointError, match="not finite"):
        NearProjection().exact(G)
