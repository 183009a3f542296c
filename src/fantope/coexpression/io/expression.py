"""Expression tables, sample tables and labels of genes, as biologists keep them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from fantope.checks import is_sparse
from fantope.errors import FileError, Text, Use, listed, need, unreadable
from fantope.io.dataset import Content, Dataset, Reading, loaded
from fantope.io.fingerprint import checksum
from fantope.io.readers import read_content
from fantope.io.text import is_number, readable, sniff

GenesIn = Literal["rows", "columns"]
ANNOTATED = (".h5ad", ".zarr")  # samples are in rows there by convention


def read_expression(
    path: Path, *, genes_in: GenesIn | None = None, samples: pd.Index | None = None, layer: str | None = None
) -> Dataset:
    """Read an expression table of any known format as samples × genes; names may repeat, values may be missing.

    Genes are by default on the axis that ``samples``, names from a table of samples, does not name; files of AnnData
    have them in columns. A FileError asks back if it is not clear where they are.
    """
    if path.exists() and re.search(r"\.(csv|tsv)(\.gz)?$", path.name.lower()):
        _check_second_header(path, sniff(path).rows)
    content = read_content(path, Reading(layer=layer))
    values = loaded(content.values)
    if len(values.shape) != 2 or np.dtype(values.dtype).kind not in "iufb":
        raise FileError(path, f"holds {values.dtype} of shape {tuple(values.shape)}, not a table of numbers")
    values = values.toarray() if is_sparse(values) else values
    where = genes_in or _where(path, content, samples)
    rows, columns = content.row_names, content.column_names
    if where == "rows":
        values, rows, columns = values.T, columns, rows
    if columns is None:
        raise FileError(path, f"has no names for its genes, which it has in {where}", remedy="add them to the table")
    names = [str(name).strip() for name in rows] if rows is not None else [str(k) for k in range(len(values))]
    return Dataset(
        values, [str(name) for name in columns], names, path, content.checksum or checksum(path),
        f"expression, genes in {where}", transposed=where == "rows",
    )  # fmt: skip


def _check_second_header(path: Path, rows: list[list[str]]) -> None:
    """Refuse a table whose second line holds names above lines of numbers."""
    if len(rows) < 3:
        return
    second, third = rows[1][1:], rows[2][1:]
    if second and third and _share(second) < 0.5 and _share(third) > 0.5:
        raise FileError(
            path,
            f"line 2 ({', '.join(rows[1][:4])[:60]}, …) looks like a second header row",
            remedy=(
                "keep one row of names, and put what else is known of the samples into the table for ", Use("samples"),
            ),
        )  # fmt: skip


def _share(fields: list[str]) -> float:
    """Return the share of fields that are numbers or missing."""
    return sum(is_number(field, ",") for field in fields) / len(fields)


def _where(path: Path, content: Content, samples: pd.Index | None) -> GenesIn:
    """Return where the genes are, or ask."""
    if path.suffix.lower() in ANNOTATED:
        return "columns"
    rows, columns = (
        [] if names is None else [str(name).strip() for name in names]
        for names in (content.row_names, content.column_names)
    )
    shape = f"{content.values.shape[0]} rows ({listed(rows[:3]) or 'without names'}, …) and "
    shape += f"{content.values.shape[1]} columns ({listed(columns[:3]) or 'without names'}, …)"
    ask: Sequence[str | Use] = (
        ": are the genes in rows or in columns? Say ", Use("genes_in", "rows"), " or ", Use("genes_in", "columns"),
    )  # fmt: skip
    if samples is None:
        raise FileError(path, (f"has {shape}", *ask))
    known = set(samples)
    in_rows, in_columns = len(known.intersection(rows)), len(known.intersection(columns))
    if bool(in_rows) == bool(in_columns):
        found = "both name samples" if in_rows else "neither names a sample"
        alike = () if in_rows else (", and see that both files spell the samples alike",)
        raise FileError(
            path,
            (
                f"has {shape}, and {found} of the table of samples, which has {listed(list(samples[:3]))}, …",
                *ask,
                *alike,
            ),
        )
    return "columns" if in_rows else "rows"


def read_annotation(path: Path) -> pd.DataFrame | None:
    """Return what an .h5ad file knows of its samples; None for another format."""
    if path.suffix.lower() != ".h5ad":
        return None
    h5py, elements = need("h5py"), need("anndata.io", "expression")
    errors, what = (OSError, KeyError, ValueError), "has no readable table of samples, obs"
    with unreadable(path, what, *errors), h5py.File(path, "r") as file:
        frame: Any = elements.read_elem(file["obs"])
    return pd.DataFrame(frame).set_axis(frame.index.astype(str).str.strip())


def read_samples(path: Path, sample_column: str | None = None) -> pd.DataFrame:
    """Read a table of samples: one row a sample, named by the first column or by ``sample_column``."""
    table = _read_text(path)
    if sample_column is not None and sample_column not in table:
        raise FileError(
            path,
            f"has no column {sample_column!r}",
            remedy=(Use("sample_column"), f" is one of {listed([str(name) for name in table])}"),
        )
    names = table.columns[0] if sample_column is None else sample_column
    if table[names].isna().any():
        raise FileError(path, f"column {names!r}, which names the samples, is empty in some rows", remedy="fill it in")
    return table.set_index(table[names].astype(str).str.strip().rename(None)).drop(columns=names)


def _read_text(path: Path) -> pd.DataFrame:
    """Read a small table of text and numbers."""
    if not path.exists():
        raise FileError(path, "there is no such file", remedy="check the path")
    if path.suffix.lower() == ".parquet":
        need("pyarrow")
        table = pd.read_parquet(path)
        return table if isinstance(table.index, pd.RangeIndex) else table.reset_index()
    errors = (pd.errors.ParserError, pd.errors.EmptyDataError)
    with readable(path), unreadable(path, "is not a table", *errors, remedy="give every line as many fields"):
        # Text first: a sample called 007 or a gene called NaN keeps its name.
        table = pd.read_csv(
            path, sep=sniff(path).separator, dtype=str, keep_default_na=False, encoding="utf-8-sig",
            skipinitialspace=True,
        )  # fmt: skip
    return table.replace({"": None, "NA": None})


def numeric_where_possible(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table with columns of numbers as numbers."""
    converted = {name: pd.to_numeric(table[name], errors="coerce") for name in table}
    return pd.DataFrame(
        {name: numbers if numbers.notna().eq(table[name].notna()).all() else table[name] for name, numbers in
         converted.items()},
        index=table.index,
    )  # fmt: skip


def read_labels(path: Path, column: str | None = None, several: Text = "") -> pd.Series[str]:
    """Read labels by gene: from a table with genes in its first column, or a .gmt file of gene sets.

    ``column`` is needed if the table has several, unless ``several`` says what else to do about it. A gene that is in
    several sets occurs once for each.
    """
    if path.suffix.lower() == ".gmt":
        return _read_gmt(path)
    table = _read_text(path)
    names = [str(name) for name in table.columns[1:]]
    if column is None and len(names) > 1:
        remedy = several or ("say which with ", Use("labels", f"{path}:{names[0]}"))
        raise FileError(path, f"has the columns {listed(names)}", remedy=remedy)
    if column is not None and column not in names:
        raise FileError(path, f"has no column {column!r}", remedy=f"choose one of {listed(names)}")
    genes, labels = table.iloc[:, 0].astype(str).str.strip(), table[column or names[0]]
    found = pd.Series(labels.to_numpy(), index=pd.Index(genes)).dropna().astype(str)
    return found[~pd.MultiIndex.from_arrays([found.index, found]).duplicated()]


def _read_gmt(path: Path) -> pd.Series[str]:
    if not path.exists():
        raise FileError(path, "there is no such file", remedy="check the path")
    genes, labels = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        if not line.strip():
            continue
        fields = [field.strip() for field in line.split("\t")]
        if len(fields) < 3:
            way_out = "a .gmt line is name, description, genes, by tabs"
            raise FileError(path, f"line {number} has no genes", remedy=way_out)
        members = list(dict.fromkeys(field for field in fields[2:] if field))
        genes += members
        labels += [fields[0]] * len(members)
    if not genes:
        raise FileError(path, "is empty", remedy="check how it was written")
    return pd.Series(labels, index=pd.Index(genes), dtype=str)
