"""Data at the ends of double precision."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse

import fantope


@pytest.mark.parametrize("kind", ["covariance", "correlation"])
@pytest.mark.parametrize("power", [-160, -170, -300])
def test_columns_whose_squares_vanish_are_not_called_constant(power, kind):
    Z = fantope.simulate(30, 8, sizes=(3, 2)).Z * 10.0**power
    with pytest.raises(ValueError, match=r"squares do not vanish, got column 0 .* multiply X by a large number"):
        fantope.covariance(Z, kind=kind)
    zeros = np.zeros((30, 8))
    assert fantope.covariance(zeros, kind="covariance").diagonal().max() == 0.0
    with pytest.raises(ValueError, match="constant columns"):
        fantope.covariance(zeros, kind="correlation")


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("offset", [0.0, 1e6, 1e12, 1e13, 1e15])
def test_a_mean_that_is_large_beside_the_deviations_costs_no_digits(offset, make):
    """The certificate is about the S that the data define, however few of their digits vary."""
    Z = fantope.simulate(30, 6, sizes=(3, 2)).Z + offset
    exact = np.frompyfunc(Fraction, 1, 1)(Z)
    exact = exact - exact.sum(axis=0) / len(Z)
    S, every = (exact.T @ exact / len(Z)).astype(float), np.arange(6)
    found = fantope.covariance(make(Z))
    np.testing.assert_allclose(found.block(every, every), S, atol=1e-14 * S.max())
    np.testing.assert_allclose(found.block(every[:2], every[1:]), S[:2, 1:], atol=1e-14 * S.max())
    np.testing.assert_allclose(found.diagonal(), S.diagonal(), rtol=1e-14)
    assert found.largest_off_diagonal() == pytest.approx(np.abs(np.triu(S, 1)).max(), rel=1e-13)


def test_equal_values_have_no_variance_whatever_their_mean_is():
    Z = np.tile(np.array([0.1, 1.0 / 3.0, 1e15 / 7.0]), (1001, 1))
    assert fantope.covariance(Z).diagonal().max() == 0.0
    Z[0] = np.nextafter(Z[0], np.inf)  # a variance, but a correlation of rounding errors would be worth nothing
    found = fantope.covariance(Z)
    assert found.diagonal().min() > 0.0 and found.constant.all()
    with pytest.raises(ValueError, match="constant columns"):
        fantope.covariance(Z, kind="correlation")


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # NumPy's, of its matrices
def test_masks_and_matrices():
    Z = fantope.simulate(30, 6, sizes=(3, 2)).Z
    every, S = np.arange(6), fantope.covariance(Z)
    for same in (np.matrix(Z), np.ma.array(Z), np.ma.array(Z, mask=np.zeros(Z.shape, bool))):
        np.testing.assert_array_equal(fantope.covariance(same).block(every, every), S.block(every, every))
    hidden = np.ma.array(Z, mask=Z > 1.0)
    for use in (
        fantope.covariance,
        lambda X: fantope.covariance(X, missing="pairwise"),
        fantope.SparsePCA(1).fit,
        fantope.OnlineSparsePCA(1).partial_fit,
        fantope.SparsePrecision(0.1).fit,
    ):
        with pytest.raises(
            ValueError, match=r"X must be an array without masked values, got \d+ of them; fill them in"
        ):
            use(hidden)
