"""Every public figure is drawn where the caller says: `ax` if it has one axes, `fig` if it has several."""

import inspect
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

from coexpression_example import two_groups
from fantope import plotting
from fantope.selection import CrossValidation, ParallelAnalysis, Stability
from fantope.simulation import simulate

NAMES = [name for name in dir(plotting) if name.startswith("plot_")]
LOADINGS = np.array([[0.8, 0.6, 0.0], [0.0, 0.0, 1.0]])
CURVE = np.array([0.5, 0.2, 0.1])
CURVES = {"fantope": (np.arange(1, 4), CURVE)}


def drawn(name):
    """Return what the function draws here; a new function needs a line."""
    match name:
        case "plot_biplot":
            return np.eye(2), LOADINGS
        case "plot_bound":
            return CURVE, {"fantope": CURVE}, CURVE
        case "plot_cardinality":
            return (SimpleNamespace(k=np.arange(3), lower=CURVE, upper=2 * CURVE),)
        case "plot_comparison":
            return two_groups(), "control", "case"
        case "plot_convergence":
            return ([SimpleNamespace(time=t, gap=gap) for t, gap in enumerate(CURVE)],)
        case "plot_cross_validation":
            return (CrossValidation(CURVE, np.ones((3, 2)), np.ones((3, 2), dtype=int), 1, "1se"),)
        case "plot_error_over_time" | "plot_gaps":
            return (CURVES,)
        case "plot_explained_variance" | "plot_path_gaps":
            return CURVE, CURVE
        case "plot_leverages":
            return CURVE, np.eye(3)
        case "plot_loadings":
            return ({"one": LOADINGS, "other": LOADINGS},)
        case "plot_loadings_heatmap":
            return (LOADINGS,)
        case "plot_modules":
            return two_groups(), "case"
        case "plot_online_errors":
            return ({"Online-P": [(CURVE, CURVE, CURVE)]},)
        case "plot_penalty_constant":
            return CURVE, CURVE, CURVE
        case "plot_projection":
            return (np.eye(3),)
        case "plot_recovery":
            return ["one", "other"], {"error": {"PCA": [1, 2]}, "time": {"PCA": [1, 2]}}
        case "plot_regret":
            return ({"Online-P": CURVE},)
        case "plot_scree":
            return (ParallelAnalysis(1, CURVE, CURVE, np.array([CURVE, CURVE])),)
        case "plot_selection":
            return (two_groups(),)
        case "plot_setting":
            return (simulate(1, 12, sizes=(3, 2)),)
        case "plot_stability":
            return (Stability(CURVE, np.array([0]), 0.5, 2.0, 2.0, 4),)
        case "plot_top_loadings":
            return LOADINGS, ["a", "b", "c"]
        case "plot_volcano":
            return (two_groups().differential[0],)
    raise AssertionError(f"{name} has no line here")


def place(name):
    """Return the argument of the function that says where to draw."""
    (found,) = inspect.signature(getattr(plotting, name)).parameters.keys() & {"ax", "fig"}
    return found


@pytest.mark.parametrize("name", NAMES)
def test_it_takes_a_place_by_name_and_needs_none(name):
    argument = inspect.signature(getattr(plotting, name)).parameters[place(name)]
    assert argument.kind is argument.KEYWORD_ONLY and argument.default is None


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_it_is_drawn_there(name):
    function, arguments = getattr(plotting, name), drawn(name)
    figure = Figure(figsize=(16, 5), layout="constrained")
    left, right = figure.subfigures(1, 2)
    whole = Figure()
    for root, within in ((whole, whole), (figure, left)):
        wanted = within.add_subplot() if place(name) == "ax" else within
        assert function(*arguments, **{place(name): wanted}) is wanted
        assert any(axes.has_data() for axes in root.axes)
    assert not right.axes
    figure.draw_without_rendering()
    # On its own it has one axes, apart from a colour bar, or several: that decides what it takes.
    own = function(*arguments)
    own = own.figure if place(name) == "ax" else own
    panels = [axes for axes in own.axes if axes.get_label() != "<colorbar>"]
    assert (len(panels) == 1) == (place(name) == "ax")
