"""What a co-expression analysis reads: expression, groups and covariates of the samples, labels of the genes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fantope.coexpression.io.expression import (
    Expression,
    GenesIn,
    numeric_where_possible,
    read_expression,
    read_samples,
)
from fantope.io.checksum import checksum
from fantope.io.errors import FileError, listed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Source:
    """Where the samples come from; everything that a second reading must repeat.

    Attributes
    ----------
    data : Path
        The expression table.
    samples : Path or None
        A table of samples; without one, what an .h5ad file knows of its samples.
    genes_in : "rows", "columns" or None
    layer : str or None
    sample_column, group_column : str or None
    covariates : tuple of str
    """

    data: Path
    samples: Path | None = None
    genes_in: GenesIn | None = None
    layer: str | None = None
    sample_column: str | None = None
    group_column: str | None = None
    covariates: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Input:
    """Expression with the groups and covariates of its samples.

    Attributes
    ----------
    expression : Expression
    groups : Series or None
        Group by sample; None for one group alone.
    group_column : str or None
        Where the groups stand.
    covariates : DataFrame or None
    samples_checksum : str or None
        Of the table of samples.
    """

    expression: Expression
    groups: pd.Series[str] | None
    group_column: str | None
    covariates: pd.DataFrame | None
    samples_checksum: str | None


def read_input(source: Source) -> Input:
    """Read expression, groups and covariates.

    Raises
    ------
    FileError
        One sentence that names the file and the way out.
    """
    table = None if source.samples is None else read_samples(source.samples, source.sample_column)
    expression = read_expression(
        source.data, genes_in=source.genes_in, samples=None if table is None else table.index, layer=source.layer
    )
    where = source.samples or source.data
    known = expression.samples if table is None else table
    digest = None if source.samples is None else checksum(source.samples)
    if known is None or (table is None and source.group_column is None and not source.covariates):
        if source.group_column is not None or source.covariates:
            raise FileError(
                where,
                "knows nothing of its samples; give a table of samples with --groups.",
            )
        return Input(expression, None, None, None, digest)
    column = _group_column(where, known, source)
    missing = [name for name in source.covariates if name not in known]
    if missing:
        raise FileError(
            where, f"has no column {missing[0]!r} for --covariates; it has {listed([str(name) for name in known])}."
        )
    groups = None if column is None else known[column].dropna().astype(str)
    if groups is not None:
        _check_match(where, expression, groups, source)
    covariates = numeric_where_possible(known[list(source.covariates)]) if source.covariates else None
    return Input(expression, groups, column, covariates, digest)


def _group_column(where: Path, known: pd.DataFrame, source: Source) -> str | None:
    names = [str(name) for name in known]
    if source.group_column is not None:
        if source.group_column not in names:
            raise FileError(where, f"has no column {source.group_column!r}; --group-column is one of {listed(names)}.")
        return source.group_column
    if source.samples is None:
        return None
    others = [name for name in names if name not in source.covariates]
    if len(others) != 1:
        raise FileError(where, f"has the columns {listed(names)}; say which holds the groups with --group-column.")
    return others[0]


def _check_match(where: Path, expression: Expression, groups: pd.Series[str], source: Source) -> None:
    """Ask for another column of names if the one in use names no sample, but another does."""
    index = expression.table.index
    if index.isin(groups.index).any() or source.samples is None:
        return
    table = read_samples(source.samples)  # with the first column as names, the rest as it is
    better = [str(name) for name in table if index.isin(table[name].astype(str).str.strip()).any()]
    way_out = f"its column {better[0]!r} does: say --sample-column {better[0]}" if better else (
        "see that both files spell the samples alike, and that --genes-in is right"
    )  # fmt: skip
    raise FileError(
        where,
        f"names none of the samples of {expression.path.name}: it has {listed(list(groups.index[:3]))}, …, and the "
        f"expression has {listed(list(index[:3]))}, …; {way_out}.",
    )
