"""`fantope demo`: simulate, fit, certify, compare and draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fantope.cli.console import Talk, talk_options
from fantope.errors import need


@click.command()
@click.option(
    "-o", "--out", type=click.Path(path_type=Path), default=Path("fantope-demo"), show_default=True,
    help="Folder to write; that of an earlier demo is replaced.",
)  # fmt: skip
@click.option("--n", type=int, default=100, show_default=True, help="Observations.")
@click.option("--p", type=int, default=200, show_default=True, help="Variables, at least 35.")
@click.option("--alpha", type=float, help="Penalty of the ℓ₁ norm.  [default: SparsePCA's concave one, from the data]")
@click.option("--tol", type=float, default=1e-4, show_default=True, help="Relative duality gap to reach.")
@click.option("--max-iter", type=int, help="Most iterations to spend.  [default: the solver's own]")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the first data set.")
@click.option("--draws", type=click.IntRange(min=1), default=5, show_default=True, help="Data sets to compare on.")
@talk_options
def demo(out: Path, quiet: bool, as_json: bool, **options: Any) -> int:
    """Recover two sparse components from simulated data and certify the answer.

    Compares fantope with ordinary PCA and with the best of several fits of scikit-learn's SparsePCA
    on several data sets, then draws the setting and the result for the first of them.

    Example: fantope demo --n 100 --p 200 -o my-demo
    """
    need("matplotlib", "plot", "fantope demo")
    from fantope.cli._demo_run import run  # only now: --help must not wait for solvers to load

    return run(out, Talk(quiet, as_json), **options)
