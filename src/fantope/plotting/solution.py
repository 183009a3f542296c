"""Loadings, convergence of the certificate, the fitted projection, and the simulation setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fantope.errors import require
from fantope.plotting.style import (
    BLUE,
    GREY,
    GROUP_COLOURS,
    axes_or_new,
    draw_tolerance,
    figure_or_new,
    journal_style,
    side_by_side,
)
from fantope.simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

    from fantope.solvers import Record, Solution

__all__ = ["plot_convergence", "plot_loadings", "plot_projection", "plot_setting"]


def plot_loadings(
    components_by_name: Mapping[str, ArrayLike], *, groups: Sequence[int] = (), fig: FigureBase | None = None
) -> FigureBase:
    """Draw the loadings of several fits, one row for each fit and one column for each component.

    Parameters
    ----------
    components_by_name : mapping of str to (d, p) array
        What to draw, in this order from the top. All need the same shape.
    groups : sequence of int, default ()
        Sizes of leading groups of variables to set off by colour.
    fig : Figure or SubFigure, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Figure or SubFigure
        `fig`, or the new figure. Exact zeros are left blank, so the support can be read off.
    """
    named = isinstance(components_by_name, Mapping)
    got = type(components_by_name).__name__
    require(
        named, "components_by_name", "be a dictionary of names and components", got, "write {'ours': sol.loadings().T}"
    )
    matrices = {name: np.atleast_2d(np.asarray(value, dtype=float)) for name, value in components_by_name.items()}
    shapes = {matrix.shape for matrix in matrices.values()}
    if len(shapes) != 1:
        raise ValueError(
            "components_by_name must hold matrices of one shape (d, p), "
            f"got {sorted(shapes)}; pass the same number of components and variables for each."
        )
    d, p = shapes.pop()
    colours = _variable_colours(groups, p)
    limit = 1.12 * max(float(np.abs(matrix).max()) for matrix in matrices.values()) or 1.0
    with journal_style():
        figure = figure_or_new(fig, 3.2 * d, 1.15 * len(matrices) + 0.5)
        panels = figure.subplots(len(matrices), d, sharex=True, sharey=True, squeeze=False)
        for row, (name, matrix) in zip(panels, matrices.items(), strict=True):
            for k, panel in enumerate(row):
                used = np.flatnonzero(matrix[k])
                panel.axhline(0, color=GREY, lw=0.5)
                panel.vlines(used + 1, 0, matrix[k, used], colors=colours[used], lw=min(2.0, 320 / p))
                panel.set(xlim=(0, p + 1), ylim=(-limit, limit))
                note = {"transform": panel.transAxes, "ha": "right", "va": "top", "fontsize": 7}
                panel.text(0.99, 0.96, f"{used.size} non-zero", **note)
            row[0].set_ylabel(name)
        for k in range(d):
            panels[0, k].set_title(f"component {k + 1}", loc="left")
            panels[-1, k].set_xlabel("variable")
    return figure


def plot_convergence(
    solution: Solution | Iterable[Record], *, ax: Axes | None = None, tol: float | None = None
) -> Axes:
    """Draw the certified relative gap against time, on a log scale.

    Parameters
    ----------
    solution : Solution or iterable of records
        A fit, or its history: each record has `time` in seconds and `gap`.
    ax : Axes, optional
        Where to draw; a new figure if absent.
    tol : float, optional
        The gap that was asked for, drawn as a dashed line.
    """
    records: Any = getattr(solution, "history", solution)
    pairs = np.array([(record.time, record.gap) for record in records], dtype=float).reshape(-1, 2)
    # A gap of exactly zero, or one not known yet, has no place on a log scale.
    pairs = pairs[np.isfinite(pairs).all(axis=1) & (pairs[:, 1] > 0)]
    with journal_style():
        ax = axes_or_new(ax, 4.0, 3.0)
        ax.plot(pairs[:, 0], pairs[:, 1], color=BLUE, lw=1.2, marker="o", ms=2.5)
        draw_tolerance(ax, tol, "upper right")
        ax.set(xlabel="time (s)", ylabel="certified relative gap")
        ax.set_xlim(left=0)
    return ax


def plot_projection(projection: Any, *, variables: ArrayLike | None = None, ax: Axes | None = None) -> Axes:
    """Draw the fitted projection X as a heat map of the variables in use.

    Parameters
    ----------
    projection : (p, p) array or sparse matrix
        The matrix to show.
    variables : array of int, optional
        Indices to show; those with a non-zero diagonal entry if absent.
    ax : Axes, optional
        Where to draw; a new figure if absent.
    """
    used = np.flatnonzero(np.asarray(projection.diagonal())) if variables is None else variables
    shown = np.asarray(used, dtype=np.intp)
    require(shown.size, "variables", "name at least one variable", "none", "pass the indices to show")
    # Cut out before making it dense: the full matrix may be too large.
    rows = projection.tocsr()[shown] if hasattr(projection, "tocsr") else np.asarray(projection)[shown]
    block = rows[:, shown]
    dense: NDArray[np.float64] = block.toarray() if hasattr(block, "toarray") else block
    limit = float(np.abs(dense).max()) or 1.0
    with journal_style():
        ax = axes_or_new(ax, 4.2, 3.6)
        image = ax.imshow(dense, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
        ax.spines[:].set_visible(True)
        ticks = np.unique(np.linspace(0, shown.size - 1, min(shown.size, 6)).astype(int))
        labels = [str(shown[tick]) for tick in ticks]
        ax.set_xticks(ticks, labels)
        ax.set_yticks(ticks, labels)
        ax.set(xlabel="variable", ylabel="variable")
        ax.figure.colorbar(image, ax=ax, shrink=0.8)
    return ax


def _variable_colours(groups: Sequence[int], p: int) -> NDArray[np.str_]:
    if not groups:
        return np.full(p, BLUE)
    colours = np.full(p, GREY)
    bounds = np.concatenate([[0], np.cumsum(groups)])
    for k, (start, stop) in enumerate(pairwise(bounds)):
        colours[start:stop] = GROUP_COLOURS[k % len(GROUP_COLOURS)]
    return colours


def plot_setting(sim: Simulation, *, n_vectors: int = 5, fig: FigureBase | None = None) -> FigureBase:
    """Draw the true covariance Σ beside the eigenvectors of its largest eigenvalues.

    Parameters
    ----------
    sim : Simulation
        The model to show; about a hundred variables read best.
    n_vectors : int, default 5
        Number of eigenvectors to draw.
    fig : Figure or SubFigure, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Figure or SubFigure
        Heat map on the left, one small panel for each eigenvector on the right.
    """
    p = sim.eigenvectors.shape[0]
    require(1 <= n_vectors <= p, "n_vectors", f"lie between 1 and p = {p}", str(n_vectors), "pass for example 5")
    with journal_style():
        figure = figure_or_new(fig, 8.4, 3.9)
        left, right = side_by_side(figure, 0.46)

        ax = left.add_subplot()
        # The diagonal is several times the rest; the scale follows the entries off it, or they would vanish.
        limit = float(np.abs(sim.Sigma - np.diag(np.diagonal(sim.Sigma))).max()) or 1.0
        image = ax.imshow(sim.Sigma, cmap="RdBu_r", vmin=-limit, vmax=limit, extent=(0.5, p + 0.5, p + 0.5, 0.5))
        ax.spines[:].set_visible(True)
        ax.set(xlabel="variable", ylabel="variable")
        ax.set_title(f"(a) true covariance Σ, p = {p}", loc="left")
        left.colorbar(image, ax=ax, shrink=0.58, extend="max", label="covariance")

        order = np.argsort(-sim.eigenvalues, kind="stable")[:n_vectors]
        panels = np.atleast_1d(right.subplots(n_vectors, 1, sharex=True, sharey=True))
        bounds = np.concatenate([[0], np.cumsum(sim.sizes)])
        height = 1.15 * float(np.abs(sim.eigenvectors[:, order]).max())
        for rank, (panel, column) in enumerate(zip(panels, order, strict=True), start=1):
            for k, (start, stop) in enumerate(pairwise(bounds)):
                panel.axvspan(start + 0.5, stop + 0.5, color=GROUP_COLOURS[k % len(GROUP_COLOURS)], alpha=0.13, lw=0)
            panel.axhline(0, color=GREY, lw=0.5)
            panel.plot(np.arange(1, p + 1), sim.eigenvectors[:, column], color="black", lw=0.9)
            panel.set(ylim=(-height, 1.6 * height), xlim=(0.5, p + 0.5))
            panel.set_ylabel(f"$q_{{{rank}}}$", rotation=0, labelpad=8, va="center")
            note = {"transform": panel.transAxes, "ha": "right", "va": "top", "fontsize": 7}
            box = {"facecolor": "white", "alpha": 0.75, "lw": 0, "pad": 1}
            panel.text(0.995, 0.94, f"eigenvalue {sim.eigenvalues[column]:.3g}", bbox=box, **note)
        panels[0].set_title("(b) leading eigenvectors; signal groups shaded", loc="left")
        panels[-1].set_xlabel("variable")
    return figure
