"""Figures of a co-expression analysis show what the tables say."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import trapezoid

from coexpression_example import equal_groups, one_group, two_groups
from fantope.coexpression.view import by_specificity, densities
from fantope.plotting import plot_comparison, plot_modules, plot_selection, plot_volcano


def matrices(figure):
    return [np.asarray(image.get_array()) for axes in figure.axes for image in axes.images]


@pytest.mark.slow
def test_modules_are_drawn_in_their_order_beside_the_loadings():
    group = two_groups().groups["case"]
    correlations, loadings = matrices(plot_modules(two_groups(), "case"))[:2]
    m = len(group.genes)
    assert correlations.shape == (m, m) and loadings.shape == (m, 3)
    np.testing.assert_allclose(np.diag(correlations), 1.0)
    start = 0
    for size, mean in zip(group.modules["n_genes"], group.modules["mean_correlation"], strict=True):
        block = correlations[start : start + size, start : start + size]
        assert block[np.triu_indices(size, 1)].mean() == pytest.approx(mean)
        start += size
    np.testing.assert_allclose(np.abs(loadings).max(axis=0), 1.0)


@pytest.mark.slow
def test_the_selection_marks_the_choice_and_the_limits():
    result = two_groups()
    figure = plot_selection(result)
    top, bottom = figure.axes
    assert f"{result.alpha:g}" in top.get_title(loc="left")
    x, y = top.lines[0].get_data()
    table = result.selection.sort_values("alpha")
    np.testing.assert_allclose(x, table["alpha"])
    np.testing.assert_allclose(y, table["overlap"])
    assert [text.get_text() for text in bottom.get_legend().get_texts()] == ["control", "case"]
    assert len(plot_selection(one_group()).axes) == 1


@pytest.mark.slow
def test_the_comparison_shows_both_groups_on_the_same_genes():
    result = two_groups()
    figure = plot_comparison(result, "control", "case")
    first, second = matrices(figure)[:2]
    genes = by_specificity(result, "control", "case")["gene"]
    assert first.shape == second.shape == (len(genes), len(genes))
    off = np.triu_indices(len(genes), 1)
    assert second[off].mean() > 0.7 > first[off].mean()
    # A density integrates to one, apart from what lies outside [−1, 1].
    for line in figure.axes[2].lines:
        assert 0.9 < trapezoid(line.get_ydata(), line.get_xdata()) < 1.01


@pytest.mark.slow
def test_without_specific_genes_all_are_compared():
    result = equal_groups()
    left, right = (set(group.genes["gene"]) for group in result.groups.values())
    assert len(left ^ right) < 2
    names = list(result.groups)
    assert set(by_specificity(result, *names)["gene"]) == left | right
    assert plot_comparison(result, *names).axes


def test_the_volcano_fills_what_was_found_and_names_it():
    pair = two_groups().differential[0]
    fdr = np.where(pair.genes["change"] >= pair.genes["change"].quantile(0.7), 0.01, 0.9)
    pair = replace(pair, genes=pair.genes.assign(fdr=fdr))
    ax = plot_volcano(pair, n_named=3)
    hollow, filled = ax.lines[:2]
    found = pair.genes["fdr"] <= 0.05
    assert len(filled.get_xdata()) == found.sum() and len(hollow.get_xdata()) == (~found).sum()
    np.testing.assert_allclose(filled.get_ydata(), -np.log10(pair.genes["p"][found]))
    assert 1 <= len(ax.texts) <= 3
    assert {text.get_text() for text in ax.texts} <= set(pair.genes["gene"][found])
    assert not plot_volcano(equal_groups().differential[0]).texts


def test_correlations_that_do_not_vary_have_no_density():
    _, curves = densities([pd.DataFrame(np.eye(5)), pd.DataFrame(np.eye(1))])
    assert all((curve == 0).all() for curve in curves)
