"""Figures of the paper's experiments, from plain curves: error against time, regret, bounds, recovery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from fantope.plotting.style import BLUE, GREEN, GREY, PURPLE, VERMILION, axes_or_new, figure_or_new, journal_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

__all__ = [
    "plot_bound",
    "plot_error_over_time",
    "plot_gaps",
    "plot_online_errors",
    "plot_penalty_constant",
    "plot_recovery",
    "plot_regret",
]

# Methods by colour.
COLOURS = {
    BLUE: ("GradFPS", "Online-P", "gradfps", "fantope"),
    VERMILION: ("ADMM-FPS", "FTL", "admm", "SparsePCA"),
    GREEN: ("auto", "Online-T"),
    PURPLE: ("subgradient", "abess"),
    GREY: ("projected-subgradient", "PCA"),
    "#56B4E9": ("fantope, best λ", "GradFPS, μ → ∞"),
    "#E69F00": ("MiniBatchSparsePCA",),
}


def method_colour(name: str, k: int = 0) -> str:
    """Return the colour of a method, the same in all figures; for another one that of its place."""
    return next((colour for colour, names in COLOURS.items() if name in names), list(COLOURS)[k % 5])


def _decades_only(ax: Axes) -> None:
    """Label powers of ten alone: between them labels of a short axis run into each other."""
    from matplotlib.ticker import NullFormatter

    ax.xaxis.set_minor_formatter(NullFormatter())


def _legend_below(ax: Axes, columns: int) -> None:
    """Make both axes logarithmic, room below the curves, and put the legend there."""
    ax.set(xscale="log", yscale="log")
    _decades_only(ax)
    low, high = ax.get_ylim()
    ax.set_ylim(low / (high / low) ** 0.25, high)
    ax.legend(fontsize=7, loc="lower left", ncols=columns)


def plot_error_over_time(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]], *, optimum: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the estimation error of several methods against time, on a logarithmic axis from the first iteration on.

    Parameters
    ----------
    curves : mapping of str to (seconds, errors)
        A time of 0 is the common start; it is drawn at the left edge.
    optimum : float, optional
        The error of the optimum, as a dashed line. A curve below it is not better, only not yet converged.
    ax : Axes, optional
    """
    with journal_style():
        ax = axes_or_new(ax, 4.0, 3.0)
        arrays = {name: (np.asarray(t, float), np.asarray(e, float)) for name, (t, e) in curves.items()}
        left = 0.7 * min(float(t[t > 0.0].min()) for t, _ in arrays.values() if (t > 0.0).any())
        for k, (name, (t, e)) in enumerate(arrays.items()):
            marker = "o" if len(t) < 12 else ""
            ax.plot(np.maximum(t, left), e, color=method_colour(name, k), lw=1.3, marker=marker, ms=3, label=name)
        if optimum is not None:
            ax.axhline(optimum, color=GREY, lw=0.9, ls="--", label="certified optimum")
        ax.set_xscale("log")
        _decades_only(ax)
        ax.set(xlabel="time (s)", ylabel=r"estimation error $\|\hat X - \Pi\|_F$")
        ax.legend(fontsize=7)
    return ax


def _two_panels(fig: FigureBase | None, **options: Any) -> tuple[FigureBase, Axes, Axes]:
    figure = figure_or_new(fig, 7.6, 3.1)
    left, right = figure.subplots(1, 2, **options)
    left.set_title("(a)", loc="left")
    right.set_title("(b)", loc="left")
    return figure, left, right


def plot_regret(curves: Mapping[str, ArrayLike], *, fig: FigureBase | None = None) -> FigureBase:
    """Draw cumulative and average regret: thin lines for repetitions, thick ones for their mean.

    Parameters
    ----------
    curves : mapping of str to (repetitions, T) array
        Cumulative regret after each sample.
    fig : Figure or SubFigure, optional
    """
    with journal_style():
        figure, left, right = _two_panels(fig)
        for k, (name, values) in enumerate(curves.items()):
            each = np.atleast_2d(np.asarray(values, float))
            t = np.arange(1, each.shape[1] + 1)
            for ax, scaled in ((left, each), (right, each / t)):
                ax.plot(t, scaled.T, color=method_colour(name, k), lw=0.6, alpha=0.35)
                ax.plot(t, scaled.mean(axis=0), color=method_colour(name, k), lw=2.0, label=name)
        left.set(xlabel="samples $t$", ylabel="cumulative regret")
        right.set(xlabel="samples $t$", ylabel="average regret")
        left.legend()
    return figure


def plot_online_errors(
    curves: Mapping[str, Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]]], *, fig: FigureBase | None = None
) -> FigureBase:
    """Draw the error of online algorithms against samples and against time, one line for each repetition.

    Parameters
    ----------
    curves : mapping of str to sequences of (samples, seconds, errors)
    fig : Figure or SubFigure, optional
    """
    with journal_style():
        figure, left, right = _two_panels(fig, sharey=True)
        for k, (name, repetitions) in enumerate(curves.items()):
            for j, (samples, seconds, errors) in enumerate(repetitions):
                style: dict[str, Any] = {"color": method_colour(name, k), "lw": 0.9, "alpha": 0.8}
                left.plot(np.asarray(samples), np.asarray(errors), label=None if j else name, **style)
                right.plot(np.asarray(seconds), np.asarray(errors), **style)
        right.set_xscale("log")
        left.set(xlabel="samples $t$", ylabel=r"estimation error $\|X - \Pi\|_F$")
        right.set(xlabel="time (s)")
        left.legend()
    return figure


def plot_bound(
    x: ArrayLike,
    measured: Mapping[str, ArrayLike],
    bound: ArrayLike,
    *,
    rate: float | None = None,
    xlabel: str = "iterations",
    ylabel: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw measured quantities below their bound, both axes logarithmic.

    Parameters
    ----------
    x : (k,) array
    measured : mapping of str to (k,) array
        Values that are not positive, or only by rounding, have no place on the axis and are left out.
    bound : (k,) array
    rate : float, optional
        Exponent of a guide line through the last point of the first measured curve, −0.5 for 1/√T.
    ax : Axes, optional
    """
    xs = np.asarray(x, float)
    with journal_style():
        ax = axes_or_new(ax, 3.8, 3.0)
        ax.plot(xs, np.asarray(bound, float), color="black", lw=1.3, ls="--", label="bound")
        for k, (name, values) in enumerate(measured.items()):
            y = np.array([np.nan if v is None else v for v in np.asarray(values, object)], float)
            y[~(y > 1e-12)] = np.nan  # rounding would stretch the axis over many decades
            ax.plot(xs, y, color=(BLUE, VERMILION, GREEN)[k % 3], lw=1.4, label=name)
            known = np.flatnonzero(np.isfinite(y))
            if rate is not None and k == 0 and known.size:
                last = known[-1]
                exponent = {-0.5: r"$T^{-1/2}$", -1.0: r"$T^{-1}$"}.get(rate, f"$T^{{{rate:g}}}$")
                ax.plot(xs, 2.0 * y[last] * (xs / xs[last]) ** rate, color=GREY, lw=0.8, ls=":", label=exponent)
        ax.set(xlabel=xlabel, ylabel=ylabel)
        _legend_below(ax, 2)
    return ax


def plot_penalty_constant(
    factors: ArrayLike, infeasible: ArrayLike, distance: ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """Draw what becomes of the minimiser of the penalised objective as its constant shrinks.

    Parameters
    ----------
    factors : (k,) array
        μ as a multiple of the paper's.
    infeasible, distance : (k,) array
        Distances of the minimiser from the Fantope and from the optimum.
    ax : Axes, optional
    """
    with journal_style():
        ax = axes_or_new(ax, 4.0, 3.0)
        for values, label, colour, marker in (
            (infeasible, "from the Fantope", BLUE, "o"),
            (distance, "from the optimum", VERMILION, "s"),
        ):
            y = np.maximum(np.asarray(values, float), 1e-16)
            ax.plot(np.asarray(factors, float), y, color=colour, marker=marker, ms=3, lw=1.2, label=label)
        ax.set(xscale="log", yscale="log", xlabel="penalty constant / the paper's $\\mu$")
        ax.set(ylabel="distance of the minimiser")
        ax.legend()
    return ax


def plot_gaps(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]], *, tol: float | None = None, ax: Axes | None = None
) -> Axes:
    """Draw the certified gap of several solvers against time.

    Parameters
    ----------
    curves : mapping of str to (seconds, gaps)
    tol : float, optional
        The gap that was asked for, as a dashed line.
    ax : Axes, optional
    """
    with journal_style():
        ax = axes_or_new(ax, 4.2, 3.2)
        for k, (name, (t, gap)) in enumerate(curves.items()):
            seconds, gaps = np.asarray(t, float), np.asarray(gap, float)
            known = np.isfinite(gaps) & (gaps > 0.0) & (seconds > 0.0)
            marker = "o" if known.sum() < 12 else ""
            ax.plot(seconds[known], gaps[known], color=method_colour(name, k), lw=1.3, marker=marker, ms=3, label=name)
        if tol is not None:
            ax.axhline(tol, color=GREY, lw=0.9, ls="--", zorder=0)
        ax.set(xlabel="time (s)", ylabel="certified relative gap")
        _legend_below(ax, 3)
    return ax


def plot_recovery(
    cases: Sequence[str], scores: Mapping[str, Mapping[str, ArrayLike]], *, fig: FigureBase | None = None
) -> FigureBase:
    """Draw one panel for each measure, one mark for each method, over the cases of a grid.

    Parameters
    ----------
    cases : sequence of str
        What varies, in the order of the values.
    scores : mapping of measure to mapping of method to values
        NaN where a method was not run. A measure whose name has "time" in it gets a logarithmic axis.
    fig : Figure or SubFigure, optional
    """
    with journal_style():
        columns = 2 if len(cases) > 4 else min(len(scores), 3)
        rows = -(-len(scores) // columns)
        figure = figure_or_new(fig, 9.6, 2.4 * rows + 0.5)
        panels = np.atleast_1d(figure.subplots(rows, columns, sharex=True)).ravel()
        for extra in panels[len(scores) :]:
            extra.set_axis_off()
        places = np.arange(len(cases))
        for panel, (measure, methods) in zip(panels, scores.items(), strict=False):
            for k, (name, values) in enumerate(methods.items()):
                # Side by side within a case: equal values would hide one another.
                beside = places + 0.7 * ((k + 0.5) / len(methods) - 0.5)
                style: dict[str, Any] = {"ls": "", "marker": "osD^vP"[k % 6], "ms": 4, "color": method_colour(name, k)}
                panel.plot(beside, np.asarray(values, float), label=name, **style)
            for edge in places[1:] - 0.5:
                panel.axvline(edge, color=GREY, lw=0.4, alpha=0.5)
            panel.set_xticks(places, cases, fontsize=6.5)
            panel.set_xlim(-0.5, len(cases) - 0.5)
            if "time" in measure:
                panel.set_yscale("log")
            panel.set_title(measure, loc="left")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), 6), fontsize=7.5)
    return figure
