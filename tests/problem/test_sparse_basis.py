"""The basis with the smallest ℓ₁ norm: by brute force for two columns, and planted for more."""

import numpy as np
import pytest

import fantope
from fantope.problem.sparse_basis import sparse_basis
from problems import BY_NAME


def orthonormal(rng, k, d):
    return np.linalg.qr(rng.standard_normal((k, d)))[0]


@pytest.mark.parametrize("seed", range(5))
def test_two_columns_by_brute_force(seed):
    V = orthonormal(np.random.default_rng(seed), 9, 2)
    angles = np.linspace(0.0, np.pi / 2, 20_001)
    c, s = np.cos(angles)[:, None], np.sin(angles)[:, None]
    norms = (np.abs(c * V[:, 0] + s * V[:, 1]) + np.abs(c * V[:, 1] - s * V[:, 0])).sum(axis=1)
    found = sparse_basis(V)
    assert norms.min() - 1e-3 < np.abs(found).sum() <= norms.min() + 1e-12
    np.testing.assert_allclose(found @ found.T, V @ V.T, atol=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_planted_groups_are_found(d):
    rng = np.random.default_rng(d)
    planted = np.zeros((6 * d, d))
    for k in range(d):
        group = rng.uniform(0.5, 1.5, 6)
        planted[6 * k : 6 * k + 6, k] = group / np.linalg.norm(group)
    for _ in range(3):
        found = sparse_basis(planted @ orthonormal(rng, d, d))
        assert np.count_nonzero(found) == 6 * d
        np.testing.assert_allclose(np.sort(np.abs(planted.T @ found).max(axis=0)), np.ones(d), atol=1e-10)


@pytest.mark.slow
def test_each_true_group_has_a_component_of_its_own():
    sim = fantope.simulate(200, 80, random_state=1)
    sol = fantope.solve(sim.Z.T @ sim.Z / 200, 2, fantope.penalties.MCP(0.25))
    loadings, mixed = sol.loadings(), sol.loadings(rotation=None)
    assert loadings.shape == (80, 2)
    np.testing.assert_allclose(loadings.T @ loadings, np.eye(2), atol=1e-10)
    np.testing.assert_allclose(loadings @ loadings.T, mixed @ mixed.T, atol=1e-10)
    np.testing.assert_array_equal(mixed, sol.components.T)
    groups = [np.flatnonzero(np.abs(column) > 0.05) for column in loadings.T]
    assert [g.tolist() for g in groups] == [list(range(20)), list(range(20, 35))]
    variances = sol.loading_variances()
    assert variances[0] > variances[1]
    assert variances.sum() == pytest.approx(sol.explained_variance.sum())
    assert (loadings[np.abs(loadings).argmax(axis=0), [0, 1]] > 0).all()
    assert not loadings[np.setdiff1d(np.arange(80), sol.support)].any()


def test_only_known_rotations():
    sol = fantope.solve(BY_NAME["paper-60"].S, 2, 0.5)
    with pytest.raises(ValueError, match="rotation must be one of 'sparse', None, got 'varimax'"):
        sol.loadings("varimax")
