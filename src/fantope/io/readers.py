"""From a path to data: choose the reader, put samples into rows, see to names and missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fantope.checks import is_sparse
from fantope.errors import FileError, Use, listed
from fantope.io.arrays import read_npy, read_npz
from fantope.io.dataset import Content, Dataset, Reading, in_file, loaded
from fantope.io.fingerprint import checksum
from fantope.io.missing import impute
from fantope.io.parquet import read_parquet
from fantope.io.stores import read_h5ad, read_zarr
from fantope.io.text import read_text

Reader = Callable[[Path, Reading], Content]

# By ending; the first that a name ends in counts. A reader of another format is one more line here.
READERS: dict[str, Reader] = {
    ".csv": read_text,
    ".tsv": read_text,
    ".csv.gz": read_text,
    ".tsv.gz": read_text,
    ".parquet": read_parquet,
    ".npy": read_npy,
    ".npz": read_npz,
    ".h5ad": read_h5ad,
    ".zarr": read_zarr,
}
SEVERAL = {".npz", ".h5ad", ".zarr"}  # formats whose files may hold several matrices
FOLDERS = {".zarr"}  # formats whose files may be folders


def read(path: str | Path, reading: Reading | None = None) -> Dataset:
    r"""Read samples × variables from a file of any known format.

    Parameters
    ----------
    path : str or Path
        .csv, .tsv (both also .gz), .parquet, .npy, .npz, .h5ad or .zarr. Dense .npy, .h5ad and .zarr matrices stay
        in the file; sparse ones stay sparse; the other formats become a matrix in memory.
    reading : Reading, optional

    Returns
    -------
    Dataset

    Raises
    ------
    FileError
        A ``ValueError`` with one sentence that names the file, the place and the way out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "table.csv"
    ...     _ = file.write_text("sample,a,b\ns1,1,2\ns2,3,5\n")
    ...     data = read(str(file))
    >>> data.variables, data.samples, data.values.tolist()
    (['a', 'b'], ['s1', 's2'], [[1.0, 2.0], [3.0, 5.0]])
    """
    path, reading = Path(path), Reading() if reading is None else reading
    return arranged(read_content(path, reading), path, reading)


def read_content(path: Path, reading: Reading) -> Content:
    """Return what a file holds as it stands: rows and columns not yet samples and variables."""
    ending = next((ending for ending in READERS if path.name.lower().endswith(ending)), None)
    if not path.exists():
        raise FileError(path, "there is no such file", remedy="check the path")
    if path.is_dir() and ending not in FOLDERS:
        raise FileError(path, f"is a folder; DATA is a file ({', '.join(READERS)})")
    if ending is None:
        raise FileError(path, f"has none of the endings {', '.join(READERS)}", remedy="convert it or rename it")
    if reading.layer is not None and ending not in SEVERAL:
        raise FileError(path, "holds a single matrix", remedy=("leave out ", Use("layer")))
    return READERS[ending](path, reading)


def arranged(content: Content, path: Path, reading: Reading) -> Dataset:
    """Put samples into rows and name both sides; everything a reader need not know of the options."""
    values = content.values
    if len(values.shape) != 2:
        raise FileError(path, f"holds an array of shape {tuple(values.shape)}; DATA has two dimensions")
    if np.dtype(values.dtype).kind not in "iufb":
        raise FileError(path, f"holds {values.dtype}, not real numbers", remedy="convert it to floats")
    rows, columns = content.row_names, content.column_names
    if reading.transpose:
        rows, columns = columns, rows
        values = values.T if hasattr(values, "T") and not in_file(values) else loaded(values).T
    n, p = (int(size) for size in values.shape)
    samples = _named(path, rows, n, "", "samples")
    variables = _named(path, columns, p, "x", "variables")
    if n < 2:
        raise FileError(
            path,
            f"has {n} sample{'' if n == 1 else 's'} ({p} variables); at least 2 are needed",
            remedy=("if its rows are the variables, say ", Use("transpose", True)),
        )
    if p < 2:
        raise FileError(path, f"has {p} variable{'' if p == 1 else 's'} ({n} samples); at least 2 are needed")
    data = Dataset(
        values, variables, samples, path, content.checksum or checksum(path), _describe(values, path),
        first_line=content.first_line, transposed=reading.transpose, layout=content.layout,
    )  # fmt: skip
    return impute(_unique(data, reading), reading)


def _named(path: Path, names: Any, size: int, prefix: str, what: str) -> list[str]:
    if names is None:
        return [f"{prefix}{k}" for k in range(size)]
    if len(names) != size:
        raise FileError(
            path, f"has {size} {what} but {len(names)} names for them", remedy="correct the names or leave them out"
        )
    return [str(name).strip() or f"{prefix}{k}" for k, name in enumerate(names)]


def _describe(values: Any, path: Path) -> str:
    kind = "sparse" if is_sparse(values) else "read from the file" if in_file(values) else "dense"
    ending = "".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix
    return f"{ending.lstrip('.')}, {kind}, {values.dtype}"


def _unique(data: Dataset, reading: Reading) -> Dataset:
    """See to variables that share a name."""
    counts = Counter(data.variables)
    if len(counts) == len(data.variables):
        return data
    if reading.duplicates == "suffix":
        return replace(data, variables=_suffixed(data.variables))
    if reading.duplicates == "first":
        first = {name: k for k, name in reversed(list(enumerate(data.variables)))}
        return data.keep(np.array(sorted(first.values()), dtype=np.intp), "name seen before")
    repeated = [name for name, count in counts.items() if count > 1]
    one = len(repeated) == 1
    raise FileError(
        data.path,
        f"{len(repeated)} variable name{' occurs' if one else 's occur'} more than once: {listed(repeated)}",
        remedy=(
            "say ", Use("duplicates", "suffix"), " to tell them apart, or ", Use("duplicates", "first"),
            " to keep one of each",
        ),
    )  # fmt: skip


def _suffixed(names: list[str]) -> list[str]:
    """Return distinct names: the second "a" becomes "a.1", unless there is one already."""
    taken, result = set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        candidate, number = name, seen[name]
        if number:
            while (candidate := f"{name}.{number}") in taken:
                number += 1
            taken.add(candidate)
        seen[name] = number + 1
        result.append(candidate)
    return result
