import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from fantope.coexpression.analysis.differential import _structure_p
from fantope.coexpression.analysis.permutation import LEADING, PermutationTest
from fantope.coexpression.analysis.two_sample import leading_difference, penalty


def groups(n, m, strengths, seed):
    """Two groups of one factor each, with other means and scales in the second."""
    rng = np.random.default_rng(seed)
    first, second = (
        s * rng.standard_normal((n, 1)) + np.sqrt(1 - s**2) * rng.standard_normal((n, m)) for s in strengths
    )
    return first, 5.0 * second + 3.0


def module_p_value(first, second, seed, permutations=99):
    m = first.shape[1]
    test = PermutationTest(first, second, np.ones((m, 1)), "pearson", (seed,))
    observed, _ = test.observed()
    genes, modules, _ = test.exceedances(observed, LEADING, LEADING + permutations)
    return (1 + modules[0]) / (1 + permutations), (1 + genes[0]) / (1 + permutations)


def test_statistics_by_hand():
    first, second = groups(15, 6, (0.8, 0.3), 0)
    members = np.array([[1, 0], [1, 0], [1, 0], [0, 1], [0, 1], [0, 0]], dtype=float)
    observed, D = PermutationTest(first, second, members, "pearson", (0,)).observed()
    R = [np.corrcoef(part, rowvar=False) for part in (first, second)]
    np.testing.assert_allclose(D, R[0] - R[1], atol=1e-12)
    for k in range(2):
        assert observed.modules[0, k] == pytest.approx((R[k][0, 1] + R[k][0, 2] + R[k][1, 2]) / 3)
        assert observed.modules[1, k] == pytest.approx(R[k][3, 4])
        assert observed.genes[0, k] == pytest.approx((R[k][0, 1] + R[k][0, 2]) / 2)
        assert observed.genes[5, k] == pytest.approx(R[k][5, :5].mean())  # in no module: all others


@pytest.mark.slow
def test_means_and_scales_do_not_matter():
    first, second = groups(20, 5, (0.7, 0.2), 1)
    assert module_p_value(first, second, 0) == module_p_value(10.0 * first - 4.0, second, 0)


@pytest.mark.slow
def test_p_values_are_uniform_without_a_change():
    found = np.array([module_p_value(*groups(14, 8, (0.8, 0.8), seed), seed) for seed in range(120)])
    assert kstest(found[:, 0], "uniform").pvalue > 0.01
    assert kstest(found[:, 1], "uniform").pvalue > 0.01


@pytest.mark.slow
def test_covariates_cost_degrees_of_freedom_in_permutations_too():
    """Without the designs, about 9 % of these p-values are at most 0.05, and the test fails."""
    found = []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        designs = rng.standard_normal((2, 12, 4))
        parts = []
        for part, design in zip(groups(12, 8, (0.8, 0.8), seed), designs, strict=True):
            X = np.column_stack([np.ones(12), design])
            parts.append(part - X @ np.linalg.lstsq(X, part, rcond=None)[0])
        test = PermutationTest(*parts, np.ones((8, 1)), "pearson", (seed,), tuple(designs))
        observed, _ = test.observed()
        found.append((1 + test.exceedances(observed, LEADING, LEADING + 99)[1][0]) / 100)
    assert kstest(found, "uniform").pvalue > 0.02


@pytest.mark.slow
def test_change_is_found():
    found = [module_p_value(*groups(20, 8, (0.95, 0.2), seed), seed)[0] for seed in range(5)]
    assert max(found) <= 0.02


@pytest.mark.slow
def test_permutations_depend_on_seed_and_number_alone():
    first, second = groups(12, 4, (0.6, 0.6), 2)
    test = PermutationTest(first, second, np.ones((4, 1)), "pearson", (7,))
    observed, _ = test.observed()
    whole = test.exceedances(observed, 0, 6)
    parts = test.exceedances(observed, 0, 2), test.exceedances(observed, 2, 6)
    np.testing.assert_array_equal(whole[0], parts[0][0] + parts[1][0])
    np.testing.assert_array_equal(whole[2], np.concatenate([parts[0][2], parts[1][2]]))


def test_leading_difference_bounds():
    rng = np.random.default_rng(0)
    D = rng.normal(0.0, 0.1, (20, 20))
    D = D + D.T
    np.fill_diagonal(D, 0.0)
    D[:5, :5] -= 0.6 * (1 - np.eye(5))
    found = leading_difference(D, 0.2)
    assert found.sign == -1
    assert set(np.flatnonzero(found.loadings)) == set(range(5))
    # Dropping the penalty raises the value, to the spectral norm at most.
    assert found.value <= np.abs(np.linalg.eigvalsh(D)).max() + 1e-9
    assert leading_difference(np.zeros((4, 4)), 0.2).value == pytest.approx(0.0, abs=1e-6)
    assert leading_difference(-D, 0.2).sign == 1
    assert leading_difference(-D, 0.2).value == pytest.approx(found.value)


def test_penalty_shrinks_with_samples():
    assert penalty(40, 40, 100) == pytest.approx(penalty(10, 10, 100) / 2)
    assert penalty(10, 10, 400) > penalty(10, 10, 100)


@pytest.mark.slow
def test_tables_are_sorted_and_complete():
    from fantope.coexpression import analyse

    rng = np.random.default_rng(3)
    X = rng.standard_normal((120, 60))
    X[:, :12] += 3 * rng.standard_normal((120, 1))
    X[:60, 12:20] += 3 * rng.standard_normal((60, 1))  # a module of the first group alone
    names = pd.Index([f"g{j}" for j in range(60)])
    found = analyse(
        pd.DataFrame(X, columns=names), ["a"] * 60 + ["b"] * 60, n_components=2, alphas=[0.6, 0.5], min_genes=8,
        max_genes=50, permutations=99,
    )  # fmt: skip
    (differential,) = found.differential
    assert differential.genes["p"].is_monotonic_increasing
    top = differential.genes.head(5)
    assert set(top["gene"]) <= set(names[12:20]) and set(top["specific_to"]) == {"a"}
    assert (top["fdr"] < 0.05).all() and (top["change"] < -0.4).all()
    kept = differential.genes[differential.genes["gene"].isin(names[:12])]
    assert len(kept) >= 8 and (kept["fdr"] > 0.05).sum() >= len(kept) - 2
    assert differential.p_value == 0.01 and len(differential.null) == differential.n_permutations == 99
    assert differential.larger_in == "a"
    assert len(set(differential.leading_genes["gene"]) & set(names[12:20])) >= 5
    module = differential.modules.query("group == 'a'").nlargest(1, "mean_first")
    assert module["found_again"].item() > 0.5
    assert differential.n_test == (30, 30)


@pytest.mark.slow
def test_the_two_sample_test_ends_when_its_p_value_is_clear():
    rng = np.random.default_rng(3)
    value = 1.0
    assert _structure_p(np.array([0.5] * 199), value) == 1 / 200
    assert _structure_p(np.array([0.5] * 30 + [2.0] * 20), value) == 20 / 50
    test = PermutationTest(*rng.standard_normal((2, 15, 12)), np.ones((12, 1)), "pearson", (0,))
    observed, _ = test.observed()
    every = test.exceedances(observed, 0, 30)
    value = float(np.median(every[2]))
    some = test.exceedances(observed, 0, 30, (value, 5))
    assert (some[2] >= value).sum() == 5 and some[2][-1] >= value and len(some[2]) < 30
    np.testing.assert_array_equal(some[2], every[2][: len(some[2])])
    np.testing.assert_array_equal(some[0], every[0])
    # As far as chance goes these p-values are uniform, wherever the permutations end.
    found = []
    for _ in range(4000):
        draws = rng.random(201)
        ends = np.flatnonzero(np.cumsum(draws[1:] >= draws[0]) == 20)
        found.append(_structure_p(draws[1 : ends[0] + 2] if len(ends) else draws[1:], draws[0]))
    assert all(abs(np.mean(np.array(found) <= level) - level) < 0.02 for level in (0.05, 0.2, 0.5))
