"""Projections to first order: exact where they should be, first order elsewhere, symmetric always."""

import numpy as np
import pytest

from fantope.kernels.triangle import pack, unpack
from fantope.problem.simplex import capped_simplex
from fantope.solvers.scaled_splitting.projections import ConeProjection, FantopeProjection


def positive_part(G):
    values, V = np.linalg.eigh(G)
    return (V * np.maximum(values, 0.0)) @ V.T


def projected(projection, G, rough=False):
    projection.exact(G, pack(G), rough)
    np.testing.assert_array_equal(pack(projection.X), projection.packed)
    return projection.X


def near(projection, change):
    minus = np.sin(np.arange(len(change) * (len(change) + 1) / 2))
    out = np.empty_like(minus)
    np.testing.assert_allclose(projection.near(change.astype(np.float32), minus, out), np.linalg.norm(out))
    return unpack(out + minus, len(change))


@pytest.mark.slow
@pytest.mark.parametrize("p", [29, 230])  # the second one runs on two cores, where there are
@pytest.mark.parametrize("shift", [-0.5, 0.0, 0.5])
@pytest.mark.parametrize("size", [0.05, 0.3, 1.0])
def test_the_error_falls_with_the_square_of_the_step(p, shift, size):
    rng = np.random.default_rng(1)
    A, B = rng.standard_normal((2, p, p)) / np.sqrt(p)
    G, B = size * (A + A.T + 2 * shift * np.eye(p)), B + B.T
    projection = ConeProjection()
    X = projected(projection, G)
    np.testing.assert_allclose(X, positive_part(G), atol=1e-13)
    np.testing.assert_array_equal(X, X.T)
    # So close that no eigenvalue crosses zero; then the second-order term is all that is left.
    steps = 1e-5 * size * np.array([1.0, 0.25]) * 29 / p
    errors = [np.linalg.norm(near(projection, h * B) - positive_part(G + h * B)) for h in steps]
    assert errors[0] <= 0.02 * np.linalg.norm(steps[0] * B)
    assert errors[1] <= 0.1 * errors[0] + 1e-10 * size
    values, V = projection.lowest(0.0)
    np.testing.assert_allclose(V.T @ positive_part(G) @ V, 0.0, atol=1e-5)
    np.testing.assert_allclose(V.T @ G @ V, np.diag(values), atol=1e-4 * size)
    assert len(values) == np.count_nonzero(np.linalg.eigvalsh(G) <= 0.0)


def test_a_matrix_that_has_no_other_side():
    projection = ConeProjection()
    G = -np.eye(8)
    np.testing.assert_array_equal(projected(projection, G), 0.0)
    np.testing.assert_array_equal(near(projection, np.full((8, 8), 0.1)), 0.0)
    assert projection.lowest(0.0)[1].shape == (8, 8)
    np.testing.assert_allclose(projected(projection, -G), np.eye(8))
    np.testing.assert_allclose(near(projection, np.full((8, 8), 0.1)), np.eye(8) + 0.1, atol=1e-6)
    assert projection.lowest(0.0)[1].shape == (8, 0)


@pytest.mark.parametrize("trace", [1.0, 3.0, 12.0])
@pytest.mark.parametrize("shift", [-3.0, 3.0])
def test_the_projection_on_the_fantope(trace, shift):
    A = np.random.default_rng(2).standard_normal((30, 30))
    G = A + A.T + shift * np.eye(30)
    values, V = np.linalg.eigh(G)
    projection = FantopeProjection(trace)
    projection.exact(G)
    X = projection.X
    np.testing.assert_allclose(X, (V * capped_simplex(values, trace)) @ V.T, atol=1e-12)
    # θ and E are multipliers: G − θI − EEᵀ is X on its range and not positive elsewhere.
    rest = G - projection.shift * np.eye(30) - projection.excess @ projection.excess.T - X
    assert np.linalg.eigvalsh(rest)[-1] < 1e-12
    assert abs(np.vdot(rest, X)) < 1e-11
    lowest, null = projection.lowest(0.0)
    assert len(lowest) == np.count_nonzero(values <= projection.shift + 1e-9)
    np.testing.assert_allclose(X @ null, 0.0, atol=1e-6)


def test_a_rough_decomposition_is_single_precision_and_numbers_must_be_finite():
    G = np.diag(np.arange(-5.0, 5.0)) + 1e-3
    rough = projected(ConeProjection(), G, rough=True)
    error = np.abs(rough - positive_part(G)).max()
    assert 0.0 < error < 1e-5
    G[0, 0] = np.nan
    with pytest.raises(FloatingPointError, match="not finite"):
        ConeProjection().exact(G, pack(G))
    with pytest.raises(FloatingPointError, match="not finite"):
        FantopeProjection(2.0).exact(G)
