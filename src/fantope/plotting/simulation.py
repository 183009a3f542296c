"""The simulation setting: the true covariance and its leading eigenvectors."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from fantope.errors import require
from fantope.plotting.style import GREY, GROUP_COLOURS, journal_style, new_figure, side_by_side
from fantope.simulation import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_setting"]


def plot_setting(sim: Simulation, *, n_vectors: int = 5) -> Figure:
    """Draw the true covariance Σ beside the eigenvectors of its largest eigenvalues.

    Parameters
    ----------
    sim : Simulation
        The model to show; about a hundred variables read best.
    n_vectors : int, default 5
        Number of eigenvectors to draw.

    Returns
    -------
    Figure
        Heat map on the left, one small panel for each eigenvector on the right.
    """
    p = sim.eigenvectors.shape[0]
    require(1 <= n_vectors <= p, "n_vectors", f"lie between 1 and p = {p}", str(n_vectors), "pass for example 5")
    with journal_style():
        figure = new_figure(8.4, 3.9)
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
            panel.text(
                0.995,
                0.94,
                f"eigenvalue {sim.eigenvalues[column]:.3g}",
                transform=panel.transAxes,
                ha="right",
                va="top",
                fontsize=7,
                bbox={"facecolor": "white", "alpha": 0.75, "lw": 0, "pad": 1},
            )
        panels[0].set_title("(b) leading eigenvectors; signal groups shaded", loc="left")
        panels[-1].set_xlabel("variable")
    return figure
