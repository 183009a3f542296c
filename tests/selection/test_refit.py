"""Refitted components and their bootstrap intervals."""

import numpy as np
import pytest

import fantope
from fantope.selection import refit

SIM = fantope.simulate(200, 40, sizes=(8, 6))


def test_components_are_those_of_pca_on_the_support():
    sol = fantope.solve(fantope.covariance(SIM.Z), 2, 0.4)
    found = refit(SIM.Z, sol, 2, n_bootstrap=50)
    S = np.cov(SIM.Z[:, sol.support], rowvar=False, bias=True)
    values, vectors = np.linalg.eigh(S)
    np.testing.assert_allclose(found.explained_variance, values[::-1][:2])
    assert np.abs(found.components[:, sol.support] @ vectors[:, ::-1][:, :2]) == pytest.approx(np.eye(2), abs=1e-10)
    np.testing.assert_allclose(found.leverage, (found.components**2).sum(axis=0))
    off = np.setdiff1d(np.arange(40), sol.support)
    assert not found.upper[:, off].any() and not found.leverage_upper[off].any()
    assert (found.lower <= found.components).all() and (found.components <= found.upper).all()
    assert found.to_frame().loc[0, "leverage"] == found.leverage[0]


@pytest.mark.slow
def test_intervals_hold_the_truth_about_as_often_as_they_say():
    inside = []
    for seed in range(12):
        sim = fantope.simulate(200, 40, sizes=(8, 6), random_state=seed)
        leverage = sim.projection.diagonal()
        found = refit(sim.Z, range(14), 2, n_bootstrap=100, random_state=seed)
        inside.append(((found.leverage_lower <= leverage) & (leverage <= found.leverage_upper))[:14].mean())
    assert 0.8 < np.mean(inside) <= 1.0


def test_more_samples_and_a_lower_level_give_narrower_intervals():
    many = fantope.simulate(2000, 40, sizes=(8, 6)).Z
    wide, narrow = (refit(Z, range(14), 2, n_bootstrap=60) for Z in (SIM.Z, many))
    assert (narrow.upper - narrow.lower).mean() < 0.5 * (wide.upper - wide.lower).mean()
    half = refit(SIM.Z, range(14), 2, n_bootstrap=60, level=0.5)
    assert (half.upper - half.lower).mean() < (wide.upper - wide.lower).mean()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"support": [0, 40]}, "support must be variables from 0 to 39, got 0 to 40"),
        ({"support": []}, "support must be a solution or variables"),
        ({"support": [0.5]}, "support must be a solution or variables"),
        ({"n_components": 3}, "n_components"),
        ({"level": 1.0}, "level must be between 0 and 1"),
        ({"n_bootstrap": 1}, "n_bootstrap must be at least 10"),
        ({"kind": "ranks"}, "kind must be"),
    ],
)
def test_sentences(change, message):
    arguments = {"support": [0, 1], "n_components": 1} | change
    with pytest.raises(ValueError, match=message):
        refit(SIM.Z, **arguments)
