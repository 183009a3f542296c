"""Figure 1 from its stored draw."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fantope.paper.chapters.base import Chapter, Picture, number, several
from fantope.paper.store import Stored
from fantope.plotting import plot_setting
from fantope.simulation import Simulation


def chapter(runs: Sequence[Stored]) -> Chapter:
    """Return the section on the simulation model."""
    found = runs[0].result
    Q, values = np.array(found["eigenvectors"]), np.array(found["eigenvalues"])
    sim = Simulation(np.zeros((1, len(Q))), Q, values, tuple(found["sizes"]))
    page = Chapter("The setting (figure 1)")
    page.claim(
        "5.1, figure 1(a)",
        "Most variables correlate weakly; those of one signal group correlate more.",
        f"mean correlation within the groups {several(found['within'])}; elsewhere the mean of |correlation| is "
        f"{number(found['elsewhere_mean'])}, {100 * found['elsewhere_share_below']:.0f} % of pairs below 0.3",
        [min(found["within"]) > 3 * found["elsewhere_mean"], found["elsewhere_share_below"] > 0.9],
    )
    leading = found["leading"]
    page.claim(
        "5.1, figure 1(b)",
        "The two leading eigenvectors are sparse, with 20 and 15 variables; eigenvalues 12, 6, then at most 2.",
        f"non-zero loadings {several(found['nonzero'])}; leading eigenvalues {several(leading)}",
        [found["nonzero"] == found["sizes"] == [20, 15], leading[:2] == [12.0, 6.0] and leading[2] <= 2.0],
    )
    caption = f"The paper's figure 1: one draw of Σ with p = {len(Q)} (seed {runs[0].config['seed']})."
    page.add(
        "`fantope.simulate` draws the model of section 5.1: two groups of 20 and 15 variables, loadings "
        "Unif(0.9, 1.1) made orthonormal by QR, eigenvalues 12, 6 and Unif(0, 2). All experiments below use it.",
        Picture("setting", caption, plot_setting(sim)),
    )
    return page
