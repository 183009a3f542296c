import numpy as np
import pytest

from fantope.plotting import (
    plot_explained_variance,
    plot_leverages,
    plot_path_gaps,
    plot_top_loadings,
)

ALPHAS = np.array([0.9, 0.8, 0.7])
LEVERAGES = np.array([[1.0, 0.0, 0.0], [0.6, 0.4, 0.0], [0.3, 0.6, 0.1]])


@pytest.mark.slow
def test_leverages_name_the_variables_that_matter():
    ax = plot_leverages(ALPHAS, LEVERAGES, names=["a", "b$", "c"], n_named=2)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", r"b\$"]
    assert len(ax.lines) == 3
    left, right = ax.get_xlim()
    assert left > right  # the penalty falls to the right
    ax.figure.draw_without_rendering()


def test_leverages_take_any_order_and_single_points():
    ax = plot_leverages(ALPHAS[::-1], LEVERAGES[::-1])
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), ALPHAS)
    assert plot_leverages([0.5], [[1.0, 0.2]]).lines[0].get_marker() == "o"


def test_leverages_need_a_row_for_each_alpha():
    with pytest.raises(ValueError, match="one row for each of the 3 alphas"):
        plot_leverages(ALPHAS, LEVERAGES[:2])


def test_explained_variance_marks_penalties():
    ax = plot_explained_variance([1, 5, 9], [2.0, 3.0, 3.5], ALPHAS)
    assert [text.get_text() for text in ax.texts] == ["0.9", "0.8", "0.7"]
    assert plot_explained_variance([1, 5], [2.0, 3.0], ax=ax) is ax


def test_gaps_above_the_tolerance_stand_out():
    ax = plot_path_gaps(ALPHAS, [1e-4, 2e-3, 0.0], tol=1e-3)
    inside, outside = ax.lines[0], ax.lines[1]
    assert list(inside.get_xdata()) == [0.9] and list(outside.get_xdata()) == [0.8]
    assert ax.get_yscale() == "log"
    assert len(plot_path_gaps([0.5], [1e-5]).lines) == 1


@pytest.mark.slow
def test_top_loadings_show_the_largest_first():
    components = np.zeros((6, 30))
    components[0, :25] = np.linspace(0.1, 0.5, 25)
    components[1, 3] = -1.0
    figure = plot_top_loadings(components, [f"gene number {j} of many" for j in range(30)], n_shown=20)
    first, second = figure.axes[0], figure.axes[1]
    assert first.get_title(loc="left") == "component 1: 20 of 25 variables"
    assert first.get_yticklabels()[0].get_text() == "gene number 24 of…"
    assert second.patches[0].get_width() == -1.0
    figure.draw_without_rendering()


def test_top_loadings_need_names():
    with pytest.raises(ValueError, match="one name for each of the 3 variables"):
        plot_top_loadings(np.eye(3)[:1], ["a"])
