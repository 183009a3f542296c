"""Estimation error against time for GradFPS and ADMM-FPS as published, and for the default solver.

The experiment is that of `fantope reproduce batch`; this is its place in the report of the benchmarks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.timing import note, table
from fantope.paper.chapters.batch import CLOSE, HEAD, rows
from fantope.paper.chapters.batch import draw as draw_panels
from fantope.paper.experiments import batch
from fantope.paper.experiments.batch import Batch
from fantope.paper.experiments.common import plain

PANELS = (Batch(50, 200), Batch(100, 400), Batch(200, 800))
QUICK_PANELS = (Batch(25, 100, iterations=60), Batch(50, 200, iterations=60))


def run(quick: bool) -> dict[str, Any]:
    """Draw the curves of the paper's figure 2."""
    panels = []
    for config in QUICK_PANELS if quick else PANELS:
        panels.append(plain(batch.run(config, lambda fraction, text: None)))
        note(f"p = {config.p}: step sizes {panels[-1]['step_sizes']}")
    return {"panels": panels, "pilot": PANELS[0].pilot, "close": CLOSE}


def draw(result: dict[str, Any], file: Path) -> None:
    """Draw one panel for each size."""
    draw_panels([_named(panel) for panel in result["panels"]]).savefig(file, dpi=160)


def _named(panel: dict[str, Any]) -> dict[str, Any]:
    """Return a panel whose curves have named columns; stored results may have pairs of time and error."""
    curves = {
        name: curve if isinstance(curve, dict) else {"time": [t for t, _ in curve], "error": [e for _, e in curve]}
        for name, curve in panel["curves"].items()
    }
    return {**panel, "curves": curves}


def report(result: dict[str, Any]) -> str:
    """Return the section in Markdown."""
    found = [row for panel in result["panels"] for row in rows(_named(panel), result["close"])]
    return f"""## Estimation error against time

![Estimation error against time](images/figure2.png)

The paper's comparison: ‖X − Π‖_F against time, the methods from X₀ = V₂V₂ᵀ (the leading eigenvectors of S) with a
fixed step size, the best of ten from 0.01 to 0.1: the one that is nearest to the certified optimum after
{result["pilot"]} iterations. GradFPS is the published one, with finite penalties, beside its limit μ → ∞; both compute
the eigenpairs that they need. ADMM-FPS is the published one, with a full eigendecomposition in every iteration and no
over-relaxation. Solid lines are the sparse iterates, dotted ones the others. "auto" is the library's default, from its
own start, one point per round; its star is the whole call `fantope.solve(S, 2, λ, tol=1e-4)` with its certificate. The
dashed line is the error of the optimum (certified to 1e-5): below it a curve is not better, only not yet converged.
"Close" means that the error stays within {100 * result["close"]:g} % of the optimum's.

{table(HEAD, found)}
"""
