import dataclasses

import numpy as np
import pytest
import scipy.sparse

import fantope
from fantope import CertificateError
from fantope.problem.certificate import Certificate, relative_gap
from fantope.problem.projection import Factors
from problems import BY_NAME, sample_covariance


@pytest.fixture(scope="module")
def solved():
    instance = BY_NAME["random-30-d4"]
    return instance, fantope.solve(instance.S, instance.d, instance.alpha, tol=1e-6)


class Rule:
    """A reduced dual point that says what a test wants it to say."""

    def __init__(self, U):
        self.U = U

    def over(self, S, rows, cols):
        return self.U[np.ix_(rows, cols)]

    def slack(self, S):
        return S - self.U


def with_projection(sol, X):
    """The solution with another X behind the same claims."""
    changed = dataclasses.replace(sol)
    vars(changed)["projection"] = scipy.sparse.csr_array(X)
    return changed


def with_dual(sol, U):
    return dataclasses.replace(sol, dual=dataclasses.replace(sol.dual, reduced=Rule(U)))


def whole_dual(sol):
    everything = np.arange(sol.n_features)
    return sol.dual.block(everything, everything)


def test_verify_returns_the_bracket(solved):
    instance, sol = solved
    found = sol.verify(instance.S)
    assert isinstance(found, Certificate)
    assert found.gap <= 1.2e-6
    assert found.objective == pytest.approx(sol.objective, rel=1e-10)
    assert found.dual_bound == pytest.approx(sol.dual_bound, rel=1e-6)
    assert sol.verify().gap == pytest.approx(found.gap, abs=1e-12)
    assert sol.verify(sol.covariance).gap == pytest.approx(found.gap, abs=1e-12)


def test_verify_changes_nothing(solved):
    instance, sol = solved
    before = instance.S.copy()
    first, second = sol.verify(instance.S), sol.verify(instance.S)
    assert first == second
    np.testing.assert_array_equal(instance.S, before)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: 1.001 * X, "away from the Fantope"),
        (lambda X: 0.5 * X, "away from the Fantope"),
        (lambda X: X + 1e-6 * scipy.sparse.eye_array(X.shape[0]), "away from the Fantope"),
        (lambda X: -X, "away from the Fantope"),
        (lambda X: X + scipy.sparse.csr_array(([1e-3], ([0], [1])), X.shape), "not a symmetric matrix"),
        (lambda X: scipy.sparse.csr_array(X.shape), "enough rows in use"),
        (lambda X: X[:-1], "but X is"),
        (lambda X: X[:-1][:, :-1], "but X is"),
    ],
)
def test_tampered_projection(solved, change, message):
    instance, sol = solved
    with pytest.raises(CertificateError, match=message):
        with_projection(sol, change(sol.projection)).verify(instance.S)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_projection_that_is_not_finite(solved, value):
    instance, sol = solved
    X = sol.projection.copy()
    X.data[0] = value
    with pytest.raises(CertificateError, match="not finite"):
        with_projection(sol, X).verify(instance.S)


@pytest.mark.parametrize("factor", [1.01, -1.01, np.nan, np.inf])
def test_dual_outside_the_box(solved, factor):
    instance, sol = solved
    U = whole_dual(sol)
    with_dual(sol, U).verify(instance.S)
    U[0, 1] = U[1, 0] = factor * instance.alpha
    with pytest.raises(CertificateError, match="leaves the box"):
        with_dual(sol, U).verify(instance.S)


def test_dual_that_is_not_symmetric(solved):
    instance, sol = solved
    U = whole_dual(sol)
    U[0, 1] += 0.5 * instance.alpha if U[0, 1] < 0 else -0.5 * instance.alpha
    with pytest.raises(CertificateError, match="not symmetric"):
        with_dual(sol, U).verify(instance.S)


def test_a_dual_may_be_as_asymmetric_as_the_rounding_of_S():
    """One variable with a variance 1e10 times the others': U carries the rounding of that one."""
    S = sample_covariance(np.random.default_rng(0), 40, 8)
    S[0] *= 1e5
    S[:, 0] *= 1e5
    sol = fantope.solve(S, 2, 0.1)
    U = whole_dual(sol)
    U[2, 1] -= np.sign(U[2, 1]) * 2.0**-53 * S[0, 0]
    assert abs(U[2, 1] - U[1, 2]) > 1e-8 * 0.1
    with_dual(sol, U).verify()


def test_dual_that_keeps_connected_variables_apart(solved):
    instance, sol = solved
    labels = sol.dual.labels.copy()
    labels[0] = labels.max() + 1
    with pytest.raises(CertificateError, match="between components that the dual point keeps apart"):
        dataclasses.replace(sol, dual=dataclasses.replace(sol.dual, labels=labels)).verify(instance.S)


def test_solution_of_another_matrix(solved):
    instance, sol = solved
    other = sample_covariance(np.random.default_rng(99), 40, len(instance.S))
    with pytest.raises(CertificateError, match=r"wider than the one reported .* not the matrix that was solved"):
        sol.verify(other)
    with pytest.raises(CertificateError, match="wider than the one reported"):
        sol.verify(instance.S + 0.05 * other)


def test_matrix_of_another_size(solved):
    instance, sol = solved
    with pytest.raises(CertificateError, match="S must have the 30 variables of the problem solved, got 29"):
        sol.verify(instance.S[1:, 1:])


def test_tampered_solution(solved):
    instance, sol = solved
    claims = dataclasses.replace(sol, dual_bound=sol.objective)  # better than what X and U prove
    with pytest.raises(CertificateError, match="wider"):
        claims.verify(instance.S)
    heavier = Factors(sol.factors.rows, sol.factors.vectors, 1.01 * sol.factors.weights)
    with pytest.raises(CertificateError, match="away from the Fantope"):
        dataclasses.replace(sol, factors=heavier).verify(instance.S)
    with pytest.raises(CertificateError, match="wider"):
        with_dual(sol, np.zeros_like(instance.S)).verify(instance.S)


def test_error_is_an_arithmetic_error():
    assert issubclass(CertificateError, ArithmeticError)


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [
        (1.0, 1.0, 0.0),
        (1.0, 2.0, 0.5),
        (-2.0, -1.0, 0.5),
        (-1.0, 1.0, 2.0),
        (0.0, 0.0, 0.0),
        (0.0, 1e-12, 1.0),
        (-1e-12, 0.0, 1.0),
        (1.0, 1.0 - 1e-15, 0.0),
        (-np.inf, 1.0, np.inf),
        (1.0, np.inf, np.inf),
        (np.nan, 1.0, np.inf),
    ],
)
def test_relative_gap(objective, bound, gap):
    assert relative_gap(objective, bound) == gap
    assert Certificate(objective, bound).gap == gap
