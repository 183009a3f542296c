import numpy as np
import pytest
import scipy.linalg

from fantope.eigen import Eigenspace, largest_eigenvalues
from fantope.eigen.lapack import largest_eigenpairs
from fantope.problem.simplex import capped_simplex_shift
from problems import blocks, sample_covariance, spectrum

RNG = np.random.default_rng(11)
M = 240  # large enough for the block method


def clustered(m):
    values = np.concatenate([[5.0, 5.0, 5.0, 5.0 - 1e-9, 4.0], RNG.uniform(-1, 1, m - 5)])
    return spectrum(RNG, values)


MATRICES = {
    "random": spectrum(RNG, RNG.standard_normal(M)),
    "covariance": sample_covariance(RNG, 300, M),
    "clustered": clustered(M),
    "indefinite": spectrum(RNG, np.concatenate([[4.0, 3.0, -20.0], RNG.uniform(-1, 1, M - 3)])),
    "negative": spectrum(RNG, -np.linspace(1, 9, M)),
    "blocks": blocks(*[sample_covariance(RNG, 90, M // 4) for _ in range(4)]),
    "low-rank": sample_covariance(RNG, 4, M),
    "zero": np.zeros((M, M)),
    "identity": np.eye(M),
}


def check(G, values, vectors, tol):
    exact = np.linalg.eigvalsh(G)[::-1]
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(len(vectors)), atol=1e-10)
    np.testing.assert_allclose(values, exact[: len(values)], atol=max(tol, 1e-10 * np.abs(exact).max()))
    assert (np.diff(values) <= 1e-12).all()
    assert np.linalg.norm(G @ vectors.T - vectors.T * values) <= max(tol, 1e-10 * np.abs(exact).max())


@pytest.mark.parametrize("name", MATRICES)
@pytest.mark.parametrize("needed", [1, 2, 4])
@pytest.mark.parametrize("start", ["none", "random"])
def test_equals_lapack(name, needed, start):
    G = MATRICES[name]
    space = Eigenspace(None if start == "none" else np.random.default_rng(0).standard_normal((needed + 3, M)))
    for _ in range(2):  # the second call starts warm
        values, vectors = space.leading(G, lambda _: needed, tol=1e-8)
        assert len(values) == len(vectors) == needed
        check(G, values, vectors, 1e-8)


@pytest.mark.parametrize("m", [1, 2, 5, 39, 41, 90])
def test_any_size(m):
    G = spectrum(np.random.default_rng(m), np.linspace(-1, 2, m))
    space = Eigenspace(np.random.default_rng(0).standard_normal((min(4, m), m)))
    for _ in range(3):
        values, vectors = space.leading(G, lambda _: 1, tol=1e-9)
        check(G, values, vectors, 1e-9)


def test_relative_tolerance():
    G = 1e6 * MATRICES["covariance"]
    space = Eigenspace(np.random.default_rng(0).standard_normal((5, M)))
    values, vectors = space.leading(G, lambda _: 2, relative=1e-3)
    assert np.linalg.norm(G @ vectors.T - vectors.T * values) <= 1e-3 * values[0] * (1 + 1e-9)


@pytest.mark.parametrize("known", [8, 10])
def test_enough_decides_how_many_are_returned(known):
    G = MATRICES["covariance"]
    exact, Q = np.linalg.eigh(G)
    level = 0.5 * (exact[-7] + exact[-8])
    space = Eigenspace(Q.T[::-1][:known].copy())
    values, vectors = space.leading(G, lambda found: int(np.count_nonzero(found > level)), tol=1e-8)
    assert len(values) == 7
    check(G, values, vectors, 1e-8)


def test_enough_of_the_fantope_projection():
    G = MATRICES["random"]
    exact = np.linalg.eigvalsh(G)[::-1]
    total = 3
    wanted = int(np.count_nonzero(exact > capped_simplex_shift(exact, total)))

    def enough(found):
        if len(found) <= total:
            return len(found)
        return int(np.count_nonzero(found > capped_simplex_shift(found, total)))

    space = Eigenspace(np.random.default_rng(0).standard_normal((total + 3, M)))
    for _ in range(3):
        values, vectors = space.leading(G, enough, tol=1e-8)
        assert len(values) == wanted
        check(G, values, vectors, 1e-8)


def test_everything_can_be_asked_for():
    G = MATRICES["random"]
    values, vectors = Eigenspace(np.random.default_rng(0).standard_normal((4, M))).leading(G, len, tol=1e-8)
    assert len(values) == M
    check(G, values, vectors, 1e-8)


class Counting(np.ndarray):
    """A matrix that counts the columns it is multiplied with."""

    columns = 0

    def __matmul__(self, other):
        Counting.columns += other.shape[1]
        return np.asarray(self) @ other


def test_warm_start_saves_products(monkeypatch):
    def refuse(*_args, **_kwargs):
        raise AssertionError("LAPACK was asked for a full decomposition")

    G = spectrum(np.random.default_rng(3), np.concatenate([[9.0, 8.0], np.linspace(-1, 2, 598)]))
    E = 1e-4 * spectrum(np.random.default_rng(4), np.linspace(-1, 1, 600))
    space = Eigenspace(np.random.default_rng(0).standard_normal((5, 600)))
    monkeypatch.setattr(scipy.linalg, "eigh", refuse)
    Counting.columns = 0
    space.leading(G.view(Counting), lambda _: 2, tol=1e-6)
    cold, Counting.columns = Counting.columns, 0
    space = Eigenspace(space.basis)
    values, vectors = space.leading((G + E).view(Counting), lambda _: 2, tol=1e-6)
    assert Counting.columns <= 0.6 * cold
    check(G + E, values, vectors, 1e-6)


def test_slowly_changing_matrices():
    G, E = MATRICES["covariance"], spectrum(np.random.default_rng(5), np.linspace(-1, 1, M))
    space = Eigenspace(np.random.default_rng(0).standard_normal((5, M)))
    for k in range(12):
        A = G + 0.05 * k * E
        check(A, *space.leading(A, lambda _: 2, tol=1e-7), 1e-7)


def test_matrix_is_left_unchanged():
    G = MATRICES["covariance"].copy()
    before = G.copy()
    for start in (None, np.random.default_rng(0).standard_normal((5, M))):
        Eigenspace(start).leading(G, lambda _: 2, tol=1e-7)
        np.testing.assert_array_equal(G, before)


def test_lapack_giving_up_on_a_cluster_is_not_the_end(monkeypatch):
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    G = (Q * np.repeat([2.0, 1.0, 0.0], 20)) @ Q.T
    wanted = np.linalg.eigvalsh(G)[::-1][:5]
    eigh = scipy.linalg.eigh

    def fails_on_a_part(*args, subset_by_index=None, **options):
        if subset_by_index is not None:
            raise np.linalg.LinAlgError("Internal Error.")
        return eigh(*args, **options)

    monkeypatch.setattr(scipy.linalg, "eigh", fails_on_a_part)
    values, rows = largest_eigenpairs(G, 5)
    np.testing.assert_allclose(values, wanted, atol=1e-12)
    np.testing.assert_allclose(rows @ G, values[:, None] * rows, atol=1e-12)
    np.testing.assert_allclose(largest_eigenvalues(G, 5), wanted, atol=1e-12)
