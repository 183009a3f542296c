"""Integrated stability, complementary halves, and the number of components by three criteria."""

import numpy as np
import pytest

import fantope
from fantope.selection import integrated_stability, select_n_components, stability_selection
from fantope.selection.integrated import _bound
from fantope.selection.stability import _pairs_bound

SIM = fantope.simulate(200, 60, sizes=(8, 6))


@pytest.mark.slow
def test_scores_select_the_signal_and_no_noise():
    found = integrated_stability(SIM.Z, 2, n_pairs=10)
    assert found.selected.tolist() == list(range(14))
    assert (found.efp[found.selected] <= 1.0).all() and (np.diff(found.alphas) < 0).all()
    np.testing.assert_allclose(found.mean_size, found.frequency.sum(axis=1))
    positive = found.score > 0
    np.testing.assert_allclose(found.efp[positive] * found.score[positive], found.integral)
    assert np.isinf(found.efp[~positive]).all()
    stricter = integrated_stability(SIM.Z, 2, n_pairs=10, max_false=0.1)
    assert set(stricter.selected) <= set(found.selected)


@pytest.mark.slow
def test_noise_alone_selects_about_as_many_as_allowed():
    counts = []
    for seed in range(4):
        Z = np.random.default_rng(seed).standard_normal((60, 50))
        counts.append(len(integrated_stability(Z, 1, n_pairs=5, n_alphas=8).selected))
    assert np.mean(counts) <= 1.0


@pytest.mark.parametrize("power", [2, 3])
def test_the_bound_is_the_moment_of_independent_pairs(power):
    rng = np.random.default_rng(0)
    q, p, pairs = 12.0, 30, 6
    both = rng.random((200_000, pairs)) < (q / p) ** 2
    assert _bound(q, p, pairs, power) == pytest.approx(p * (both.mean(axis=1) ** power).mean(), rel=0.02)


@pytest.mark.slow
def test_complementary_halves_share_no_sample_and_have_a_smaller_bound():
    found = stability_selection(SIM.Z, 2, 0.6, n_subsamples=20, complementary=True)
    assert found.pairs_bound < found.error_bound and not [i for i in found.selected if i >= 14]
    assert np.isnan(stability_selection(SIM.Z, 2, 0.6, n_subsamples=2).pairs_bound)
    # Both branches meet at 3/4, and theorem 1 takes over where theorem 2 does not apply.
    assert _pairs_bound(10, 100, 0.75, 50) == pytest.approx(_pairs_bound(10, 100, 0.7500001, 50), rel=2e-3)
    assert _pairs_bound(90, 100, 0.75, 50) == pytest.approx(0.9 * 90 / 0.5)


@pytest.mark.slow
def test_three_criteria_for_the_number_of_components():
    found = select_n_components(SIM.Z, max_components=4)
    assert found.agree and found.n_components == 2 and "agree" in found.summary()
    assert found.to_frame().shape == (4, 5) and found.likelihood[0] == 0.0
    noise = select_n_components(np.random.default_rng(0).standard_normal((60, 20)), max_components=3)
    assert noise.parallel == 0 and noise.n_components >= 1


@pytest.mark.slow
def test_an_estimator_asks_for_the_number():
    pca = fantope.SparsePCA("auto").fit(SIM.Z)
    assert pca.n_components_ == 2 == pca.component_number_.n_components
    assert pca.transform(SIM.Z).shape == (200, 2)
    with pytest.raises(ValueError, match="needs data in an array"):
        fantope.SparsePCA("auto", kind="precomputed", alpha=0.1).fit(np.eye(4))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"max_false": 0.0}, "max_false must be a positive number"),
        ({"n_pairs": 1}, "n_pairs must be at least 2"),
        ({"power": 4}, "power must be 2 or 3"),
        ({"alphas": []}, "alphas must hold positive numbers"),
        ({"cutoff": 0.0}, "cutoff must be a positive number"),
    ],
)
def test_sentences(change, message):
    with pytest.raises(ValueError, match=message):
        integrated_stability(SIM.Z, 2, **change)
    with pytest.raises(ValueError, match="n_folds must be at least 2"):
        select_n_components(SIM.Z, n_folds=1)
    with pytest.raises(ValueError, match="must be even"):
        stability_selection(SIM.Z, 2, 0.5, n_subsamples=3, complementary=True)
