import numpy as np
import pytest

import fantope
from fantope.selection import cross_validate, parallel_analysis, stability_selection
from fantope.selection.cross_validation import choose


def test_rules_of_cross_validation():
    scores = np.array([[0.50, 0.50], [0.59, 0.61], [0.60, 0.64]])  # the best has a standard error of 0.02
    assert choose(scores, "best") == 2
    assert choose(scores, "1se") == 1
    scores[2] += 0.02
    assert choose(scores, "1se") == 2
    with pytest.raises(ValueError, match="rule must be '1se' or 'best', got '2se'"):
        choose(scores, "2se")


def test_one_fold_has_no_error():
    S = np.eye(4)
    with pytest.raises(ValueError, match="at least two folds, got 1"):
        cross_validate([(S, lambda V: 1.0)], 1, [0.1])


@pytest.mark.slow
def test_stable_variables_carry_the_signal():
    sim = fantope.simulate(150, 50, sizes=(8, 6))
    found = stability_selection(sim.Z, 2, 0.5, n_subsamples=15)
    assert len(found.selected) >= 6 and found.selected.max() < 14
    assert found.frequency.sum() == pytest.approx(found.mean_size)
    assert found.error_bound == pytest.approx(found.mean_size**2 / (0.5 * 50))
    again = stability_selection(sim.Z, 2, 0.5, n_subsamples=15)
    np.testing.assert_array_equal(found.frequency, again.frequency)


@pytest.mark.slow
def test_noise_is_rarely_stable():
    """Meinshausen and Bühlmann's bound, on data where it applies: all variables are exchangeable noise."""
    counts = []
    for seed in range(3):
        X = np.random.default_rng(seed).standard_normal((60, 30))
        found = stability_selection(X, 1, 0.25, kind="correlation", n_subsamples=10, threshold=0.9, random_state=seed)
        counts.append((len(found.selected), found.error_bound))
    selected, bounds = np.array(counts).mean(axis=0)
    assert selected <= bounds


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"threshold": 0.5}, "threshold must be above 0.5"),
        ({"n_subsamples": 1}, "n_subsamples must be at least 2"),
        ({"X": np.zeros((3, 5))}, "at least 4 rows"),
    ],
)
def test_stability_sentences(change, match):
    X = change.pop("X", np.random.default_rng(0).standard_normal((10, 5)))
    with pytest.raises(ValueError, match=match):
        stability_selection(X, 1, 0.1, **change)


@pytest.mark.parametrize("shape", [(200, 40), (40, 200)])
def test_number_of_components(shape):
    rng = np.random.default_rng(5)
    X = rng.standard_normal(shape) * rng.uniform(0.5, 2.0, shape[1])
    assert parallel_analysis(X, kind="correlation").n_components == 0
    for k in range(3):
        X[:, 6 * k : 6 * k + 6] += 3 * rng.standard_normal((shape[0], 1)) * X.std(axis=0)[6 * k : 6 * k + 6]
    found = parallel_analysis(X, kind="correlation")
    assert found.n_components == 3
    R = np.corrcoef(X, rowvar=False)
    np.testing.assert_allclose(found.eigenvalues, np.linalg.eigvalsh(R)[::-1][:20], atol=1e-9)


def test_parallel_analysis_sentences():
    X = np.random.default_rng(0).standard_normal((10, 5))
    with pytest.raises(ValueError, match="kind must be"):
        parallel_analysis(X, kind="precision")
    with pytest.raises(ValueError, match="quantile must be between 0 and 1"):
        parallel_analysis(X, quantile=95)
    with pytest.raises(ValueError, match="at least 2 rows"):
        parallel_analysis(X[0])
