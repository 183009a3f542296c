"""`fantope coexpress`: from expression and groups of samples to gene modules, differences and a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fantope.cli.console import Talk, given, talk_options
from fantope.coexpression.command.options import DEMO_FOLDER, DEMO_OPTIONS, coexpress_options, command_line


@click.command()
@click.argument("data", type=click.Path(path_type=Path), required=False)
@coexpress_options
@talk_options
def coexpress(data: Path | None, is_demo: bool, out: Path | None, quiet: bool, as_json: bool, **options: Any) -> int:
    """Find modules of co-expressed genes in DATA, compare groups of samples, and write a report.

    DATA is a table of expression: .csv, .tsv (also .gz), .parquet or .h5ad, genes in rows or in columns. OUT is a
    folder with report.html, tables, figures, an .h5ad file and the certificates, which `fantope verify OUT` checks
    again. A run that was interrupted goes on where it stopped when the same command is given again.

    Example: fantope coexpress expression.tsv --groups samples.tsv --group-column dx -d 5 --modules 5 -o result

    Without data: fantope coexpress --demo
    """
    if is_demo == (data is not None):
        raise click.UsageError("give either DATA or --demo, for example: fantope coexpress --demo")
    if out is None and not is_demo:
        raise click.UsageError("say which folder to write with -o OUT.")
    context = click.get_current_context()
    if is_demo:
        options |= {name: value for name, value in DEMO_OPTIONS.items() if not given(context, name)}
    from fantope.coexpression.command.run import run  # only now: --help must not wait for solvers to load

    return run(data, DEMO_FOLDER if out is None else out, options, command_line(context), Talk(quiet, as_json))
