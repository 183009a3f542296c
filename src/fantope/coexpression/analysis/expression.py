"""From a table of expression and a list of groups to numbers that can be correlated, with a sentence on each step."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from fantope.coexpression.analysis.covariates import regress_out
from fantope.errors import InputError, Use, check_choice, listed, require
from fantope.typing import Array

Transform = Literal["none", "log1p", "log-cpm"]
Missing = Literal["error", "mean", "drop"]
Mangled = Literal["error", "drop"]

SMALLEST_GROUP = 5  # with n samples a chance correlation has standard deviation 1/√(n − 1): at 4, more than one half
EXPRESSED_CPM = 1.0  # counts per million above which a gene counts as expressed in a sample
MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec"
DATE = re.compile(
    rf"(\d{{1,2}}[-/ .]({MONTHS})([-/ .]\d{{2,4}})?"  # 1-Mar, 01-Mar-2021
    rf"|({MONTHS})[-/ .]\d{{1,4}}"  # Mar-01
    r"|\d{4}-\d{2}-\d{2}([ T]00:00:00(\.0+)?)?"  # 2021-03-01
    r"|\d{1,2}/\d{1,2}/\d{2,4})",  # 3/1/2021
    re.IGNORECASE,
)
SERIAL = re.compile(r"[34]\d{4}(\.0)?")  # days since 1900: 1-Mar-2021 is 44256


@dataclass(frozen=True, eq=False)
class Prepared:
    """Expression that can be analysed.

    Attributes
    ----------
    expression : DataFrame
        Samples × genes: finite, names unique, every gene varying in every group.
    groups : Series
        Group of each sample, with the index of ``expression``.
    notes : tuple of str
        What was done, in sentences.
    designs : dict of str to (n, q) array
        For each group the covariates that were regressed out, as numbers; empty without covariates.
    """

    expression: pd.DataFrame
    groups: pd.Series[str]
    notes: tuple[str, ...]
    designs: Mapping[str, Array] = field(default_factory=dict)


def prepare(
    expression: pd.DataFrame,
    groups: Any = None,
    *,
    transform: Transform = "none",
    min_expressed: float = 0.5,
    covariates: pd.DataFrame | None = None,
    missing: Missing = "error",
    mangled: Mangled = "error",
) -> Prepared:
    """Check, transform and filter expression.

    The steps, in this order: match samples with groups; missing values; the transform; duplicated names (of genes with
    the same name the one with the largest mean is kept); genes that are not expressed; covariates; genes that do not
    vary in some group.

    Parameters
    ----------
    expression : DataFrame of samples × genes
    groups : Series, dict or sequence, optional
        Group of each sample, by name, or in the order of the rows. Samples without a group are left out. By default all
        samples are one group, called "all".
    transform : {"none", "log1p", "log-cpm"}
        "log1p" is log(1 + x). "log-cpm" is log₂(1 + counts per million), for raw counts.
    min_expressed : float, default 0.5
        Share of all samples in which a gene must be expressed to be kept: more than one count per million with
        "log-cpm", otherwise any value but zero. 0 keeps all genes.
    covariates : DataFrame of samples × covariates, optional
        Regressed out of each gene within each group: numbers linearly, anything else by its levels.
    missing : {"error", "mean", "drop"}
        What to do with missing values: refuse, fill with the gene's mean in the group, or drop the gene.
    mangled : {"error", "drop"}
        What to do with gene names that a spreadsheet turned into dates.

    Returns
    -------
    Prepared

    Examples
    --------
    >>> import pandas as pd
    >>> counts = pd.DataFrame({"TP53": range(1, 7), "MYC": [9, 4, 7, 1, 8, 2], "OFF": [0] * 6}, dtype=float)
    >>> found = prepare(counts, transform="log1p")
    >>> list(found.expression), found.notes[-1]
    (['TP53', 'MYC'], '1 gene is left out because it is not zero in fewer than 50 % of the samples.')
    """
    check_choice("transform", transform, get_args(Transform))
    check_choice("missing", missing, get_args(Missing))
    check_choice("mangled", mangled, get_args(Mangled))
    require(0.0 <= min_expressed <= 1.0, "min_expressed", "be a share between 0 and 1", repr(min_expressed))
    notes: list[str] = []
    table, labels = _match(expression, groups, notes)
    table = _named(table, mangled, notes)
    table = _filled(table, labels, missing, notes)
    table = _transformed(table, transform, min_expressed, notes)
    designs: dict[str, Array] = {}
    if covariates is not None:
        table, designs = regress_out(table, labels, covariates, notes)
    table = _varying(table, labels, notes)
    if table.shape[1] < 2:
        raise InputError(
            f"expression must have at least 2 genes after filtering, got {table.shape[1]}",
            remedy=("lower ", Use("min_expressed"), ", and see whether genes are in columns and samples in rows"),
        )
    return Prepared(table, labels, tuple(notes), designs)


def _match(expression: pd.DataFrame, groups: Any, notes: list[str]) -> tuple[pd.DataFrame, pd.Series[str]]:
    """Return the samples that have a group, and their groups."""
    if not isinstance(expression, pd.DataFrame):
        raise ValueError(f"expression must be a DataFrame of samples × genes, got {type(expression).__name__}.")
    if expression.index.has_duplicates:
        twice = expression.index[expression.index.duplicated()].unique()
        raise ValueError(f"expression must name each sample once, got {listed(twice)} more than once; rename them.")
    if groups is None:
        labels = pd.Series("all", index=expression.index)
    elif isinstance(groups, pd.Series | dict):
        given = pd.Series(groups)
        if given.index.has_duplicates:
            twice = given.index[given.index.duplicated()].unique()
            raise ValueError(f"groups must name each sample once, got {listed(twice)} more than once.")
        labels = given.reindex(expression.index)
        if labels.isna().all():
            raise ValueError(
                "groups must name samples of expression, but none matches: expression has "
                f"{listed(expression.index)}, groups has {listed(given.index)}; see whether one of them is transposed "
                "or spelt differently."
            )
        extra = given.index.difference(expression.index)
        if len(extra):
            notes.append(
                f"{_count(len(extra), 'sample')} ignored: in a group, but without expression ({listed(extra)})."
            )
    else:
        values = list(groups)
        if len(values) != len(expression):
            raise ValueError(
                f"groups must have one entry for each of the {len(expression)} samples, got {len(values)}; pass a "
                "Series with the samples' names to match by name."
            )
        labels = pd.Series(values, index=expression.index)
    without = labels.index[labels.isna()]
    if len(without):
        notes.append(f"{_count(len(without), 'sample')} left out for want of a group: {listed(without)}.")
    labels = labels.dropna().astype(str)
    for name, n in labels.value_counts(sort=False).items():
        if n < SMALLEST_GROUP:
            raise InputError(
                f"groups must have at least {SMALLEST_GROUP} samples each, got {n} in group {name!r}: correlations of "
                "so few samples say nothing",
                remedy=("add samples, or leave that group out of ", Use("groups")),
            )
    return expression.loc[labels.index], labels


def _named(table: pd.DataFrame, mangled: Mangled, notes: list[str]) -> pd.DataFrame:
    """Return the table with gene names as text, without those that a spreadsheet spoilt."""
    nameless = table.columns.isna() | (table.columns.astype(str).str.strip() == "")
    if nameless.any():
        notes.append(f"{_count(int(nameless.sum()), 'gene')} left out for want of a name.")
        table = table.loc[:, ~nameless]
    spoilt = mangled_names(table.columns)
    table = table.set_axis(table.columns.astype(str).str.strip(), axis=1)
    if len(spoilt):
        what = f"gene names that a spreadsheet has turned into dates: {listed(spoilt)}"
        if mangled == "error":
            raise InputError(
                f"expression has {what}",
                remedy=(
                    "restore them from the original table (1-Mar was MARCHF1 or MTARC1, 2-Sep was SEPTIN2), or leave "
                    "them out with ", Use("mangled", "drop"),
                ),
            )  # fmt: skip
        notes.append(f"Left out are {len(spoilt)} {what}.")
        table = table.loc[:, ~table.columns.isin([str(name).strip() for name in spoilt])]
    return table


def _filled(table: pd.DataFrame, labels: pd.Series[str], missing: Missing, notes: list[str]) -> pd.DataFrame:
    """Return the table as finite doubles."""
    text = [str(name) for name, kind in zip(table.columns, table.dtypes, strict=True) if kind.kind not in "iufb"]
    if text:
        raise ValueError(
            f"expression must hold numbers only, got text in {listed(pd.Index(text))}; see whether the file has a "
            "second header row or a column of descriptions."
        )
    values = table.to_numpy(dtype=np.float64)
    if np.isinf(values).any():
        where = table.columns[np.isinf(values).any(axis=0)]
        raise ValueError(f"expression must be finite, got infinity in {listed(where)}; log of zero? Use log1p instead.")
    holes = np.isnan(values)
    if not holes.any():
        return pd.DataFrame(values, index=table.index, columns=table.columns)
    where = table.columns[holes.any(axis=0)]
    share = f"{int(holes.sum())} missing values ({100 * holes.mean():.2g} %) in {len(where)} genes"
    if missing == "error":
        raise InputError(
            f"expression must have no missing values, got {share}, among them {listed(where)}",
            remedy=(
                "fill them with the gene's mean in the group (", Use("missing", "mean"),
                ") or leave those genes out (", Use("missing", "drop"), ")",
            ),
        )  # fmt: skip
    if missing == "mean":
        keep = np.ones(values.shape[1], dtype=bool)
        for name in labels.unique():
            rows = (labels == name).to_numpy()
            known = (~holes[rows]).sum(axis=0)
            keep &= known > 0
            means = np.where(holes[rows], 0.0, values[rows]).sum(axis=0) / np.maximum(known, 1)
            values[rows] = np.where(holes[rows], means, values[rows])
        notes.append(f"{share} are filled with the gene's mean in the group.")
        if not keep.all():
            notes.append(f"{_count(int((~keep).sum()), 'gene')} left out: no value at all in some group.")
    else:
        keep = ~holes.any(axis=0)
        notes.append(f"{_count(len(where), 'gene')} left out: {share}.")
    return pd.DataFrame(values[:, keep], index=table.index, columns=table.columns[keep])


def _transformed(table: pd.DataFrame, transform: Transform, min_expressed: float, notes: list[str]) -> pd.DataFrame:
    """Return the transformed table, one gene a name, without genes that are not expressed."""
    values = table.to_numpy(copy=True)
    if transform != "none" and (values < 0.0).any():
        where = table.columns[np.flatnonzero((values < 0.0).any(axis=0))]
        raise InputError(
            (Use("transform", transform), f" needs values of zero or more, got negative ones in {listed(where)}"),
            remedy=("these are logarithms already: use ", Use("transform", "none")),
        )
    expressed, rule = (values != 0.0).mean(axis=0), "not zero"
    if transform == "log-cpm":
        depth = values.sum(axis=1)
        if (depth == 0.0).any():
            empty = listed(table.index[depth == 0.0])
            raise InputError(
                (Use("transform", "log-cpm"), f" needs counts in every sample, got none in {empty}"),
                remedy="leave those samples out",
            )
        values *= 1e6 / depth[:, None]
        expressed, rule = (values > EXPRESSED_CPM).mean(axis=0), "above 1 count per million"
        values = np.log2(values + 1.0)
        notes.append("Counts are transformed to log₂(1 + counts per million).")
    elif transform == "log1p":
        values = np.log1p(values)
        notes.append("Values are transformed to log(1 + x).")
    keep = expressed >= min_expressed
    kept = pd.DataFrame(values[:, keep], index=table.index, columns=table.columns[keep])
    kept = _one_per_name(kept, notes)
    dropped = int((~keep).sum())
    if dropped:
        notes.append(
            f"{_count(dropped, 'gene')} left out because {'it is' if dropped == 1 else 'they are'} {rule} in fewer "
            f"than {100 * min_expressed:g} % of the samples."
        )
    return kept


def _one_per_name(table: pd.DataFrame, notes: list[str]) -> pd.DataFrame:
    """Keep, of columns with the same name, the one with the largest mean; the order of the names stays."""
    if not table.columns.has_duplicates:
        return table
    means = table.to_numpy().mean(axis=0)
    order = np.argsort(-means, kind="stable")
    first = order[~table.columns[order].duplicated()]
    repeated = table.columns[table.columns.duplicated()].unique()
    notes.append(
        f"{_count(table.shape[1] - len(first), 'row')} left out because of "
        f"{_count(len(repeated), 'duplicated name', verb='')}; of each name the one with the largest mean "
        f"expression is kept: {listed(repeated)}."
    )
    return table.iloc[:, np.sort(first)]


def _varying(table: pd.DataFrame, labels: pd.Series[str], notes: list[str]) -> pd.DataFrame:
    """Leave out genes that do not vary in some group: they have no correlation there."""
    parts = [table.to_numpy()[(labels == name).to_numpy()] for name in labels.unique()]
    varying: NDArray[np.bool_] = np.logical_and.reduce([_spread(part) for part in parts])
    if not varying.all():
        notes.append(
            f"{_count(int((~varying).sum()), 'gene')} left out for not varying in some group: "
            f"{listed(table.columns[~varying])}."
        )
    return table.loc[:, varying]


def _spread(values: Array) -> NDArray[np.bool_]:
    # Residuals of a regression are never exactly constant: rounding does not count as variation.
    return np.asarray(values.std(axis=0) > 1e-12 * (np.abs(values).max(axis=0) + np.finfo(float).tiny))


def _count(n: int, what: str, verb: str | None = None) -> str:
    """Return "1 gene is", "3 genes are"."""
    word = what if n == 1 else f"{what}s"
    return f"{n:,} {word} {('is' if n == 1 else 'are') if verb is None else verb}".strip()


def mangled_names(names: pd.Index) -> pd.Index:
    """Return the names that look like dates: MARCH1 saved by a spreadsheet as 1-Mar, 2021-03-01 or 44256.

    Numbers count only where names are text for the most part; where they are numbers throughout they are identifiers.

    Examples
    --------
    >>> import pandas as pd
    >>> list(mangled_names(pd.Index(["TP53", "1-Mar", "Sep-02", "MARCHF1", "44256", "2021-03-01", "H2-K1"])))
    ['1-Mar', 'Sep-02', '44256', '2021-03-01']
    >>> list(mangled_names(pd.Index([44256, 7157, 4609])))
    []
    """
    text = [str(name).strip() for name in names]
    numbers = sum(name.replace(".0", "").isdigit() for name in text)
    serial = numbers <= 0.5 * len(text)
    return names[[bool(DATE.fullmatch(name)) or (serial and bool(SERIAL.fullmatch(name))) for name in text]]
