"""Matplotlib on demand, and one look for every figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fantope.errors import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase, SubFigure

# Okabe and Ito's palette, which stays distinct under the common colour deficiencies.
BLUE, VERMILION, GREEN, PURPLE, GREY = "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#8A8A8A"
GROUP_COLOURS = (BLUE, VERMILION, GREEN, PURPLE)

# Any: matplotlib types the keys as a closed list that grows from release to release.
_RC: Any = {
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.7,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "savefig.dpi": 200,
}


@contextmanager
def journal_style() -> Iterator[None]:
    """Apply the common look inside the block and leave the user's settings as they were."""
    with need("matplotlib", "plot", "fantope.plotting").rc_context(_RC):
        yield


def new_figure(width: float, height: float) -> Figure:
    """Return a figure that no pyplot state knows of, so that it needs no display and no closing."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def axes_or_new(ax: Axes | None, width: float, height: float) -> Axes:
    """Return `ax`, or the only axes of a new figure."""
    return new_figure(width, height).add_subplot() if ax is None else ax


def figure_or_new(fig: FigureBase | None, width: float, height: float) -> FigureBase:
    """Return `fig`, or a new figure."""
    return new_figure(width, height) if fig is None else fig


def short_name(name: object) -> str:
    """Return a name for an axis: cut to what fits, and without mathematics, which dollar signs would start."""
    text = str(name)
    return (text if len(text) <= 18 else f"{text[:17]}…").replace("$", r"\$")


def draw_tolerance(ax: Axes, tol: float | None, legend: Any) -> None:
    """Draw the gap that was asked for, if it is known, as a dashed line on a log scale."""
    ax.set_yscale("log")
    if tol is not None:
        ax.axhline(tol, color=GREY, lw=0.9, ls="--", label=f"asked for: {tol:g}")
        ax.legend(loc=legend)


def side_by_side(figure: FigureBase, left: float) -> tuple[SubFigure, SubFigure]:
    """Split `figure` into two, the first taking the share `left` of the width."""
    # Matplotlib's annotations know only the case of a single sub-figure.
    pair: Any = figure.subfigures(1, 2, width_ratios=[left, 1 - left])
    return pair[0], pair[1]


def save_figure(figure: Any, folder: Path, name: str) -> None:
    """Write a figure as PNG and SVG."""
    folder.mkdir(exist_ok=True)
    figure.savefig(folder / f"{name}.png", dpi=200)
    # Without a date, and with fixed identifiers, the same figure gives the same file.
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "fantope"}):
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
