"""Figures for choosing: how many components, which penalty, which variables and how many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from fantope.cardinality import BracketCurve
from fantope.plotting.style import BLUE, GREY, VERMILION, axes_or_new, journal_style, short_name
from fantope.selection import CrossValidation, ParallelAnalysis, Stability

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_cardinality", "plot_cross_validation", "plot_scree", "plot_stability"]


def plot_scree(analysis: ParallelAnalysis, *, ax: Axes | None = None) -> Axes:
    """Draw the leading eigenvalues beside those of permuted data.

    Parameters
    ----------
    analysis : ParallelAnalysis
        What :func:`fantope.selection.parallel_analysis` returns.
    ax : Axes, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Axes
        The band reaches from the smallest eigenvalue in permuted data to the limit; filled points are the components
        that count.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 30, sizes=(5, 4))
    >>> ax = fantope.plotting.plot_scree(fantope.selection.parallel_analysis(sim.Z))
    >>> ax.get_title(loc="left")
    '2 components above permuted data'
    """
    k, d = np.arange(1, len(analysis.eigenvalues) + 1), analysis.n_components
    with journal_style():
        ax = axes_or_new(ax, 4.4, 3.0)
        lowest = analysis.permuted.min(axis=0)
        ax.fill_between(k, lowest, analysis.limits, color=GREY, alpha=0.35, lw=0, label="permuted data")
        ax.plot(k, analysis.eigenvalues, color=BLUE, lw=1.0, marker="o", ms=4, mfc="white", label="data")
        ax.plot(k[:d], analysis.eigenvalues[:d], color=BLUE, lw=0, marker="o", ms=4)
        ax.legend(loc="upper right")
        ax.set_ylim(0, None)
        ax.set_xticks(k[:: -(-len(k) // 10)])
        ax.set(xlabel="component", ylabel="eigenvalue")
        ax.set_title(f"{d} component{'' if d == 1 else 's'} above permuted data", loc="left")
    return ax


def plot_cross_validation(found: CrossValidation, *, ax: Axes | None = None) -> Axes:
    """Draw the variance explained in held-out samples against the penalty, with its standard error.

    Parameters
    ----------
    found : CrossValidation
        What :func:`fantope.selection.cross_validate` returns.
    ax : Axes, optional
        Where to draw; a new figure if absent.

    Returns
    -------
    Axes
        The numbers on top are the variables in use.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(120, 30, sizes=(5, 4))
    >>> pca = fantope.SparsePCACV(2, cv=3, alphas=[2.0, 1.0, 0.5]).fit(sim.Z)
    >>> display = fantope.plotting.CrossValidationDisplay.from_estimator(pca)
    >>> display.ax_.get_xlabel()
    'penalty alpha'
    """
    x, mean, error = found.alphas, found.mean, found.standard_error
    with journal_style():
        ax = axes_or_new(ax, 4.6, 3.2)
        ax.fill_between(x, mean - error, mean + error, color=BLUE, alpha=0.2, lw=0)
        ax.plot(x, mean, color=BLUE, lw=1.2, marker="o", ms=3)
        ax.axvline(found.alpha, color=VERMILION, lw=1.0, ls="--", label=f"{found.rule}: alpha = {found.alpha:.3g}")
        if len(x) > 1:
            if x.min() > 0:
                ax.set_xscale("log")
            ax.invert_xaxis()
        sizes = found.sizes.mean(axis=1)
        for i in np.unique(np.linspace(0, len(x) - 1, min(len(x), 8)).astype(int)):
            place = (x[i], 1.01)
            ax.annotate(f"{sizes[i]:.0f}", place, xycoords=("data", "axes fraction"), ha="center", fontsize=7)
        ax.legend(loc="lower right")
        ax.set(xlabel="penalty alpha", ylabel="explained in held-out samples")
    return ax


def plot_stability(
    found: Stability, names: Sequence[str] | ArrayLike | None = None, *, n_shown: int = 60, ax: Axes | None = None
) -> Axes:
    """Draw how often each variable was in use in random halves of the samples.

    Parameters
    ----------
    found : Stability
        What :func:`fantope.selection.stability_selection` returns.
    names : sequence of str, optional
        Of the p variables; written below the bars where there are no more than 40.
    n_shown : int, default 60
        Most bars, from the most frequent on.
    ax : Axes, optional
        Where to draw; a new figure if absent.

    Examples
    --------
    >>> import fantope
    >>> sim = fantope.simulate(100, 30, sizes=(5, 4))
    >>> ax = fantope.plotting.plot_stability(fantope.selection.stability_selection(sim.Z, 2, 1.0, n_subsamples=4))
    >>> ax.get_ylabel()
    'share of halves'
    """
    used = int(np.count_nonzero(found.frequency))
    order = np.argsort(-found.frequency, kind="stable")[: max(1, min(n_shown, used))]
    share = found.frequency[order]
    with journal_style():
        ax = axes_or_new(ax, 5.2, 3.0)
        ax.bar(np.arange(len(order)), share, color=np.where(share >= found.threshold, BLUE, GREY), width=0.85)
        ax.axhline(found.threshold, color=VERMILION, lw=0.9, ls="--", label=f"threshold {found.threshold:g}")
        ax.legend(loc="upper right")
        if names is not None and len(order) <= 40:
            labels = np.asarray(names, dtype=object)
            ax.set_xticks(range(len(order)), [short_name(str(labels[j])) for j in order], rotation=90, fontsize=7)
        else:
            ax.set_xticks([])
        ax.set(ylim=(0, 1.05), xlabel=f"{len(order)} of {used} variables ever in use", ylabel="share of halves")
        chance = f"at most {found.error_bound:.2g} of them by chance"
        ax.set_title(f"{len(found.selected)} selected, {chance}", loc="left")
    return ax


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
