"""Results do not depend on the unit of the data: samples times 10^k and a penalty times 10^2k give the same X."""

import numpy as np
import pytest

from fantope import OnlineSparsePCA
from fantope.online import FollowTheLeader, OnlineP, OnlineT
from fantope.online.base import Unit, root_mean_square
from fantope.simulation import simulate

Z = simulate(12, 40).Z
# Online-P rounds its samples, and sees the same ones; the others differ by rounding.
LEARNERS = {"online-p": (OnlineP, 0.0), "online-t": (OnlineT, 1e-9), "ftl": (FollowTheLeader, 1e-9)}


def learned(kind, exponent=0, alpha="2e-1", rows=Z):
    mantissa, power = alpha.split("e")
    learner = LEARNERS[kind][0](40, 2, float(f"{mantissa}e{int(power) + 2 * exponent}"))
    learner.update_many(rows * float(f"1e{exponent}"))
    return learner


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [4, -3, 20, -50, 100, -100])
@pytest.mark.parametrize("kind", LEARNERS)
def test_powers_of_ten_change_nothing(kind, exponent):
    usual, found = learned(kind), learned(kind, exponent)
    assert found.unit == pytest.approx(10.0**exponent) and usual.unit == 1.0
    np.testing.assert_allclose(found.iterate(), usual.iterate(), atol=LEARNERS[kind][1])
    if kind == "online-p":
        assert found.n_unmet == 0
        assert [r.n_iter for r in found.records] == [r.n_iter for r in usual.records]
        assert found.records[-1].tolerance == pytest.approx(usual.records[-1].tolerance * 10.0 ** (2 * exponent))


def test_rounding_leaves_single_precision_as_it_is_and_changes_the_tenth_digit_of_the_rest():
    single = Z[0].astype(np.float32).astype(np.float64)
    np.testing.assert_array_equal(learned("online-p", rows=single[None]).S, np.outer(single, single))
    found = np.sqrt(learned("online-p", rows=Z[:1]).S.diagonal())
    off = np.abs(found - np.abs(Z[0])) / np.abs(Z[0])
    assert 0.0 < off.max() < 2.0**-31


@pytest.mark.slow
@pytest.mark.parametrize("factor", [0.4, 3.0])
def test_within_a_decade_a_step_takes_about_as_long(factor):
    learner = OnlineP(40, 2, 0.2 * factor**2)
    learner.update_many(factor * Z)
    assert learner.n_unmet == 0
    assert sum(r.n_iter for r in learner.records) < 1.5 * sum(r.n_iter for r in learned("online-p").records)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [200, 300, -200, -300])
@pytest.mark.parametrize("kind", LEARNERS)
def test_numbers_whose_squares_are_no_numbers(kind, exponent):
    found = learned(kind, exponent, alpha="0e0")
    # Without a penalty Online-T's extreme eigenpairs are close to the next ones, and good to 1e-2 only.
    np.testing.assert_allclose(found.iterate(), learned(kind, alpha="0e0").iterate(), atol=1e-2)
    assert getattr(found, "n_unmet", 0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("value", [1e160, -1e300, 1e-160])
@pytest.mark.parametrize("row", [0, 5])
@pytest.mark.parametrize("kind", LEARNERS)
def test_one_value_beyond_all_others(kind, row, value):
    rows = Z.copy()
    rows[row, 3] = value
    learner = learned(kind, rows=rows)
    X = learner.iterate()
    assert np.isfinite(X).all() and getattr(learner, "n_unmet", 0) == 0
    if abs(value) > 1.0:
        assert X[3, 3] > 0.97
    state = {key: np.array(each) if isinstance(each, np.ndarray) else each for key, each in learner.state().items()}
    restored = LEARNERS[kind][0](40, 2, 0.2)
    restored.restore(state)
    for each in (learner, restored):
        each.update_many(Z)
    for key, each in learner.state().items():
        np.testing.assert_array_equal(each, restored.state()[key], err_msg=key)


@pytest.mark.slow
@pytest.mark.parametrize("kind", LEARNERS)
def test_a_penalty_above_all_covariances_leaves_single_variables(kind):
    learner = learned(kind, -60, alpha="1e120")
    X = learner.iterate()
    assert np.isfinite(X).all()
    if kind != "online-t":  # whose last iterate is a step away from the diagonal
        np.testing.assert_allclose(X - np.diag(X.diagonal()), 0.0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", LEARNERS)
def test_the_estimators_variances_are_in_the_datas_unit(algorithm):
    usual, large = (
        OnlineSparsePCA(2, alpha=0.2 * factor**2, algorithm=algorithm).fit(factor * Z) for factor in (1.0, 1e100)
    )
    np.testing.assert_allclose(large.components_, usual.components_, atol=1e-3)
    np.testing.assert_allclose(large.explained_variance_, usual.explained_variance_ * 1e200, rtol=1e-3)
    np.testing.assert_allclose(large.explained_variance_ratio_, usual.explained_variance_ratio_, rtol=1e-3)


def test_the_unit_follows_the_size_with_patience():
    unit = Unit()
    assert unit.see(np.zeros(4), 1.0) == 1.0 and unit.value == 1.0
    assert unit.see(np.full(4, 30.0), 0.5) == 1.0 and unit.value == 10.0
    assert unit.see(np.full(4, 90.0), 0.9) == 1.0 and unit.value == 10.0  # less than a factor of ten away
    assert unit.see(np.full(4, 2e3), 0.9) == pytest.approx(1e-2) and unit.value == pytest.approx(1e3)
    assert root_mean_square(np.full(4, 1e300)) == pytest.approx(1e300)
    assert root_mean_square(np.array([3e-170, 4e-170])) == pytest.approx(5e-170 / np.sqrt(2))
