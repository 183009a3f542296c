"""The graphical lasso: against other solvers, its certificate, its decomposition."""

from dataclasses import replace
from fractions import Fraction

import cvxpy
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import graphical_lasso as of_scikit_learn
from sklearn.utils.estimator_checks import parametrize_with_checks

import fantope
from fantope.graphical.certificate import Weights, log_det_below, objective_above
from fantope.graphical.exact_penalty import prox_spectral


def sample_covariance(n, p, seed=0, scales=None):
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p))
    Z[:, 1 : p // 2] += 0.8 * Z[:, : p // 2 - 1]
    Z *= np.ones(p) if scales is None else scales
    return np.cov(Z.T, bias=True)


@pytest.mark.parametrize("diagonal", [False, True])
@pytest.mark.parametrize(("n", "alpha"), [(50, 0.05), (50, 0.3), (6, 0.2)])
def test_against_a_generic_solver(n, alpha, diagonal):
    S = sample_covariance(n, 9)
    found = fantope.graphical_lasso(S, alpha, diagonal=diagonal, tol=1e-6)
    Theta = cvxpy.Variable((9, 9), symmetric=True)
    off = 1.0 if diagonal else 1.0 - np.eye(9)
    norm = cvxpy.sum(cvxpy.abs(cvxpy.multiply(off, Theta)))
    problem = cvxpy.Problem(cvxpy.Minimize(-cvxpy.log_det(Theta) + cvxpy.trace(S @ Theta) + alpha * norm))
    problem.solve(solver="CLARABEL")
    assert found.dual_bound - 1e-6 <= problem.value <= found.objective + 1e-5
    np.testing.assert_allclose(found.precision.toarray(), Theta.value, atol=2e-3)
    found.verify(S)


@pytest.mark.parametrize(("n", "p", "alpha"), [(200, 30, 0.1), (60, 50, 0.25)])
def test_the_optimum_is_that_of_scikit_learn(n, p, alpha):
    S = sample_covariance(n, p)
    found = fantope.graphical_lasso(S, alpha)
    _, theirs = of_scikit_learn(S, alpha, tol=1e-4, max_iter=1000)
    value = objective_above(S, 0.5 * (theirs + theirs.T), Weights(alpha))
    assert found.dual_bound <= value and found.objective <= value + 1e-4
    np.testing.assert_allclose(found.precision.toarray(), theirs, atol=0.02)
    assert str(found.status).startswith("solved") and 0.0 <= found.gap <= 1e-4


def hard(kind):
    """Return S near to singular, or singular, and an alpha that leaves the optimum badly conditioned."""
    rng = np.random.default_rng(3)
    Z = rng.standard_normal((200, 40))
    if kind == "a near copy":
        Z[:, 1] = Z[:, 0] + 1e-6 * Z[:, 1]
        return np.cov(Z.T), 0.01
    if kind == "copies":
        return np.cov(np.hstack([Z[:30], Z[:30, :10]]).T), 0.01
    if kind == "few samples":
        return np.cov(Z[:20].T), 0.005
    return 1.0 / (1.0 + np.add.outer(np.arange(12), np.arange(12))), 0.01


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["a near copy", "copies", "few samples", "Hilbert"])
def test_badly_conditioned_optima_are_reached(kind):
    """Without mixing these took 1,300 iterations and more, and most of them ended at the limit of 2,000."""
    S, alpha = hard(kind)
    found = fantope.graphical_lasso(S, alpha)
    assert found.gap <= 1e-4 and found.n_iter <= 300
    found.verify(S)


def test_a_correlation_matrix_that_is_symmetric_up_to_rounding():
    S = np.corrcoef(sample_covariance(50, 12) + np.random.default_rng(0).standard_normal((12, 12)))
    S[0, 1] = np.nextafter(S[1, 0], 2.0)
    fantope.graphical_lasso(S, 0.1).verify(S)


def test_components_are_split_exactly():
    S = np.full((30, 30), 0.05)
    for k in range(3):
        S[10 * k : 10 * k + 8, 10 * k : 10 * k + 8] = sample_covariance(40, 8, k)
    np.fill_diagonal(S, np.diag(S) + 0.3)
    found = fantope.graphical_lasso(S, 0.2, tol=1e-6)
    assert len(np.unique(found.labels)) >= 9
    Theta = found.precision.toarray()
    apart = found.labels[:, None] != found.labels
    assert not Theta[apart].any()
    _, theirs = of_scikit_learn(S, 0.2, tol=1e-3, max_iter=1000)
    assert np.abs(theirs[apart]).max() < 1e-8
    alone = np.flatnonzero(np.bincount(found.labels)[found.labels] == 1)
    np.testing.assert_allclose(Theta[alone, alone], 1.0 / S[alone, alone])


def test_variables_of_any_size():
    scales = 10.0 ** np.random.default_rng(0).uniform(-4, 4, 12)
    R, scaled = sample_covariance(100, 12), sample_covariance(100, 12, scales=scales)
    found = fantope.graphical_lasso(scaled, 0.0, tol=1e-6)
    np.testing.assert_allclose(
        found.precision.toarray() * np.outer(scales, scales), np.linalg.inv(R), rtol=1e-2, atol=1e-2
    )
    one, other = (fantope.graphical_lasso(unit * R, 0.2 * unit) for unit in (1.0, 2.0**60))
    np.testing.assert_array_equal(one.precision.toarray(), 2.0**60 * other.precision.toarray())


def test_a_start_near_the_optimum_saves_iterations():
    S = sample_covariance(100, 40)
    cold = fantope.graphical_lasso(S, 0.1)
    warm = fantope.graphical_lasso(S + 1e-4 * np.eye(40), 0.1, init=cold.precision)
    assert warm.n_iter < 0.7 * cold.n_iter
    again = fantope.graphical_lasso(S, 0.1, init=-np.eye(40))  # a start that is none is not used
    assert again.gap <= 1e-4


def determinant(A):
    """Return the determinant exactly."""
    rows = [[Fraction(float(x)) for x in row] for row in A]
    value = Fraction(1)
    for k in range(len(rows)):
        value *= rows[k][k]
        if not value:
            return value
        for i in range(k + 1, len(rows)):
            share = rows[i][k] / rows[k][k]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return value


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(-30, 14))
def test_the_log_determinant_is_never_above_the_true_one(seed, p, digits):
    """Near-singular matrices and odd scales: exact arithmetic decides."""
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((p, p))
    A = B @ B.T + 10.0**-digits * np.eye(p) * (digits > 0)
    A *= np.outer(*[10.0 ** rng.integers(-5, 5, p)] * 2)
    A = 0.5 * (A + A.T)
    found = log_det_below(A)
    if np.isfinite(found):
        exact = determinant(A)
        assert exact > 0
        assert found <= float(np.log(float(exact))) + 1e-13 * abs(found)


def test_no_proof_without_a_positive_definite_matrix():
    assert log_det_below(np.array([[1.0, 1.0], [1.0, 1.0]])) == -np.inf
    assert log_det_below(np.array([[1.0, np.nan], [np.nan, 1.0]])) == -np.inf
    assert objective_above(np.eye(2), -np.eye(2), Weights(0.1)) == np.inf


def test_what_is_not_true_is_not_verified():
    S = sample_covariance(60, 12)
    found = fantope.graphical_lasso(S, 0.2)
    found.verify(S)
    for change, text in [
        ({"objective": found.objective - 1e-3}, "bracket"),
        ({"dual_bound": found.dual_bound + 1e-3}, "bracket"),
        ({"covariance": found.covariance * 1.5}, "within alpha"),
        ({"precision": scipy.sparse.csr_array(np.triu(found.precision.toarray()))}, "symmetric"),
    ]:
        with pytest.raises(fantope.CertificateError, match=text):
            replace(found, **change).verify(S)
    with pytest.raises(fantope.CertificateError, match="within alpha"):
        found.verify(S + 0.5 * np.ones((12, 12)))
    with pytest.raises(fantope.CertificateError, match=r"S must have shape \(12, 12\)"):
        found.verify(np.eye(3))


def test_the_continued_logarithm_by_its_prox():
    """Below the floor h is linear: the prox is the minimiser of h + ½‖·‖² over a fine grid."""
    floor, step = 0.5, 0.3
    grid = np.linspace(-3, 5, 800_001)
    h = np.where(grid >= floor, -np.log(np.maximum(grid, floor)), -np.log(floor) - (grid - floor) / floor)
    for value in (-2.0, -0.3, 0.0, 0.4, 2.0):
        expected = grid[np.argmin(step * h + 0.5 * (grid - value) ** 2)]
        assert prox_spectral(np.array([[value]]), step, floor)[0, 0] == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("S", "text"),
    [
        (np.zeros((2, 3)), "square"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "finite"),
        (np.array([[1.0, 0.5], [0.1, 1.0]]), "symmetric"),
        (np.diag([1.0, 0.0]), "positive diagonal, got 0 for variable 1; drop"),
        (np.diag([1.0, 1e150]), "variances between 1e-140 and 1e\\+140, got 1 to 1e\\+150; divide"),
        ([["a", "b"], ["b", "a"]], "^S must be a matrix of real numbers, got list"),
        ([[1.0, 0.5], [0.5]], "^S must be a matrix of real numbers, got list"),
        (np.eye(2) * 1j, "^S must be a matrix of real numbers, got ndarray"),
    ],
)
def test_what_cannot_be_used_is_one_sentence(S, text):
    with pytest.raises(ValueError, match=text):
        fantope.graphical_lasso(S, 0.1)
    with pytest.raises(ValueError, match="alpha must be above 0 where S is singular"):
        fantope.graphical_lasso(np.ones((3, 3)), 0.0)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"max_iter": 0}, "^max_iter must be a whole number, 1 or larger, got 0"),
        ({"max_iter": "many"}, "^max_iter must be a whole number, 1 or larger, got 'many'"),
        ({"init": np.full((3, 3), np.nan)}, "^init must be finite, got nan in row 0, column 0; leave it out"),
        ({"init": np.eye(2)}, r"^init must be a matrix of shape \(3, 3\), got shape \(2, 2\)"),
        ({"tol": 0.0}, "^tol must be a finite number above 0"),
    ],
)
def test_options_that_cannot_be_used_are_one_sentence(options, text):
    with pytest.raises(ValueError, match=text):
        fantope.graphical_lasso(np.eye(3), 0.1, **options)


def test_a_start_that_is_not_positive_definite_does_no_harm():
    S = sample_covariance(60, 12)
    assert fantope.graphical_lasso(S, 0.2, init=-np.eye(12)).gap <= 1e-4


def test_too_few_iterations_are_said_so():
    found = fantope.graphical_lasso(sample_covariance(100, 40), 0.05, max_iter=5)
    assert str(found.status).startswith("stopped at max_iter") and found.gap > 1e-4
    found.verify(sample_covariance(100, 40))


def test_partial_correlations():
    found = fantope.graphical_lasso(sample_covariance(200, 10), 0.1)
    Theta, R = found.precision.toarray(), found.partial_correlations.toarray()
    assert found.n_edges == np.count_nonzero(np.triu(Theta, 1)) == np.count_nonzero(np.triu(R, 1)) > 0
    np.testing.assert_allclose(R[0, 1], -Theta[0, 1] / np.sqrt(Theta[0, 0] * Theta[1, 1]))


@parametrize_with_checks([fantope.SparsePrecision()])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_the_estimator_is_the_function_of_the_covariance():
    Z = np.random.default_rng(0).standard_normal((80, 8)) * np.arange(1, 9) + 5.0
    fitted = fantope.SparsePrecision(0.05, correlation=True).fit(Z)
    expected = fantope.graphical_lasso(np.corrcoef(Z.T), 0.05)
    np.testing.assert_allclose(fitted.precision_, expected.precision.toarray(), atol=1e-6)
    plain = fantope.SparsePrecision(0.0, tol=1e-8).fit(Z)
    from scipy.stats import multivariate_normal

    truth = multivariate_normal(Z.mean(axis=0), np.cov(Z.T, bias=True)).logpdf(Z).mean()
    assert plain.score(Z) == pytest.approx(truth, abs=1e-4)
