"""Tables in Parquet files; they end up as one matrix in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fantope.errors import FileError, need, unreadable
from fantope.io.dataset import Content, Reading
from fantope.typing import AnyArray

SLAB = 32 * 2**20  # bytes of numbers converted at a time


def read_parquet(path: Path, reading: Reading) -> Content:
    """Read a .parquet table; a text column in front, or the index that pandas stored, names the rows."""
    arrow, parquet = need("pyarrow"), need("pyarrow.parquet")
    errors = (arrow.ArrowInvalid, OSError)
    with unreadable(path, "is cut off or no Parquet file", *errors), parquet.ParquetFile(path) as file:
        return _table(path, file, arrow)


def _table(path: Path, file: Any, arrow: Any) -> Content:
    schema = file.schema_arrow
    names = [str(name) for name in schema.names]
    types = schema.types  # asked for once: each of these walks through all columns
    stored = {name for name in (schema.pandas_metadata or {}).get("index_columns", []) if isinstance(name, str)}
    index = next((j for j, name in enumerate(names) if name in stored), None)
    if index is None and types and (arrow.types.is_string(types[0]) or arrow.types.is_large_string(types[0])):
        index = 0
    columns = [j for j, name in enumerate(names) if j != index and name not in stored]
    for j in columns:
        if not _is_numeric(types[j], arrow):
            raise FileError(
                path,
                f"column {names[j]!r} holds {types[j]}, not numbers",
                remedy="leave it out, or encode it as numbers",
            )
    single = all(str(types[j]) in ("float", "halffloat") for j in columns)
    values: AnyArray = np.empty((file.metadata.num_rows, len(columns)), dtype=np.float32 if single else np.float64)
    row_names: list[str] = []
    filled = 0
    for batch in file.iter_batches(batch_size=max(1, SLAB // (8 * max(1, len(columns))))):
        stop = filled + batch.num_rows
        for k, j in enumerate(columns):
            values[filled:stop, k] = batch.column(j).cast(arrow.float64()).to_numpy(zero_copy_only=False)
        if index is not None:
            row_names.extend(str(name) for name in batch.column(index).to_pylist())
        filled = stop
    return Content(values, None if index is None else row_names, [names[j] for j in columns])


def _is_numeric(kind: Any, arrow: Any) -> bool:
    types = arrow.types
    return any(
        test(kind) for test in (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    )
