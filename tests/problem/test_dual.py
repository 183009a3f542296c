import numpy as np
import pytest

from fantope.operators import DenseCovariance
from fantope.penalties import L1
from fantope.problem.dual import DenseDual, ExtendedDual, LiftedDual
from problems import sample_covariance

P, ALPHA = 9, 0.3
RNG = np.random.default_rng(4)
S = sample_covariance(RNG, 15, P)
EVERYTHING = np.arange(P)


def dense():
    U = RNG.uniform(-2 * ALPHA, 2 * ALPHA, (P, P))
    return DenseDual(U + U.T, L1(ALPHA))


def extended():
    active = np.array([1, 4, 6])
    U = RNG.uniform(-ALPHA, ALPHA, (3, P))
    U[:, active] = 0.5 * (U[:, active] + U[:, active].T)
    return ExtendedDual(L1(ALPHA), active, U)


def lifted(reduced=None):
    labels = np.array([0, 1, 0, 0, 2, 1, 3, 0, 1])
    matrix = np.where(labels[:, None] == labels, S, np.clip(S, -ALPHA, ALPHA))
    kept = np.array([0, 1, 2, 3, 4, 5, 7, 8])
    position = np.full(P, -1, dtype=np.intp)
    position[kept] = np.arange(len(kept))
    U = RNG.uniform(-ALPHA, ALPHA, (8, 8))
    return LiftedDual(DenseCovariance(matrix), L1(ALPHA), labels, position, reduced or DenseDual(U + U.T, L1(ALPHA)))


def lifted_active_set():
    active = np.array([0, 2, 7])
    U = RNG.uniform(-ALPHA, ALPHA, (3, 8))
    U[:, active] = 0.5 * (U[:, active] + U[:, active].T)
    return lifted(ExtendedDual(L1(ALPHA), active, U))


DUALS = {"dense": dense(), "extended": extended(), "lifted": lifted(), "lifted-active-set": lifted_active_set()}


def block(dual, rows, cols):
    return dual.over(S[np.ix_(rows, cols)], rows, cols) if isinstance(dual, ExtendedDual) else dual.block(rows, cols)


@pytest.mark.parametrize("name", DUALS)
def test_is_a_dual_point(name):
    U = block(DUALS[name], EVERYTHING, EVERYTHING)
    np.testing.assert_array_equal(U, U.T)
    assert np.abs(U).max() <= ALPHA
    np.testing.assert_array_equal(U.diagonal(), ALPHA)


@pytest.mark.parametrize("name", DUALS)
def test_blocks_are_parts_of_the_whole(name):
    dual = DUALS[name]
    U = block(dual, EVERYTHING, EVERYTHING)
    for rows, cols in (
        (np.array([0, 4]), np.array([1, 4, 6])),
        (np.array([6, 1]), np.array([8, 0, 1])),
        (np.array([3]), EVERYTHING),
        (np.zeros(0, dtype=np.intp), EVERYTHING),
        (EVERYTHING[::-1].copy(), EVERYTHING),
    ):
        np.testing.assert_array_equal(block(dual, rows, cols), U[np.ix_(rows, cols)])


@pytest.mark.parametrize("name", ["dense", "extended"])
def test_slack_is_the_difference(name):
    before = S.copy()
    np.testing.assert_allclose(DUALS[name].slack(S), S - block(DUALS[name], EVERYTHING, EVERYTHING), atol=1e-15)
    np.testing.assert_array_equal(S, before)


def test_extended_between_outside_variables_is_the_clipped_matrix():
    outside = np.array([0, 2, 3, 5, 7, 8])
    U = block(DUALS["extended"], outside, outside)
    wanted = np.clip(S[np.ix_(outside, outside)], -ALPHA, ALPHA)
    np.fill_diagonal(wanted, ALPHA)
    np.testing.assert_array_equal(U, wanted)


@pytest.mark.parametrize("name", ["lifted", "lifted-active-set"])
def test_lifted_between_components_leaves_nothing(name):
    dual = DUALS[name]
    M = dual.S.S - dual.block(EVERYTHING, EVERYTHING)
    assert not M[dual.labels[:, None] != dual.labels].any()


def test_lists_are_accepted():
    dual = DUALS["lifted"]
    np.testing.assert_array_equal(dual.block([0, 2], [1, 3]), dual.block(np.array([0, 2]), np.array([1, 3])))


def test_blocks_are_copies():
    for dual in DUALS.values():
        U = block(dual, EVERYTHING, EVERYTHING)
        wanted = U.copy()
        U[:] = 7.0
        np.testing.assert_array_equal(block(dual, EVERYTHING, EVERYTHING), wanted)
