"""The regularisation path, and the loadings of variables that have names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fantope.errors import require
from fantope.plotting.style import (
    BLUE,
    GREY,
    GROUP_COLOURS,
    VERMILION,
    axes_or_new,
    draw_tolerance,
    figure_or_new,
    journal_style,
    short_name,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

__all__ = ["plot_explained_variance", "plot_leverages", "plot_path_gaps", "plot_top_loadings"]


def plot_leverages(
    alphas: ArrayLike,
    leverages: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    n_named: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Draw the leverages diag X of the variables against the penalty, which falls to the right.

    Parameters
    ----------
    alphas : (k,) array
    leverages : (k, v) array
        One row for each penalty and one column for each variable, as ``Path.leverages()[1]``.
    names : sequence of str, optional
        Names of the v variables; those with the largest leverage anywhere on the path are written into the figure.
    n_named : int, default 8
    ax : Axes, optional
        Where to draw; a new figure if absent.
    """
    penalties, curves = np.asarray(alphas, dtype=float), np.asarray(leverages, dtype=float)
    if curves.ndim != 2 or len(curves) != len(penalties):
        raise ValueError(
            f"leverages must have one row for each of the {len(penalties)} alphas, got shape {curves.shape}; pass "
            "path.leverages()[1]."
        )
    order = np.argsort(-penalties)
    penalties, curves = penalties[order], curves[order]
    with journal_style():
        ax = axes_or_new(ax, 5.2, 3.4)
        top = np.argsort(-curves.max(axis=0), kind="stable")[: n_named if names is not None else 0]
        rest = np.setdiff1d(np.arange(curves.shape[1]), top)
        # A variable enters where its curve leaves zero; single points need marks to be seen.
        mark = "o" if len(penalties) == 1 else None
        if len(rest):
            ax.plot(penalties, curves[:, rest], color=GREY, lw=0.7, alpha=0.6, marker=mark, ms=3)
        for k, j in enumerate(top):
            assert names is not None
            style = ("-", "--")[k // len(GROUP_COLOURS) % 2]
            colour = GROUP_COLOURS[k % len(GROUP_COLOURS)]
            ax.plot(
                penalties, curves[:, j], color=colour, ls=style, lw=1.3, label=short_name(names[j]), marker=mark, ms=3
            )
        if len(top):
            ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), title="largest leverage")
        if len(penalties) > 1:
            ax.set_xlim(penalties[0], penalties[-1])
        ax.set_ylim(0, None)
        ax.set(xlabel="penalty alpha", ylabel="leverage of a variable, $X_{ii}$")
        ax.set_title(f"{curves.shape[1]} variables enter", loc="left")
    return ax


def plot_explained_variance(
    n_variables: ArrayLike, explained_variance: ArrayLike, alphas: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw the variance that the components explain together against the number of variables in use.

    Parameters
    ----------
    n_variables, explained_variance : (k,) array
        As ``Path.n_active`` and ``Path.explained_variance``.
    alphas : (k,) array, optional
        Penalties, written beside some of the points.
    ax : Axes, optional
        Where to draw; a new figure if absent.
    """
    x, y = np.asarray(n_variables, dtype=float), np.asarray(explained_variance, dtype=float)
    with journal_style():
        ax = axes_or_new(ax, 4.4, 3.2)
        ax.plot(x, y, color=BLUE, lw=1.2, marker="o", ms=3)
        if alphas is not None:
            penalties = np.asarray(alphas, dtype=float)
            for k in np.unique(np.linspace(0, len(x) - 1, min(len(x), 6)).astype(int)):
                ax.annotate(
                    f"{penalties[k]:.3g}", (x[k], y[k]), xytext=(4, -9), textcoords="offset points", fontsize=7,
                    color=GREY,
                )  # fmt: skip
        ax.margins(x=0.1)
        ax.set(xlabel="variables in use", ylabel="explained variance")
        if alphas is not None:
            ax.set_title("beside the points: alpha", loc="left")
    return ax


def plot_path_gaps(alphas: ArrayLike, gaps: ArrayLike, *, tol: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the certified relative gap of each solution on a path, on a log scale.

    Parameters
    ----------
    alphas, gaps : (k,) array
    tol : float, optional
        The gap that was asked for, drawn as a dashed line.
    ax : Axes, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Axes
        A gap of exactly zero, as a diagonal S gives, has no place on it.
    """
    x, y = np.asarray(alphas, dtype=float), np.asarray(gaps, dtype=float)
    shown = np.isfinite(y) & (y > 0)
    with journal_style():
        ax = axes_or_new(ax, 4.4, 3.0)
        over = shown & (y > tol) if tol is not None else np.zeros_like(shown)
        ax.plot(x[shown & ~over], y[shown & ~over], color=BLUE, ls="", marker="o", ms=3.5)
        if over.any():
            ax.plot(x[over], y[over], color=VERMILION, ls="", marker="s", ms=4, label="above what was asked for")
        draw_tolerance(ax, tol, "best")
        if len(x) > 1:
            ax.invert_xaxis()
        ax.set(xlabel="penalty alpha", ylabel="certified relative gap")
    return ax


def plot_top_loadings(
    components: ArrayLike, names: Sequence[str], *, n_shown: int = 20, fig: FigureBase | None = None
) -> FigureBase:
    """Draw the largest loadings of each component as bars with the variables' names.

    Parameters
    ----------
    components : (d, p) array
    names : sequence of str
        Of the p variables.
    n_shown : int, default 20
        Most bars for one component; the title says how many variables it has.
    fig : Figure or SubFigure, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Figure or SubFigure
        One panel for each component.
    """
    matrix = np.atleast_2d(np.asarray(components, dtype=float))
    d, p = matrix.shape
    require(len(names) == p, "names", f"hold one name for each of the {p} variables", str(len(names)))
    chosen = [_largest(row, n_shown) for row in matrix]
    across = min(d, 5)
    down = -(-d // across)
    tallest = max((len(columns) for columns in chosen), default=1)
    with journal_style():
        figure = figure_or_new(fig, 2.3 * across + 0.4, down * (0.16 * max(tallest, 4) + 0.9))
        panels = figure.subplots(down, across, squeeze=False)
        for k, panel in enumerate(panels.flat):
            if k >= d:
                panel.set_visible(False)
                continue
            values = matrix[k, chosen[k]]
            at = np.arange(len(values))
            panel.barh(at, values, color=np.where(values < 0, VERMILION, BLUE), height=0.7)
            panel.axvline(0, color=GREY, lw=0.6)
            panel.set_yticks(at, [short_name(names[j]) for j in chosen[k]], fontsize=7)
            panel.invert_yaxis()
            used = int(np.count_nonzero(matrix[k]))
            shown = f"{len(values)} of {used}" if len(values) < used else f"{used}"
            panel.set_title(f"component {k + 1}: {shown} variables", loc="left")
            panel.set_xlabel("loading")
    return figure


def _largest(row: np.ndarray[tuple[int], np.dtype[np.float64]], count: int) -> list[int]:
    """Return the non-zero entries of largest magnitude, in descending order."""
    order = np.argsort(-np.abs(row), kind="stable")[:count]
    return [int(j) for j in order if row[j] != 0.0]
