"""Ctrl-C at any moment of an analysis is raised; the store then holds what an undisturbed run puts there."""

import numpy as np
import pandas as pd
import pytest

from fantope.coexpression import analyse
from fantope.coexpression.analysis.permutation import PermutationTest
from fantope.solvers import Solution
from interrupting import interrupted, moments

pytestmark = pytest.mark.slow

OPTIONS = {"n_components": 2, "alphas": [0.7, 0.6], "min_genes": 5, "max_genes": 30, "permutations": 8}


def expression():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 40))
    X[:, :10] += 2.5 * rng.standard_normal((60, 1))
    X[:30, 10:18] += 2.5 * rng.standard_normal((30, 1))
    index = [f"s{i}" for i in range(60)]
    table = pd.DataFrame(X, index=index, columns=[f"g{j}" for j in range(40)])
    return table, pd.Series(np.repeat(["case", "control"], 30), index=index)


class Kept(dict):
    """A store that keeps everything."""

    put = dict.__setitem__


def assert_same(found, expected):
    if isinstance(expected, Solution):
        assert (found.status, found.objective, found.dual_bound) == (
            expected.status, expected.objective, expected.dual_bound,
        )  # fmt: skip
        np.testing.assert_array_equal(found.factors.vectors, expected.factors.vectors)
    else:
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_an_analysis():
    table, groups = expression()
    whole = Kept()
    expected = analyse(table, groups, store=whole, **OPTIONS)
    assert any(key.startswith("permutations") for key in whole)

    def action(store):
        return analyse(table, groups, store=store, **OPTIONS)

    chosen = moments(lambda: action(Kept()), 30)
    for number, at in enumerate(chosen):
        store = Kept()
        assert isinstance(interrupted(lambda store=store: action(store), at), KeyboardInterrupt)
        for key, value in store.items():
            assert_same(value, whole[key])
        if number % 8 == 0:
            again = action(store)
            pd.testing.assert_frame_equal(again.selection, expected.selection)
            pd.testing.assert_frame_equal(again.differential[0].genes, expected.differential[0].genes)
            np.testing.assert_array_equal(again.differential[0].null, expected.differential[0].null)


def test_permutations():
    """An interrupted solve has a smaller eigenvalue than a finished one: it must never count as a null value."""
    table, _ = expression()
    X = table.to_numpy()
    members = (np.arange(40) < 10).astype(float)[:, None]
    test = PermutationTest(X[:30], X[30:], members, "pearson", (0, 1, 0))
    observed, _ = test.observed()

    def action():
        return test.exceedances(observed, 0, 3)

    for at in moments(action, 30):
        assert isinstance(interrupted(action, at), KeyboardInterrupt)
