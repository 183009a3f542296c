"""Components of one fit: loadings as a heat map, and scores with loadings as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fantope.errors import require
from fantope.plotting.style import BLUE, GREY, GROUP_COLOURS, VERMILION, axes_or_new, journal_style, short_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_biplot", "plot_loadings_heatmap"]


def plot_loadings_heatmap(
    components: ArrayLike, names: Sequence[str] | None = None, *, n_shown: int = 40, ax: Axes | None = None
) -> Axes:
    """Draw the loadings of all components as a heat map, one row for each variable in use.

    Parameters
    ----------
    components : (d, p) array
    names : sequence of str, optional
        Of the p variables; indices if absent.
    n_shown : int, default 40
        Most rows; those with the largest loadings are taken. Rows are ordered by the component that they load on most.
    ax : Axes, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Axes
        Exact zeros are left blank.

    Examples
    --------
    >>> from fantope.plotting import plot_loadings_heatmap
    >>> ax = plot_loadings_heatmap([[0.8, 0.6, 0, 0], [0, 0, 0, 1]], ["a", "b", "c", "d"])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['a', 'b', 'd']
    """
    matrix, labels = _labelled(components, names)
    d = len(matrix)
    size = np.abs(matrix).max(axis=0)
    rows = np.argsort(-size, kind="stable")[: min(n_shown, np.count_nonzero(size))]
    order = rows[np.lexsort((-size[rows], np.abs(matrix[:, rows]).argmax(axis=0)))]
    limit = float(size.max()) or 1.0
    with journal_style():
        ax = axes_or_new(ax, 1.9 + 0.42 * d, 0.8 + 0.15 * max(len(order), 4))
        shown = np.ma.masked_equal(matrix[:, order].T, 0.0)
        image = ax.imshow(shown, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto", interpolation="nearest")
        ax.set_yticks(range(len(order)), [short_name(labels[j]) for j in order], fontsize=7)
        ax.set_xticks(range(d), [str(k + 1) for k in range(d)])
        ax.set_xlabel("component")
        used = np.count_nonzero(size)
        ax.set_title(f"{len(order)} of {used} variables" if len(order) < used else f"{used} variables", loc="left")
        ax.figure.colorbar(image, ax=ax, label="loading")
    return ax


def plot_biplot(
    scores: ArrayLike,
    components: ArrayLike,
    names: Sequence[str] | None = None,
    *,
    groups: Sequence[object] | None = None,
    which: tuple[int, int] = (0, 1),
    n_arrows: int = 10,
    ax: Axes | None = None,
) -> Axes:
    """Draw samples by their scores on two components, and the largest loadings as arrows.

    Parameters
    ----------
    scores : (n, d) array
        As ``SparsePCA.transform`` gives.
    components : (d, p) array
    names : sequence of str, optional
        Of the p variables; indices if absent.
    groups : sequence, optional
        What each sample belongs to, shown by colour.
    which : pair of int, default (0, 1)
        The components to draw.
    n_arrows : int, default 10
        Arrows are scaled together so that the longest reaches the edge of the samples.
    ax : Axes, optional
        Where to draw; a new figure if absent.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 30, sizes=(5, 4))
    >>> pca = fantope.SparsePCA(2, alpha=0.5).fit(sim.Z)
    >>> ax = fantope.plotting.plot_biplot(pca.transform(sim.Z), pca.components_)
    >>> ax.get_xlabel()
    'component 1'
    """
    points = np.asarray(scores, dtype=float)
    matrix, labels = _labelled(components, names)
    if points.ndim != 2 or points.shape[1] != len(matrix) or len(matrix) <= max(which):
        raise ValueError(
            f"scores must have a column for each of the components, and components {which[0]} and {which[1]} must be "
            f"among them, got scores of shape {points.shape} and {len(matrix)} components; pass `which`, or fit more."
        )
    points, arrows = points[:, which], matrix[list(which)].T
    length = np.hypot(*arrows.T)
    longest = np.argsort(-length, kind="stable")[: min(n_arrows, np.count_nonzero(length))]
    reach = float(np.abs(points).max()) / (float(length.max()) or 1.0)
    with journal_style():
        ax = axes_or_new(ax, 4.4, 4.0)
        kinds = [None] if groups is None else sorted(set(groups), key=str)
        for k, kind in enumerate(kinds):
            rows = slice(None) if groups is None else [group == kind for group in groups]
            colour = GREY if groups is None else GROUP_COLOURS[k % len(GROUP_COLOURS)]
            label = None if kind is None else str(kind)
            ax.scatter(points[rows, 0], points[rows, 1], s=9, color=colour, alpha=0.7, lw=0, label=label)
        for j in longest:
            tip = arrows[j] * reach
            ax.annotate("", tip, (0, 0), arrowprops={"arrowstyle": "->", "color": VERMILION, "lw": 0.9})
            ax.annotate(short_name(labels[j]), tip * 1.04, ha="center", va="center", fontsize=7, color=BLUE)
        if groups is not None:
            ax.legend(loc="best")
        ax.axhline(0, color=GREY, lw=0.4)
        ax.axvline(0, color=GREY, lw=0.4)
        ax.set(xlabel=f"component {which[0] + 1}", ylabel=f"component {which[1] + 1}")
    return ax


def _labelled(
    components: ArrayLike, names: Sequence[str] | None
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], Sequence[str]]:
    """Return the components as a matrix, and a label for each variable."""
    matrix = np.atleast_2d(np.asarray(components, dtype=float))
    p = matrix.shape[1]
    labels = [str(j) for j in range(p)] if names is None else [str(name) for name in names]
    require(len(labels) == p, "names", f"hold one name for each of the {p} variables", str(len(labels)))
    return matrix, labels
