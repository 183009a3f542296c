"""What exactly k variables can explain, for many k."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fantope.cardinality import BracketCurve
from fantope.plotting.style import BLUE, GREY, VERMILION, axes_or_new, journal_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_cardinality"]


def plot_cardinality(curve: BracketCurve, *, total: float | None = None, ax: Axes | None = None) -> Axes:
    """Draw the variance that k variables can explain: what is attained, and the bound that nothing exceeds.

    Parameters
    ----------
    curve : BracketCurve
        What :func:`fantope.cardinality_bracket` returns for several k.
    total : float, optional
        What all variables explain, drawn as a dashed line.
    ax : Axes, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Axes
        `ax`, or the new axes.

    Examples
    --------
    >>> import numpy as np, fantope
    >>> curve = fantope.cardinality_bracket(np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 0.95]]))
    >>> ax = fantope.plotting.plot_cardinality(curve)
    >>> [round(float(y), 3) for y in ax.lines[-1].get_ydata()]
    [1.0, 1.9, 1.9]
    """
    order = np.argsort(curve.k, kind="stable")
    k, lower, upper = curve.k[order], curve.lower[order], curve.upper[order]
    with journal_style():
        ax = axes_or_new(ax, 4.4, 3.2)
        if total is not None:
            ax.axhline(total, color=GREY, lw=0.9, ls="--", label="all variables")
        ax.fill_between(k, lower, upper, color=VERMILION, alpha=0.25, lw=0, label="not decided")
        ax.plot(k, upper, color=VERMILION, lw=1.0, label="no k variables explain more")
        ax.plot(k, lower, color=BLUE, lw=1.2, marker="o", ms=3, label="k variables that explain this")
        ax.legend(loc="lower right")
        ax.set(xlabel="number of variables k", ylabel="explained variance")
    return ax
