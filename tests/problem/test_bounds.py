import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fantope.problem import bounds
from fantope.problem.bounds import leading_eigenvalue_bounds
from fantope.problem.certificate import dual_bound
from problems import blocks, sample_covariance, spectrum


def exact(M, count):
    return np.linalg.eigvalsh(M)[::-1][:count]


def assert_bounds(M, found, count):
    """Each bound holds; LAPACK's own error is all that is forgiven."""
    assert len(found) == min(count, len(M))
    assert (np.diff(found) <= 0).all()
    assert (found >= exact(M, count) - 1e-15 * len(M) * np.linalg.norm(M)).all()


def random_matrix(kind, m, seed):
    rng = np.random.default_rng(seed)
    if kind == "random":
        return spectrum(rng, rng.standard_normal(m))
    if kind == "clustered":
        return spectrum(rng, np.repeat(rng.standard_normal(-(-m // 5)), 5)[:m] + 1e-12 * rng.standard_normal(m))
    if kind == "covariance":
        return sample_covariance(rng, 2 * m, m)
    if kind == "blocks":
        half = max(m // 2, 1)
        return blocks(spectrum(rng, rng.standard_normal(half)), spectrum(rng, rng.standard_normal(m - half)))
    if kind == "negative":
        return -sample_covariance(rng, 2 * m, m) - np.eye(m)
    return np.full((m, m), rng.standard_normal())


KINDS = st.sampled_from(["random", "clustered", "covariance", "blocks", "negative", "constant"])


@pytest.fixture(params=["lapack", "cholesky"])
def route(request, monkeypatch):
    monkeypatch.setattr(bounds, "DENSE_UP_TO", 10**6 if request.param == "lapack" else 0)
    return request.param


@pytest.mark.slow
@pytest.mark.parametrize("limit", [0, 10**6], ids=["cholesky", "lapack"])
@given(
    kind=KINDS,
    m=st.integers(2, 60),
    count=st.integers(1, 4),
    scale=st.sampled_from([1e-8, 1.0, 1e8]),
    slack=st.sampled_from([0.0, 1e-8, 1e-3, 1.0]),
    seed=st.integers(0, 10**6),
)
def test_bounds_hold(limit, kind, m, count, scale, slack, seed):
    M = scale * random_matrix(kind, m, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bounds, "DENSE_UP_TO", limit)
        assert_bounds(M, leading_eigenvalue_bounds(M, count, slack=slack * scale), count)


@pytest.mark.parametrize("m", [219, 220, 221, 222, 260])
@pytest.mark.parametrize("kind", ["random", "clustered", "covariance", "blocks"])
def test_both_sides_of_the_switch(m, kind):
    M = random_matrix(kind, m, m)
    found = leading_eigenvalue_bounds(M, 3, slack=1e-4)
    assert_bounds(M, found, 3)
    assert found.sum() <= exact(M, 3).sum() + 2e-4


@pytest.mark.parametrize("kind", ["random", "clustered", "covariance", "blocks", "negative"])
@pytest.mark.parametrize("slack", [1e-10, 1e-6, 1e-2])
def test_nothing_is_missed_with_a_wrong_start(monkeypatch, kind, slack):
    """A start orthogonal to the leading eigenvectors makes an iterative method miss them; the bound may not."""
    monkeypatch.setattr(bounds, "DENSE_UP_TO", 0)
    m = 150
    M = random_matrix(kind, m, 3)
    _, Q = np.linalg.eigh(M)
    start = np.ascontiguousarray(Q[:, m // 2 : m // 2 + 8].T)  # an invariant subspace in the middle of the spectrum
    assert_bounds(M, leading_eigenvalue_bounds(M, 2, start, slack), 2)
    assert_bounds(M, leading_eigenvalue_bounds(M, 2, start, slack, below=-1e3), 2)


def test_nothing_is_missed_in_another_block(monkeypatch):
    monkeypatch.setattr(bounds, "DENSE_UP_TO", 0)
    rng = np.random.default_rng(0)
    weak, strong = sample_covariance(rng, 100, 120), 5 * sample_covariance(rng, 100, 120)
    M = blocks(weak, strong)
    start = np.zeros((8, 240))
    start[:, :120] = np.linalg.eigh(weak)[1].T[-8:]
    for slack in (1e-8, 1e-3):
        assert_bounds(M, leading_eigenvalue_bounds(M, 3, start, slack), 3)


def test_one_cholesky_factor_is_a_proof_whoever_computed_the_vectors():
    rng = np.random.default_rng(1)
    M = sample_covariance(rng, 100, 80)
    values, Q = np.linalg.eigh(M)
    good = bounds._cholesky(M, values[::-1][:2].copy(), Q.T[::-1][:2].copy(), 1e-6)
    assert good is not None
    assert_bounds(M, good, 2)
    assert good.sum() <= values[-2:].sum() + 1e-5
    wrong = bounds._cholesky(M, values[40:38:-1].copy(), Q.T[40:38:-1].copy(), 1e-6)
    assert wrong is None


def test_vectors_that_are_not_orthonormal_are_paid_for():
    rng = np.random.default_rng(2)
    M = sample_covariance(rng, 100, 80)
    values, Q = np.linalg.eigh(M)
    V = 1.05 * Q.T[::-1][:2]
    found = bounds._cholesky(M, values[::-1][:2].copy(), V, 1e-3)
    if found is not None:
        assert_bounds(M, found, 2)


def test_accuracy_of_the_bound(route):
    M = sample_covariance(np.random.default_rng(3), 300, 250)
    assert leading_eigenvalue_bounds(M, 3, slack=1e-6).sum() <= exact(M, 3).sum() + 2e-6


def test_slack_grows_with_the_distance_to_a_primal_value(route):
    M = sample_covariance(np.random.default_rng(3), 300, 250)
    value = exact(M, 3).sum()
    for distance in (1e-6, 1e-2, 1.0):
        found = leading_eigenvalue_bounds(M, 3, below=value - distance).sum()
        assert value - 1e-10 <= found <= value + 0.11 * distance


def test_matrix_is_left_unchanged(route):
    M = sample_covariance(np.random.default_rng(3), 300, 250)
    before = M.copy()
    leading_eigenvalue_bounds(M, 3, slack=1e-3)
    np.testing.assert_array_equal(M, before)


@pytest.mark.slow
@given(m=st.integers(1, 25), density=st.floats(0, 0.3), d=st.integers(1, 4), seed=st.integers(0, 10**6))
def test_dual_bound_takes_out_lonely_variables(m, density, d, seed):
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((m, m)) * (rng.uniform(size=(m, m)) < density)
    M = np.triu(M) + np.triu(M, 1).T
    d = min(d, m)
    value = exact(M, d).sum()
    rounding = 1e-12 * (1 + np.linalg.norm(M)) * m
    assert value - rounding <= dual_bound(M, d) <= value + rounding


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_rounding_is_added_never_subtracted(scale):
    """For matrices with exactly known eigenvalues the bound is at or above the exact value."""
    M = scale * np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 2.5]])
    assert 5.5 * scale <= dual_bound(M, 2) <= 5.5 * scale * (1 + 1e-12)
    ones = np.full((300, 300), scale)
    assert 300 * scale <= dual_bound(ones, 1, slack=1e-9 * scale) <= 300 * scale * (1 + 1e-9)


def test_a_matrix_that_changes_has_other_bounds():
    M = sample_covariance(np.random.default_rng(1), 20, 8)
    first = leading_eigenvalue_bounds(M, 2)
    np.testing.assert_array_equal(leading_eigenvalue_bounds(M, 2), first)
    assert len(leading_eigenvalue_bounds(M, 3)) == 3
    M += np.eye(len(M))
    np.testing.assert_allclose(leading_eigenvalue_bounds(M, 2), first + 1.0)
