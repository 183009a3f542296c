"""Figures of a co-expression analysis: the choice of alpha, modules, two groups compared, a volcano."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fantope.coexpression.view import bands, by_module, by_specificity, densities, loadings
from fantope.plotting.style import BLUE, GREY, GROUP_COLOURS, axes_or_new, figure_or_new, journal_style, short_name

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import FigureBase

    from fantope.coexpression.analysis.result import Coexpression, Differential

__all__ = ["plot_comparison", "plot_modules", "plot_selection", "plot_volcano"]

DIVERGING = "RdBu_r"  # red and blue stay distinct under the common colour deficiencies
LEVEL = 0.05  # false discovery rate at which a point is filled


def plot_selection(result: Coexpression, *, fig: FigureBase | None = None) -> FigureBase:
    """Draw the overlap of the groups' active sets, and their sizes, against alpha; of one group the sizes alone.

    Parameters
    ----------
    result : Coexpression
    fig : Figure or SubFigure, optional
        Where to draw; a new figure if absent.
    """
    table = result.selection.sort_values("alpha")
    alphas, eligible = table["alpha"].to_numpy(dtype=float), table["eligible"].to_numpy(dtype=bool)
    several = len(result.groups) > 1
    with journal_style():
        figure = figure_or_new(fig, 4.6, 4.4 if several else 2.6)
        panels = figure.subplots(2 if several else 1, 1, sharex=True, squeeze=False)[:, 0]
        if several:
            _points(panels[0], alphas, table["overlap"].to_numpy(dtype=float), eligible, "black")
            panels[0].set(ylabel="overlap $V(\\alpha)$", ylim=(0, None))
        low, high = result.parameters["min_genes"], result.parameters["max_genes"]
        panels[-1].axhspan(low, high, color=GREY, alpha=0.14, lw=0)
        for k, name in enumerate(result.groups):
            colour = GROUP_COLOURS[k % len(GROUP_COLOURS)]
            _points(panels[-1], alphas, table[f"n_{name}"].to_numpy(dtype=float), eligible, colour, short_name(name))
        top = float(np.nanmax(table[[f"n_{name}" for name in result.groups]].to_numpy(dtype=float)))
        # Sets far above the limit would press everything of interest to the floor.
        panels[-1].set(xlabel="penalty $\\alpha$", ylabel="active genes", ylim=(0, 1.08 * min(max(top, low), 3 * high)))
        if several:
            panels[-1].legend(loc="best")
        for panel in panels:
            panel.axvline(result.alpha, color="black", lw=0.7, ls=":")
        panels[0].set_title(f"chosen: $\\alpha$ = {result.alpha:g}", loc="left")
    return figure


def _points(ax: Axes, x: Any, y: Any, filled: Any, colour: str, label: str | None = None) -> None:
    ax.plot(x, y, color=colour, lw=1.1, label=label)
    ax.plot(x[filled], y[filled], ls="", marker="o", ms=4, color=colour)
    ax.plot(x[~filled], y[~filled], ls="", marker="o", ms=4, mfc="white", color=colour)


def plot_modules(
    result: Coexpression, group: str, *, basis: Literal["sparse", "pc"] = "sparse", fig: FigureBase | None = None
) -> FigureBase:
    """Draw the correlations of a group's active genes, ordered by module, beside their loadings.

    Parameters
    ----------
    result : Coexpression
    group : str
    basis : {"sparse", "pc"}
        Of the same subspace: "sparse" has one module a component where the data have it, "pc" are the principal
        components, as in the paper.
    fig : Figure or SubFigure, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Figure or SubFigure
        As figure 5 of the paper: correlation matrix on the left, loadings on the right. The colours of each component
        follow its own largest loading.
    """
    import pandas as pd

    found = result.groups[group]
    table = by_module(found.genes)
    weights = loadings(table, basis)
    with journal_style():
        figure = figure_or_new(fig, 7.4, 4.1)
        left, right = figure.subplots(1, 2, width_ratios=[1.0, 0.32 + 0.05 * weights.shape[1]])
        image = _matrix(left, found.correlation(pd.Index(table["gene"])), table, labelled=True)
        left.set_title(f"correlations in {short_name(group)}, {len(table)} genes", loc="left")
        right.imshow(
            weights / np.abs(weights).max(axis=0, initial=1e-12), cmap=DIVERGING, vmin=-1, vmax=1, aspect="auto",
            interpolation="nearest",
        )  # fmt: skip
        for _, start, _ in bands(table)[1:]:
            right.axhline(start - 0.5, color="black", lw=0.6)
        right.spines[:].set_visible(True)
        right.set_xticks(range(weights.shape[1]), [str(k + 1) for k in range(weights.shape[1])])
        right.set_yticks([])
        right.set(xlabel="component")
        right.set_title("sparse basis" if basis == "sparse" else "loadings", loc="left")
        figure.colorbar(image, ax=right, shrink=0.7, label="correlation; loading / largest", ticks=[-1, 0, 1])
    return figure


def _matrix(ax: Axes, matrix: pd.DataFrame, table: pd.DataFrame, *, labelled: bool) -> Any:
    """Draw one correlation matrix with its modules set off by lines."""
    image = ax.imshow(matrix.to_numpy(dtype=float), cmap=DIVERGING, vmin=-1, vmax=1, interpolation="nearest")
    parts = bands(table)
    for _, start, _ in parts[1:]:
        ax.axhline(start - 0.5, color="black", lw=0.6)
        ax.axvline(start - 0.5, color="black", lw=0.6)
    ax.spines[:].set_visible(True)
    ax.set_xticks([])
    if labelled:
        ax.set_yticks([(start + stop - 1) / 2 for _, start, stop in parts], [short_name(name) for name, _, _ in parts])
        ax.tick_params(axis="y", length=0)
    else:
        ax.set_yticks([])
    return image


def plot_comparison(result: Coexpression, first: str, second: str, *, fig: FigureBase | None = None) -> FigureBase:
    """Draw the correlations of group-specific genes in both groups side by side, and their densities.

    Parameters
    ----------
    result : Coexpression
    first, second : str
        Names of two groups.
    fig : Figure or SubFigure, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Figure or SubFigure
        As figure 6 of the paper: two matrices on the same genes, and the densities of their off-diagonal entries.
    """
    import pandas as pd

    table = by_specificity(result, first, second)
    genes = pd.Index(table["gene"])
    matrices = [result.groups[name].correlation(genes) for name in (first, second)]
    grid, curves = densities(matrices)
    with journal_style():
        figure = figure_or_new(fig, 9.6, 3.3)
        panels = figure.subplots(1, 3, width_ratios=[1, 1, 1])
        for k, (panel, name, matrix) in enumerate(zip(panels, (first, second), matrices, strict=False)):
            image = _matrix(panel, matrix, table, labelled=k == 0)
            panel.set_title(f"{short_name(name)}: {len(genes)} genes", loc="left")
        figure.colorbar(image, ax=panels[1], shrink=0.8, label="correlation", ticks=[-1, 0, 1])
        for name, curve, colour, style in zip((first, second), curves, GROUP_COLOURS, ("-", "--"), strict=False):
            panels[2].plot(grid, curve, color=colour, ls=style, lw=1.4, label=short_name(name))
            panels[2].fill_between(grid, curve, color=colour, alpha=0.1, lw=0)
        panels[2].set(xlabel="correlation off the diagonal", ylabel="density", xlim=(-1, 1), ylim=(0, None))
        panels[2].legend(loc="best")
    return figure


def plot_volcano(pair: Differential, *, n_named: int = 12, ax: Axes | None = None) -> Axes:
    """Draw the change of each tested gene's mean correlation against its permutation p-value.

    Parameters
    ----------
    pair : Differential
    n_named : int, default 12
        Most names written beside genes with a false discovery rate of at most 0.05.
    ax : Axes, optional
        Where to draw; a new figure if absent.
    """
    change, height = pair.genes["change"].to_numpy(dtype=float), -np.log10(pair.genes["p"].to_numpy(dtype=float))
    found = pair.genes["fdr"].to_numpy(dtype=float) <= LEVEL
    with journal_style():
        ax = axes_or_new(ax, 4.6, 3.6)
        ax.plot(change[~found], height[~found], ls="", marker="o", ms=3.5, mfc="none", mew=0.7, color=GREY)
        ax.plot(change[found], height[found], ls="", marker="o", ms=3.5, alpha=0.8, color=BLUE)
        ax.axvline(0, color=GREY, lw=0.6)
        widest = 1.2 * float(np.abs(change).max(initial=1e-6))
        first, second = short_name(pair.first), short_name(pair.second)
        ax.set(xlabel=f"change of mean correlation, {first} to {second}", xlim=(-widest, widest))
        ax.set(ylabel="$-\\log_{10}\\,p$", ylim=(0, None))
        ax.margins(y=0.1)
        title = f"{first} and {second}: {int(found.sum())} of {len(found)} genes at FDR {LEVEL:g}"
        ax.set_title(title, loc="left")
        order = [k for k in np.argsort(-np.abs(change), kind="stable") if found[k]]
        _name_points(ax, pair.genes["gene"].tolist(), change, height, order, n_named)
    return ax


def _name_points(ax: Axes, names: Sequence[object], x: Any, y: Any, order: Sequence[int], most: int) -> None:
    """Write names right of points, in this order, where they run into neither points nor names written before."""
    left = 0.5 * x / (float(np.abs(x).max()) or 1.0)  # shares of the axes, about
    bottom = y / (float(y.max()) or 1.0)
    written: list[int] = []
    for k in order:
        reach = 0.03 + 0.022 * len(short_name(names[k]))
        ahead, beside = left - left[k], np.abs(bottom - bottom[k])
        near = ((ahead >= 0) & (ahead < reach) & (beside < 0.035)).sum() > 1  # it is near itself
        clash = any(abs(ahead[j]) < 0.25 and beside[j] < 0.045 for j in written)
        if near or clash:
            continue
        ax.annotate(short_name(names[k]), (x[k], y[k]), xytext=(4, -2.5), textcoords="offset points", fontsize=7)
        written.append(k)
        if len(written) == most:
            break
