"""`fantope coexpress`: from expression and groups of samples to gene modules, differences and a report."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from fantope.cli.console import Talk, given, talk_options, with_options
from fantope.errors import need

COMMAND = "fantope coexpress"
DEFAULT_ALPHAS = "0.30:0.99:0.01"  # the library's, of which it solves the first that are of use
DEMO_FOLDER = Path("fantope-coexpress-demo")
DEMO_OPTIONS = {"alphas": "0.65:0.95:0.05", "permutations": 250}  # instead of the defaults, to be done in seconds

coexpress_options = with_options(
    click.option("--groups", "samples", metavar="META", type=click.Path(path_type=Path),
                 help="Table of samples: one row a sample, its name first. Not needed if DATA is .h5ad with groups."),
    click.option("--group-column", metavar="NAME",
                 help="Column with the groups.  [default: META's only other column, or one called group]"),
    click.option("--sample-column", metavar="NAME", help="Column of META that names samples.  [default: the first]"),
    click.option("--genes-in", type=click.Choice(["rows", "columns"]),
                 help="Where DATA has its genes.  [default: the axis that META does not name]"),
    click.option("--layer", metavar="NAME", help="Layer of AnnData, or array of an .npz or .zarr group."),
    click.option("--transform", type=click.Choice(["log-cpm", "log1p", "none"]), default="none", show_default=True,
                 help="log-cpm for raw counts, none for values that are logarithms already."),
    click.option("--min-expressed", type=click.FloatRange(0, 1), default=0.5, show_default=True,
                 help="Share of samples in which a gene must be expressed to be kept."),
    click.option("--impute", "missing", type=click.Choice(["mean", "drop"]),
                 help="Missing values: fill in the gene's mean in the group, or drop genes that have any."),
    click.option("--drop-mangled", "mangled", flag_value="drop",
                 help="Leave out gene names that a spreadsheet turned into dates."),
    click.option("--covariates", metavar="A,B", default="", help="Columns to regress out: batch,age,sex."),
    click.option("--traits", metavar="A,B", default="",
                 help="Columns of META, numbers or words, to compare modules with: age,stage."),
    click.option("--probes", type=click.Path(path_type=Path), metavar="FILE",
                 help="Table of probe and gene: DATA has probes, the analysis is of genes."),
    click.option("--correlation", type=click.Choice(["pearson", "spearman", "bicor"]), default="pearson",
                 show_default=True, help="bicor is the biweight midcorrelation, robust against outliers."),
    click.option("-d", "--components", "n_components", type=click.IntRange(min=1), default=5, show_default=True,
                 help="Number of components."),
    click.option("--alphas", metavar="GRID",
                 help=f"start:stop:step with both ends, or a,b,c.  [default: {DEFAULT_ALPHAS}, from above until "
                 "--max-genes is passed]"),
    click.option("--match", type=click.Choice(["auto", "paper", "noise", "size"]), default="auto", show_default=True,
                 help="One alpha for all groups (paper), larger for smaller groups (noise), or by genes in use (size); "
                 "auto is noise where one group has 1.5 times the samples of another."),
    click.option("--min-genes", type=click.IntRange(min=1),
                 help="Fewest genes that a group may use at the chosen alpha.  [default: 50; with fewer than 600 genes "
                 "a twelfth of them, but two for each component]"),
    click.option("--max-genes", type=click.IntRange(min=1), help="Most genes.  [default: 300, or half of all]"),
    click.option("--modules", "n_modules", type=click.IntRange(min=1),
                 help="Modules in each group.  [default: chosen]"),
    click.option("--labels", metavar="FILE[:COLUMN]", multiple=True,
                 help="Other labels of the genes (table of gene and label, or .gmt); can be given more than once."),
    click.option("--permutations", type=click.IntRange(min=0), default=500, show_default=True,
                 help="For the comparison of groups; 0 leaves it out."),
    click.option("--tol", type=float, default=1e-3, show_default=True, help="Relative duality gap of what is chosen."),
    click.option("--seed", "random_state", type=click.IntRange(min=0), default=0, show_default=True,
                 help="For halves, permutations and the demonstration."),
    click.option("--demo", "is_demo", is_flag=True, help="Analyse made-up expression of two groups; no DATA needed."),
    click.option("-o", "--out", type=click.Path(path_type=Path),
                 help=f"Folder to write.  [default with --demo: {DEMO_FOLDER}]"),
    click.option("--overwrite", is_flag=True, help="Replace a folder that this command wrote."),
    click.option("--no-figures", is_flag=True, help="Write the report and tables, but no figures."),
    click.option("--cache", type=click.Path(path_type=Path, file_okay=False),
                 help="Folder for finished parts of a run.  [default: OUT.cache]"),
    click.option("--keep-cache", is_flag=True, help="Keep that folder after a run that succeeded."),
)  # fmt: skip


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
    for module in ("pandas", "anndata", "jinja2", *(() if options["no_figures"] else ("matplotlib",))):
        need(module, "expression", COMMAND)
    from fantope.coexpression.command.run import run  # only now: --help must not wait for solvers to load

    return run(data, DEMO_FOLDER if out is None else out, options, _command_line(context), Talk(quiet, as_json))


def _command_line(context: click.Context) -> str:
    """Return the command as it was given, without what only changes how it talks."""
    words = [COMMAND]
    for parameter in context.command.params:
        name = str(parameter.name)
        value = context.params[name]
        if not given(context, name) or name in ("quiet", "as_json", "overwrite", "keep_cache", "cache"):
            continue
        if isinstance(parameter, click.Argument):
            words.append(shlex.quote(str(value)))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[0])
        else:
            for each in value if isinstance(value, tuple) else (value,):
                words += [parameter.opts[0], shlex.quote(str(each))]
    return " ".join(words)
