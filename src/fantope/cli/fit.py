"""`fantope fit`: sparse components of a data file, with a certificate that can be checked again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fantope.cli._data import check_kind, problem_options, reading_options
from fantope.cli._penalty import penalty_options
from fantope.cli.console import Talk, talk_options

TARGETS = {"n_variables": "--n-variables", "norm": "--norm", "variance": "--variance"}


@click.command()
@click.argument("data", type=click.Path(path_type=Path))
@click.option("-a", "--alpha", type=float, help="Penalty.  [default: from the data, as SparsePCA's for that penalty]")
@click.option("--n-variables", type=int, metavar="K", help="Instead of -a: about K variables.")
@click.option("--norm", type=float, metavar="S", help="Instead of -a: ‖X‖₁ at most S.")
@click.option("--variance", type=float, metavar="Q", help="Instead of -a: at least the share Q of PCA's variance.")
@penalty_options
@problem_options(tol=1e-4)
@reading_options
@talk_options
def fit(data: Path, out: Path, quiet: bool, as_json: bool, **options: Any) -> int:
    """Find sparse components of DATA and certify them.

    DATA is .csv, .tsv (also .gz), .parquet, .npy, .npz, .h5ad or .zarr; rows are samples. OUT is a folder with tables,
    figures, the sparse projection, its certificate, and run.json; `fantope verify OUT` checks it again.

    Example: fantope fit expression.csv -d 5 -a 0.85 --kind correlation -o fit
    """
    check_kind(options)
    target = _target(options)
    from fantope.cli._solving import run_fit  # only now: --help must not wait for solvers to load

    return run_fit(data, out, options, target, Talk(quiet, as_json))


def _target(options: dict[str, Any]) -> tuple[str, float] | None:
    """Return the target that stands in for alpha, if there is one."""
    given = [name for name in TARGETS if options[name] is not None]
    if len(given) + (options["alpha"] is not None) > 1:
        raise click.UsageError(f"give only one of -a, {', '.join(TARGETS.values())}.")
    if not given:
        return None
    for name in ("weights", "penalty"):
        if options[name] is not None and given[0] == "norm":
            raise click.UsageError(f"--norm bounds ‖X‖₁, without weights; leave out --{name}, or give -a.")
    for name in ("max_iter", "solver"):
        if options[name] not in (None, "auto"):
            raise click.UsageError(
                f"--{name.replace('_', '-')} goes with -a, not with {TARGETS[given[0]]}; leave one of them out."
            )
    return given[0], options[given[0]]
