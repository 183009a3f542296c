"""What a co-expression analysis reads: expression, groups and covariates of the samples, labels of the genes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from fantope.coexpression.io.expression import (
    GenesIn,
    numeric_where_possible,
    read_annotation,
    read_expression,
    read_labels,
    read_samples,
)
from fantope.errors import FileError, Text, Use, listed
from fantope.io.dataset import Dataset
from fantope.io.fingerprint import checksum

OBVIOUS = ("group", "groups")  # what a column of groups is called, among several, if nobody says which it is


@dataclass(frozen=True)
class Source:
    """Where the samples come from; everything that a second reading must repeat."""

    data: Path  # the expression table
    samples: Path | None = None  # a table of samples; without one, what an .h5ad file knows of its samples
    genes_in: GenesIn | None = None
    layer: str | None = None
    sample_column: str | None = None
    group_column: str | None = None
    covariates: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()
    probes: Path | None = None  # a table of probe and gene

    @property
    def columns(self) -> tuple[str, ...]:
        """What is asked of the table of samples beside the groups."""
        return self.covariates + self.traits


@dataclass(frozen=True, eq=False)
class Input:
    """Expression with the groups and covariates of its samples."""

    data: Dataset  # samples × genes
    table: pd.DataFrame  # the same, by name
    groups: pd.Series[str] | None  # group by sample; None for one group alone
    group_column: str | None  # where the groups stand
    covariates: pd.DataFrame | None
    samples_checksum: str | None  # of the table of samples
    traits: pd.DataFrame | None = None
    notes: tuple[str, ...] = ()  # what was done to names of genes


def read_input(source: Source) -> Input:
    """Read expression, groups and covariates; a FileError names the file and the way out."""
    table = None if source.samples is None else read_samples(source.samples, source.sample_column)
    data = read_expression(
        source.data, genes_in=source.genes_in, samples=None if table is None else table.index, layer=source.layer
    )
    where = source.samples or source.data
    expression, notes = _by_gene(data.to_frame(), source)
    known = read_annotation(source.data) if table is None else table
    digest = None if source.samples is None else checksum(source.samples)
    if known is None or (table is None and source.group_column is None and not source.columns):
        if source.group_column is not None or source.columns:
            remedy = ("give a table of samples with ", Use("samples"))
            raise FileError(where, "knows nothing of its samples", remedy=remedy)
        return Input(data, expression, None, None, None, digest, notes=notes)
    column = _group_column(where, known, source)
    for argument, names in (("covariates", source.covariates), ("traits", source.traits)):
        missing = [name for name in names if name not in known]
        if missing:
            what = (f"has no column {missing[0]!r} for ", Use(argument))
            raise FileError(where, what, remedy=f"it has {listed([str(name) for name in known])}")
    groups = None if column is None else known[column].dropna().astype(str)
    if groups is not None:
        _check_match(where, data, groups, source)
    covariates = numeric_where_possible(known[list(source.covariates)]) if source.covariates else None
    traits = numeric_where_possible(known[list(source.traits)]) if source.traits else None
    return Input(data, expression, groups, column, covariates, digest, traits, notes)


def _by_gene(expression: pd.DataFrame, source: Source) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Name probes by their genes; those of no gene, and of several, are left out.

    Of several probes of a gene the preparation keeps the one with the largest mean, as of any name that occurs twice.
    """
    if source.probes is None:
        return expression, ()
    found = read_labels(source.probes, several="leave two of them, probe and gene")
    found = found[~found.str.contains("///", regex=False)]  # how arrays write a probe that several genes share
    found = found[~found.index.duplicated(keep=False)]
    genes = found.reindex(expression.columns.str.strip())
    known = genes.notna().to_numpy()
    if not known.any():
        raise FileError(
            source.probes,
            f"names no probe of {source.data.name}: it has {listed(list(found.index[:3]))}, …, and the expression has "
            f"{listed([str(name) for name in expression.columns[:3]])}, …",
            remedy="its first column is the probe, its second the gene",
        )
    note = (
        f"Probes were named by their genes: {int(known.sum()):,} of {len(known):,} probes, {genes.nunique():,} genes"
        f"{'' if known.all() else '; the others have no gene, or several, and are left out'}."
    )
    return expression.loc[:, known].set_axis(genes[known].to_numpy(), axis=1), (note,)


def _group_column(where: Path, known: pd.DataFrame, source: Source) -> str | None:
    names = [str(name) for name in known]
    if source.group_column is not None:
        if source.group_column not in names:
            remedy = (Use("group_column"), f" is one of {listed(names)}")
            raise FileError(where, f"has no column {source.group_column!r}", remedy=remedy)
        return source.group_column
    if source.samples is None:
        return None
    others = [name for name in names if name not in source.columns]
    if len(others) > 1:
        others = [name for name in others if name.casefold() in OBVIOUS] or others
    if len(others) != 1:
        ask = ("say which holds the groups with ", Use("group_column"))
        raise FileError(where, f"has the columns {listed(names)}", remedy=ask)
    return others[0]


def _check_match(where: Path, data: Dataset, groups: pd.Series[str], source: Source) -> None:
    """Ask for another column of names if the one in use names no sample, but another does."""
    names = set(data.samples)
    if names.intersection(groups.index) or source.samples is None:
        return
    table = read_samples(source.samples)  # with the first column as names, the rest as it is
    better = [str(name) for name in table if names.intersection(table[name].astype(str).str.strip())]
    remedy: Text = ("see that both files spell the samples alike, and that ", Use("genes_in"), " is right")
    if better:
        remedy = (f"its column {better[0]!r} does: say ", Use("sample_column", better[0]))
    raise FileError(
        where,
        f"names none of the samples of {data.path.name}: it has {listed(list(groups.index[:3]))}, …, and the "
        f"expression has {listed(data.samples[:3])}, …",
        remedy=remedy,
    )
