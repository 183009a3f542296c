import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fantope.simulation import simulate


def test_shapes_and_truth():
    sim = simulate(30, 50)
    assert sim.Z.shape == (30, 50)
    assert sim.loadings.shape == (50, 2)
    assert sim.Sigma.shape == sim.projection.shape == (50, 50)
    np.testing.assert_allclose(sim.projection @ sim.projection, sim.projection, atol=1e-12)
    assert repr(sim) == "Simulation(n=30, p=50, sizes=(20, 15))"


def test_sigma_has_the_stated_eigendecomposition():
    sim = simulate(5, 80)
    np.testing.assert_allclose(sim.eigenvectors.T @ sim.eigenvectors, np.eye(80), atol=1e-12)
    np.testing.assert_allclose(sim.Sigma @ sim.eigenvectors, sim.eigenvectors * sim.eigenvalues, atol=1e-11)
    np.testing.assert_allclose(np.linalg.eigvalsh(sim.Sigma), np.sort(sim.eigenvalues), atol=1e-11)
    np.testing.assert_array_equal(sim.Sigma, sim.Sigma.T)
    assert ((sim.eigenvalues[2:] >= 0) & (sim.eigenvalues[2:] < 2)).all()


def test_group_support_is_exact_and_nearly_flat():
    sim = simulate(5, 60)
    for k, rows in enumerate([slice(0, 20), slice(20, 35)]):
        outside = np.delete(sim.loadings[:, k], np.r_[rows])
        inside = sim.loadings[rows, k]
        assert not outside.any()
        assert inside.min() > 0
        assert inside.max() / inside.min() <= 1.1 / 0.9
    np.testing.assert_array_equal(sim.support, np.flatnonzero(sim.loadings.any(axis=1)))


def test_noise_vectors_are_dense():
    sim = simulate(5, 60)
    assert (sim.eigenvectors[:, 2:] != 0).all()


@pytest.mark.slow
def test_sample_covariance_approaches_sigma():
    sim = simulate(200_000, 12, sizes=(4, 3), eigenvalues=(9, 5))
    np.testing.assert_allclose(sim.Z.T @ sim.Z / 200_000, sim.Sigma, atol=0.06)


@pytest.mark.slow
@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=4),
    extra=st.integers(0, 10),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=25, deadline=None)
def test_any_number_of_groups(sizes, extra, seed):
    values = [3.0 + k for k in range(len(sizes))]
    p = sum(sizes) + extra
    sim = simulate(2, p, sizes=sizes, eigenvalues=values, random_state=seed)
    np.testing.assert_allclose(sim.eigenvectors.T @ sim.eigenvectors, np.eye(p), atol=1e-10)
    assert (sim.loadings != 0).sum(axis=0).tolist() == sizes
    np.testing.assert_allclose(sim.Sigma @ sim.loadings, sim.loadings * values, atol=1e-10)


def test_random_state():
    first, again = simulate(4, 40, random_state=3), simulate(4, 40, random_state=3)
    np.testing.assert_array_equal(first.Z, again.Z)
    generator = np.random.default_rng(3)
    np.testing.assert_array_equal(simulate(4, 40, random_state=generator).Z, first.Z)
    assert not np.array_equal(simulate(4, 40, random_state=generator).Z, first.Z)
    assert not np.array_equal(simulate(4, 40, random_state=None).Z, simulate(4, 40, random_state=None).Z)


def test_large_matrices_are_formed_only_on_demand():
    sim = simulate(4, 40)
    assert "Sigma" not in vars(sim) and "projection" not in vars(sim)
    assert sim.Sigma is sim.Sigma


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, r"n must be a whole number, 1 or larger, got 0"),
        ({"n": 2.5}, r"n must be a whole number, 1 or larger, got 2\.5"),
        ({"p": True}, r"p must be a whole number"),
        ({"p": 34}, r"p must be at least sum\(sizes\) = 35, got 34; raise p"),
        ({"sizes": ()}, r"sizes must name at least one signal group"),
        ({"sizes": (20, 0)}, r"each entry of sizes must be a whole number, 1 or larger, got 0"),
        ({"eigenvalues": (12,)}, r"eigenvalues must hold one number for each of the 2 groups"),
        ({"eigenvalues": (12, 2)}, r"eigenvalues must be finite and above 2"),
        ({"eigenvalues": (12, np.nan)}, r"eigenvalues must be finite and above 2"),
        ({"random_state": -1}, r"random_state must be a non-negative integer"),
        ({"random_state": "seed"}, r"random_state must be .* got 'seed'"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate(**{"n": 5, "p": 50, **arguments})
