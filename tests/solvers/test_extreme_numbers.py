"""Numbers near the ends of double precision: a right answer or a sentence."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

import fantope
from fantope.solvers import Status


@pytest.fixture(scope="module")
def Z():
    Z = np.random.default_rng(1).standard_normal((40, 6))
    Z[:, 1] += Z[:, 0]
    return Z


@pytest.mark.parametrize("alpha", [1e100, 1e139])
def test_a_large_penalty(Z, alpha):
    found = fantope.solve(np.cov(Z.T), 2, alpha)
    assert found.status is Status.SOLVED and found.objective == pytest.approx(-2.0 * alpha)
    found.verify()


@pytest.mark.parametrize("alpha", [1e141, 1e200, 1e308])
def test_a_penalty_whose_square_overflows(Z, alpha):
    with pytest.raises(ValueError, match=r"alpha must be at most 1e\+140, got"):
        fantope.solve(np.cov(Z.T), 2, alpha)


@pytest.mark.parametrize("alpha", [5e-324, 1e-310, 1e-300])
def test_a_matrix_of_zeros_with_a_tiny_penalty(alpha):
    found = fantope.solve(np.zeros((5, 5)), 2, alpha)
    assert found.status is Status.SOLVED and found.objective <= 0.0
    found.verify()


@pytest.mark.parametrize("unit", [1e80, 1e150, 1e200])
def test_variances_out_of_range(Z, unit):
    with pytest.raises(ValueError, match=r"by a (large number|power of ten)"):
        fantope.solve(fantope.covariance(Z * unit), 2, 0.1)


@pytest.mark.parametrize("unit", [1e80, 1e150, 1e200])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_an_estimator_of_variances_out_of_range(Z, unit, form):
    with pytest.raises(ValueError, match="bring its columns to a common scale"):
        fantope.SparsePCA(2).fit(form(Z * unit))


@pytest.mark.parametrize("unit", [2.0**-900, 2.0**-520, 2.0**515, 2.0**1000])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_correlations_do_not_depend_on_the_unit(Z, unit, form):
    """With data times 1e155 all squares overflow, and the components explained [1, 1]."""
    expected = fantope.SparsePCA(2, kind="correlation", alpha=0.05).fit(form(Z))
    found = fantope.SparsePCA(2, kind="correlation", alpha=0.05).fit(form(Z * unit))
    np.testing.assert_array_equal(found.explained_variance_, expected.explained_variance_)
    np.testing.assert_allclose(found.scale_ / unit, expected.scale_, rtol=1e-12)
    np.testing.assert_allclose(found.transform(form(Z * unit)), expected.transform(form(Z)), atol=1e-10)


@pytest.mark.parametrize("unit", [1e155, 1e200, 1e-155])
def test_a_correlation_operator_says_which_column_it_cannot_square(Z, unit):
    with pytest.raises(ValueError, match=r"column 0"):
        fantope.covariance(Z * unit, kind="correlation")


@pytest.mark.parametrize("unit", [1e-155, 1e-160])
def test_squares_that_vanish_are_named(unit):
    X = unit * np.random.default_rng(0).standard_normal((30, 8))
    with pytest.raises(ValueError, match="squares of its entries overflow or vanish"):
        fantope.SparsePCA(2).fit(X)
    with pytest.raises(ValueError, match="columns whose squares do not vanish, got column 0"):
        fantope.covariance(X, kind="correlation")


@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
def test_a_negative_definite_matrix_has_a_scale_of_its_own(solver):
    """The step size began at 1e7 and never came back: STALLED at a gap of 0.06 with five variables."""
    S = scipy.linalg.circulant([-3.0, 0.0, -1.5, -1.5, 0.0])
    sol = fantope.solve(S, 4, 0.465642705328316, solver=solver, tol=1e-4)
    assert sol.status.name == "SOLVED" and sol.n_iter <= 300
    sol.verify(S)
