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
    read_samples,
)
from fantope.errors import FileError, Text, Use, listed
from fantope.io.dataset import Dataset
from fantope.io.fingerprint import checksum


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


@dataclass(frozen=True, eq=False)
class Input:
    """Expression with the groups and covariates of its samples."""

    data: Dataset  # samples × genes
    table: pd.DataFrame  # the same, by name
    groups: pd.Series[str] | None  # group by sample; None for one group alone
    group_column: str | None  # where the groups stand
    covariates: pd.DataFrame | None
    samples_checksum: str | None  # of the table of samples


def read_input(source: Source) -> Input:
    """Read expression, groups and covariates; a FileError names the file and the way out."""
    table = None if source.samples is None else read_samples(source.samples, source.sample_column)
    data = read_expression(
        source.data, genes_in=source.genes_in, samples=None if table is None else table.index, layer=source.layer
    )
    where = source.samples or source.data
    expression = data.to_frame()
    known = read_annotation(source.data) if table is None else table
    digest = None if source.samples is None else checksum(source.samples)
    if known is None or (table is None and source.group_column is None and not source.covariates):
        if source.group_column is not None or source.covariates:
            remedy = ("give a table of samples with ", Use("samples"))
            raise FileError(where, "knows nothing of its samples", remedy=remedy)
        return Input(data, expression, None, None, None, digest)
    column = _group_column(where, known, source)
    missing = [name for name in source.covariates if name not in known]
    if missing:
        what = (f"has no column {missing[0]!r} for ", Use("covariates"))
        raise FileError(where, what, remedy=f"it has {listed([str(name) for name in known])}")
    groups = None if column is None else known[column].dropna().astype(str)
    if groups is not None:
        _check_match(where, data, groups, source)
    covariates = numeric_where_possible(known[list(source.covariates)]) if source.covariates else None
    return Input(data, expression, groups, column, covariates, digest)


def _group_column(where: Path, known: pd.DataFrame, source: Source) -> str | None:
    names = [str(name) for name in known]
    if source.group_column is not None:
        if source.group_column not in names:
            remedy = (Use("group_column"), f" is one of {listed(names)}")
            raise FileError(where, f"has no column {source.group_column!r}", remedy=remedy)
        return source.group_column
    if source.samples is None:
        return None
    others = [name for name in names if name not in source.covariates]
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
