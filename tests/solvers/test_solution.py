"""What a solution offers besides its certificate."""

import numpy as np
import pytest
import scipy.sparse

import fantope
from fantope import Status
from problems import BY_NAME, DEGENERATE, MEDIUM, modules


@pytest.fixture(scope="module", params=MEDIUM + DEGENERATE, ids=repr)
def case(request):
    instance = request.param
    return instance, fantope.solve(instance.S, instance.d, instance.alpha)


def test_projection_is_sparse_with_exact_zeros(case):
    instance, sol = case
    X = sol.projection
    assert scipy.sparse.issparse(X)
    assert X.shape == instance.S.shape
    assert (X.data != 0).all()
    assert X is sol.projection
    used = np.flatnonzero(np.diff(X.indptr))
    np.testing.assert_array_equal(used, sol.support)
    assert (np.diff(sol.support) > 0).all()
    assert X.trace() == pytest.approx(instance.d)


def test_components(case):
    instance, sol = case
    V = sol.components
    assert V.shape == (instance.d, len(instance.S))
    np.testing.assert_allclose(V @ V.T, np.eye(instance.d), atol=1e-10)
    M = V @ instance.S @ V.T
    np.testing.assert_allclose(M - np.diag(M.diagonal()), 0.0, atol=1e-10 * instance.scale)
    assert (np.diff(M.diagonal()) <= 1e-10 * instance.scale).all()
    np.testing.assert_allclose(sol.explained_variance, M.diagonal(), atol=1e-10 * instance.scale)
    off = np.setdiff1d(np.arange(len(instance.S)), sol.support)
    assert not V[:, off].any()
    largest = V[np.arange(instance.d), np.abs(V).argmax(axis=1)]
    assert (largest > 0).all()


def test_components_span_the_leading_range(case):
    _, sol = case
    if not sol.is_projection:
        pytest.skip("the range is not d-dimensional")
    V = sol.components
    np.testing.assert_allclose(V.T @ V, sol.projection.toarray(), atol=0.05)


def test_eigenvalues(case):
    instance, sol = case
    values = np.linalg.eigvalsh(sol.projection.toarray())[::-1]
    np.testing.assert_allclose(sol.eigenvalues, values[: len(sol.eigenvalues)], atol=1e-9)
    np.testing.assert_allclose(values[len(sol.eigenvalues) :], 0.0, atol=1e-9)
    assert (np.diff(sol.eigenvalues) <= 0).all()
    assert sol.is_projection == bool(values[instance.d - 1] > 0.99)


def test_sparse_where_it_should_be():
    instance = BY_NAME["paper-60-sparser"]
    sol = fantope.solve(instance.S, 2, instance.alpha)
    assert sol.projection.nnz < 0.5 * 60**2
    assert (sol.components == 0).any()


def test_gap_and_repr():
    instance = BY_NAME["random-30-d1"]
    sol = fantope.solve(instance.S, 1, 0.2)
    assert sol.gap == (sol.dual_bound - sol.objective) / abs(sol.dual_bound)
    text = repr(sol)
    assert "objective=" in text and "n_features=30" in text and len(text) < 500


def test_summary_of_a_projection():
    instance = BY_NAME["random-30-d1"]
    text = fantope.solve(instance.S, 1, 0.2).summary()
    assert text.startswith("1 sparse component on ")
    assert "of 30 variables (alpha = 0.2, auto," in text
    assert "X is a projection (eigenvalues 1.00" in text
    assert str(Status.SOLVED) in text


@pytest.mark.slow
def test_fractional_solution_and_what_the_summary_says():
    """Correlated modules that overlap: the optimum shares the trace among more than d directions."""
    instance = BY_NAME["correlation-30"]
    sol = fantope.solve(instance.S, 3, instance.alpha, tol=1e-6)
    np.testing.assert_allclose(sol.eigenvalues[:3], [1.0, 0.74, 0.58], atol=0.01)
    assert not sol.is_projection
    text = sol.summary()
    assert "X is not a projection (eigenvalues 1.00, 0.74, 0.58, " in text
    assert "the data do not single out a 3-dimensional sparse subspace" in text
    assert "try another n_components or a smaller alpha" in text


def test_rounding_puts_no_variable_into_the_support():
    """Of five equal modules two are taken; the others do not enter with eigenvalues of 1e-16."""
    sol = fantope.solve(modules(5, 6, 0.8), 2, 0.4, tol=1e-6)
    assert (sol.eigenvalues > 1e-12).all()
    assert np.abs(sol.projection.toarray()[sol.support]).max(axis=1).min() > 1e-12


def test_every_status_says_what_to_do_next():
    assert len({str(status) for status in Status}) == len(Status)
    for status in set(Status) - {Status.SOLVED}:
        assert any(word in str(status) for word in ("raise", "loosen", "pass", "check", "try", "use"))
    assert str(Status.SOLVED) == Status.SOLVED.value
