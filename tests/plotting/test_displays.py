"""Displays keep what they draw, draw where they are told to, and know the names of the variables."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import fantope
from fantope import plotting

SIM = fantope.simulate(80, 24, sizes=(5, 4), random_state=0)
FRAME = pd.DataFrame(SIM.Z, columns=[f"gene{j}" for j in range(24)])


@pytest.fixture(scope="module")
def pca():
    return fantope.SparsePCA(2, alpha=0.8).fit(FRAME)


@pytest.fixture(scope="module")
def solution():
    return fantope.solve(fantope.covariance(FRAME), 2, 0.8, solver="admm")


@pytest.fixture(scope="module")
def chosen():
    return fantope.SparsePCACV(2, alphas=[2.0, 1.0, 0.5], cv=3).fit(FRAME)


def displays(pca, solution, chosen):
    path = fantope.solve_path(fantope.covariance(FRAME), 2, [2.0, 1.0])
    yield plotting.ScreeDisplay.from_estimator(pca, FRAME, n_permutations=5)
    yield plotting.LoadingsDisplay.from_estimator(pca)
    yield plotting.LoadingsDisplay.from_solution(solution)
    yield plotting.BiplotDisplay.from_estimator(pca, FRAME, groups=["a", "b"] * 40)
    yield plotting.BiplotDisplay.from_solution(solution, FRAME)
    yield plotting.LeverageDisplay.from_path(path)
    yield plotting.ConvergenceDisplay.from_estimator(pca)
    yield plotting.ConvergenceDisplay.from_solution(solution, tol=1e-4)
    yield plotting.StabilityDisplay.from_estimator(pca, FRAME, n_subsamples=4)
    yield plotting.CardinalityDisplay.from_covariance(fantope.covariance(FRAME), [2, 4])
    yield plotting.CrossValidationDisplay.from_estimator(chosen)


@pytest.mark.slow
def test_every_display_draws_again_elsewhere(pca, solution, chosen):
    made = set()
    for display in displays(pca, solution, chosen):
        first = display.ax_
        assert display.figure_ is first.figure
        first.figure.draw_without_rendering()
        ax = Figure().add_subplot()
        assert display.plot(ax=ax) is display and display.ax_ is ax and ax.get_xlabel() == first.get_xlabel()
        made.add(type(display).__name__)
    assert made == {name for name in plotting.__all__ if name.endswith("Display")}


@pytest.mark.slow
def test_names_come_from_the_data(pca, solution):
    for display in (plotting.LoadingsDisplay.from_estimator(pca), plotting.LoadingsDisplay.from_solution(solution)):
        assert {label.get_text() for label in display.ax_.get_yticklabels()} == {f"gene{j}" for j in pca.support_}
    arrows = plotting.BiplotDisplay.from_solution(solution, FRAME, names=[f"v{j}" for j in range(24)]).ax_.texts
    assert {text.get_text() for text in arrows if text.get_text()} <= {f"v{j}" for j in range(24)}


def test_heat_map_rows_follow_their_component():
    ax = plotting.plot_loadings_heatmap([[0, 0.6, 0.8, 0], [1, 0, 0, 0]], n_shown=2)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["2", "0"]
    assert ax.get_title(loc="left") == "2 of 3 variables"


def test_biplot_needs_two_components():
    with pytest.raises(ValueError, match="components 0 and 1 must be among them"):
        plotting.plot_biplot(np.zeros((5, 1)), np.ones((1, 3)))
    with pytest.raises(ValueError, match="one name for each of the 3 variables"):
        plotting.plot_biplot(np.zeros((5, 2)), np.ones((2, 3)), ["a"])


def test_scree_counts_what_exceeds_permuted_data():
    analysis = fantope.selection.parallel_analysis(SIM.Z, n_permutations=7, max_components=6)
    assert analysis.permuted.shape == (7, 6)
    ax = plotting.plot_scree(analysis)
    assert len(ax.lines[1].get_xdata()) == analysis.n_components == 2


def test_cross_validation_marks_the_choice(chosen):
    ax = plotting.plot_cross_validation(chosen.cross_validation_)
    assert ax.lines[1].get_xdata()[0] == chosen.alpha_
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), chosen.cv_results_["mean_test_score"])


def test_stability_colours_what_was_selected():
    found = fantope.selection.Stability(np.array([0.2, 1.0, 0.0, 0.8]), np.array([1, 3]), 0.75, 2.0, 2.0, 4)
    ax = plotting.plot_stability(found, ["a", "b", "c", "d"])
    assert [bar.get_height() for bar in ax.patches] == [1.0, 0.8, 0.2]
    assert ax.patches[1].get_facecolor() == ax.patches[0].get_facecolor() != ax.patches[2].get_facecolor()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["b", "d", "a"]
