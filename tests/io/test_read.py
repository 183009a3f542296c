"""Every format gives the same data; every bad file gives one sentence."""

import gzip
import io
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import fantope
from fantope.errors import FileError
from fantope.io import READERS, Content, Reading, checksum, operator, read
from fantope.io.text import sniff
from fantope.io.weights import read_groups

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 5)) @ np.diag([3.0, 1.0, 1.0, 0.5, 2.0])
X[:, 1] += X[:, 0]
GENES = ["BRCA1", "TP53", "a b", "MYC", "2-Mar"]
SAMPLES = [f"s{k}" for k in range(12)]
FRAME = pd.DataFrame(X, index=SAMPLES, columns=GENES)


def write_h5ad(path, matrix=X, **layers):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(matrix, obs=FRAME[[]], var=FRAME.T[[]], layers=layers).write_h5ad(path)


def write_zarr_anndata(path, matrix=X, **layers):
    anndata = pytest.importorskip("anndata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the version of zarr that anndata writes
        anndata.AnnData(matrix, obs=FRAME[[]], var=FRAME.T[[]], layers=layers).write_zarr(path)


def write_zarr(path, chunks=(4, 2), fill=True):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(str(path), shape=X.shape, chunks=chunks, dtype="float64")
    if fill:
        array[...] = X


WRITERS = {
    "csv": lambda path: FRAME.to_csv(path),
    "csv.gz": lambda path: FRAME.to_csv(path),
    "tsv": lambda path: FRAME.to_csv(path, sep="\t", index_label="sample"),
    "tsv.gz": lambda path: FRAME.to_csv(path, sep="\t"),
    "parquet": lambda path: FRAME.to_parquet(path),
    "npz": lambda path: np.savez(path, X=X, variables=GENES, samples=SAMPLES),
    "h5ad": write_h5ad,
    "anndata.zarr": write_zarr_anndata,
}


@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_gives_the_same_data(ending, tmp_path):
    path = tmp_path / f"data.{ending}"
    WRITERS[ending](path)
    data = read(path)
    assert data.variables == GENES and data.samples == SAMPLES and data.shape == X.shape
    np.testing.assert_array_equal(np.asarray(data.values[...]), X)
    assert data.checksum == checksum(path) and len(data.checksum) == 64
    _, S = operator(data, "correlation")
    everything = np.arange(5)
    expected = fantope.covariance(X, kind="correlation")
    np.testing.assert_allclose(S.block(everything, everything), expected.block(everything, everything), atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("ending", WRITERS)
def test_every_format_can_be_transposed(ending, tmp_path):
    path = tmp_path / f"data.{ending}"
    WRITERS[ending](path)
    data = read(path, Reading(transpose=True))
    assert data.variables == SAMPLES and data.samples == GENES
    np.testing.assert_array_equal(np.asarray(data.values[...]), X.T)
    operator(data, "covariance")


def test_npy_is_mapped_and_zarr_stays_in_its_store(tmp_path):
    np.save(tmp_path / "data.npy", X.astype(np.float32))
    write_zarr(tmp_path / "data.zarr")
    mapped, stored = read(tmp_path / "data.npy"), read(tmp_path / "data.zarr")
    assert isinstance(mapped.values, np.memmap) and mapped.values.dtype == np.float32
    assert not isinstance(stored.values, np.ndarray)
    np.testing.assert_array_equal(stored.values[...], X)
    assert mapped.variables == ["x0", "x1", "x2", "x3", "x4"] and mapped.samples[-1] == "11"


SPARSE = scipy.sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr"])
def test_sparse_npz_stays_sparse(kind, tmp_path):
    scipy.sparse.save_npz(tmp_path / "data.npz", SPARSE.asformat(kind))
    for transpose in (False, True):
        data = read(tmp_path / "data.npz", Reading(transpose=transpose))
        assert scipy.sparse.issparse(data.values)
        np.testing.assert_array_equal(data.values.toarray(), SPARSE.toarray().T if transpose else SPARSE.toarray())


@pytest.mark.slow
@pytest.mark.parametrize("write", [write_h5ad, write_zarr_anndata])
@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, scipy.sparse.csc_matrix])
def test_sparse_layers_stay_sparse(write, make, tmp_path):
    path = tmp_path / ("data.h5ad" if write is write_h5ad else "data.zarr")
    write(path, X, counts=make(SPARSE))
    data = read(path, Reading(layer="counts"))
    assert scipy.sparse.issparse(data.values) and data.variables == GENES
    np.testing.assert_array_equal(data.values.toarray(), SPARSE.toarray())
    with pytest.raises(FileError, match="has the layers 'counts', not 'other'"):
        read(path, Reading(layer="other"))


def text(table, **options):
    return lambda path: table.to_csv(path, **options)


@pytest.mark.parametrize(
    ("write", "named", "labelled"),
    [
        (text(FRAME, index=False), True, False),
        (text(FRAME, header=False), False, True),
        (text(FRAME, header=False, index=False), False, False),
        (text(FRAME, sep=";", decimal=","), True, True),
        (text(FRAME, sep="\t"), True, True),
        (text(pd.DataFrame(X)), False, False),
        (text(pd.DataFrame(X), index=False), False, False),
        (lambda path: path.write_text(FRAME.to_csv()[1:]), True, True),  # as R writes it: no name above the row names
        (lambda path: path.write_bytes(b"\xef\xbb\xbf" + FRAME.to_csv(lineterminator="\r\n").encode()), True, True),
        (lambda path: path.write_text("\n" + FRAME.to_csv() + "\n\n"), True, True),
        (lambda path: path.write_text(FRAME.to_csv(quoting=1)), True, True),
    ],
    ids=["no index", "no header", "bare", "semicolons", "tabs", "counted", "counted, no index", "R", "Windows",
         "blank lines", "quoted"],
)  # fmt: skip
def test_layouts_of_text(write, named, labelled, tmp_path):
    write(tmp_path / "data.csv")
    data = read(tmp_path / "data.csv")
    np.testing.assert_array_equal(data.values, X)
    if named:
        assert data.variables == GENES
    if labelled:
        assert data.samples == SAMPLES


def test_layout_can_be_told(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("id,2001,2002\n17,1,2\n18,3,5\n")
    assert read(path).variables == ["id", "2001", "2002"]
    data = read(path, Reading(row_names="yes"))
    assert data.variables == ["2001", "2002"] and data.samples == ["17", "18"]
    path.write_text("1,2\n3,4\n5,7\n")
    assert read(path).shape == (3, 2)
    assert read(path, Reading(header="yes")).variables == ["1", "2"]


@pytest.mark.slow
def test_long_text_is_read_in_slabs(tmp_path, monkeypatch):
    import fantope.io.text as delimited

    monkeypatch.setattr(delimited, "BLOCK", 100)
    FRAME.to_csv(tmp_path / "data.csv")
    np.testing.assert_array_equal(read(tmp_path / "data.csv").values, X)
    broken = FRAME.astype(object)
    broken.iloc[9, 3] = "high"
    broken.to_csv(tmp_path / "broken.csv")
    with pytest.raises(FileError, match=r"line 11, column 'MYC' holds the text 'high'"):
        read(tmp_path / "broken.csv")


def says(path, words, reading=None, kind="covariance"):
    """The error is one sentence that names the file."""
    with pytest.raises(FileError, match=words) as caught:
        operator(read(path, reading), kind, drop_constant=bool(reading and reading.drop_constant))
    assert path.name in str(caught.value) and "\n" not in str(caught.value) and str(caught.value).endswith(".")


def test_missing_and_unknown_files(tmp_path):
    says(tmp_path / "none.csv", "there is no such file")
    (tmp_path / "data.xlsx").touch()
    says(tmp_path / "data.xlsx", r"has none of the endings \.csv")
    (tmp_path / "folder.csv").mkdir()
    says(tmp_path / "folder.csv", "is a folder")
    np.save(tmp_path / "a.npy", X)
    says(tmp_path / "a.npy", "leave out layer", Reading(layer="x"))


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "parquet", "npy", "npz", "h5ad", "zarr"])
def test_empty_files(ending, tmp_path):
    path = tmp_path / f"data.{ending}"
    path.write_bytes(gzip.compress(b"") if ending.endswith("gz") else b"")
    says(path, "is empty|cut off or no|is no zarr")


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "npy", "npz", "h5ad"])
def test_truncated_files(ending, tmp_path):
    whole = tmp_path / f"whole.{ending}"
    (WRITERS.get(ending) or (lambda path: np.save(path, X)))(whole)
    path = tmp_path / f"data.{ending}"
    content = whole.read_bytes()
    path.write_bytes(content[: int(0.7 * len(content))])
    says(path, r"line 10 has 3 of 6 fields; the file may be cut off|end early|cut off or no")


def test_text_that_is_none(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"a,b\n\xff\xfe,1\n")
    says(path, "is not UTF-8 text")
    path.write_text("a,b,c\n")
    says(path, "one line of names and no numbers")
    path.write_text("a\n1\n2\n")
    says(path, "has a single column")
    path.write_text("a,b,c,d\n1,2\n3,4\n")
    says(path, "line 1 has 4 fields, but line 2 has 2")
    path.write_text("a,b\n1,2\n3,4,5\n")
    says(path, "line 3 has 3 of 2 fields")
    path.write_text('a,b\n1,2\n"3,4",5,6\n')
    says(path, "cannot be split into columns")


def test_columns_of_text_are_named(tmp_path):
    FRAME.assign(sex="f").to_csv(tmp_path / "data.csv")
    says(tmp_path / "data.csv", r"line 2, column 'sex' holds the text 'f'; leave that column out")
    FRAME.assign(sex="f").to_csv(tmp_path / "bare.csv", header=False, index=False)
    says(tmp_path / "bare.csv", r"column (6|'f')")
    FRAME.assign(sex="f").to_parquet(tmp_path / "data.parquet")
    says(tmp_path / "data.parquet", r"column 'sex' holds (large_)?string, not numbers")
    np.save(tmp_path / "text.npy", np.array([["a", "b"], ["c", "d"]]))
    says(tmp_path / "text.npy", "not real numbers")
    np.save(tmp_path / "objects.npy", np.array([[1, "b"], ["c", 2]], dtype=object))
    says(tmp_path / "objects.npy", "holds Python objects")
    np.save(tmp_path / "complex.npy", X * 1j)
    says(tmp_path / "complex.npy", "complex128, not real numbers")


def test_arrays_of_the_wrong_shape_or_ending(tmp_path):
    np.save(tmp_path / "cube.npy", np.zeros((2, 3, 4)))
    says(tmp_path / "cube.npy", r"shape \(2, 3, 4\)")
    np.savez(tmp_path / "two.npz", a=X, b=X)
    says(tmp_path / "two.npz", "holds the matrices 'a', 'b' and none called 'X'")
    np.testing.assert_array_equal(read(tmp_path / "two.npz", Reading(layer="b")).values, X)
    says(tmp_path / "two.npz", "has no array 'c'", Reading(layer="c"))
    np.savez(tmp_path / "none.npz", a=X[0])
    says(tmp_path / "none.npz", "holds no matrix of numbers")
    np.savez(tmp_path / "names.npz", X=X, variables=["a", "b"])
    says(tmp_path / "names.npz", "has 5 variables but 2 names")
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "x.npy").rename(tmp_path / "x.npz")
    says(tmp_path / "x.npz", r"ending \.npy")
    np.savez(tmp_path / "y.npz", X=X)
    (tmp_path / "y.npz").rename(tmp_path / "y.npy")
    says(tmp_path / "y.npy", r"ending \.npz")


@pytest.mark.slow
@pytest.mark.parametrize("ending", WRITERS)
def test_missing_values_want_a_choice(ending, tmp_path, monkeypatch):
    gaps = X.copy()
    gaps[3, 1] = gaps[5, 1] = np.nan
    monkeypatch.setitem(globals(), "X", gaps)
    monkeypatch.setitem(globals(), "FRAME", pd.DataFrame(gaps, index=SAMPLES, columns=GENES))
    path = tmp_path / f"data.{ending}"
    {"h5ad": lambda p: write_h5ad(p, gaps), "anndata.zarr": lambda p: write_zarr_anndata(p, gaps)}.get(
        ending, WRITERS[ending]
    )(path)
    where = r"line 5 \(variable 'TP53', sample 's3'\)" if "sv" in ending else "variable 'TP53', sample 's3'"
    says(path, rf"2 values are missing, the first in {where}; say impute='mean'")
    filled = read(path, Reading(impute="mean"))
    mean = np.nanmean(gaps[:, 1])
    np.testing.assert_allclose(np.asarray(filled.values[...])[[3, 5], 1], mean)
    dropped = read(path, Reading(impute="drop"))
    assert dropped.variables == [name for name in GENES if name != "TP53"]
    assert dropped.dropped == (("TP53", "missing values"),)
    np.testing.assert_array_equal(np.asarray(dropped.values[...]), np.delete(gaps, 1, axis=1))


def test_missing_values_of_a_sparse_matrix(tmp_path):
    gaps = SPARSE.copy()
    gaps.data[0] = np.nan
    scipy.sparse.save_npz(tmp_path / "data.npz", gaps)
    j = int(gaps.indices[0])
    says(tmp_path / "data.npz", f"1 value is missing, the first in variable 'x{j}', sample '0'")
    filled = read(tmp_path / "data.npz", Reading(impute="mean")).values
    assert filled.toarray()[0, j] == pytest.approx(SPARSE.toarray()[1:, j].mean())
    assert filled.nnz == SPARSE.nnz
    assert read(tmp_path / "data.npz", Reading(impute="drop")).shape == (12, 4)


@pytest.mark.parametrize("impute", [None, "mean", "drop"])
def test_infinity_is_always_an_error(impute, tmp_path):
    wild = X.copy()
    wild[2, 4], wild[1, 1] = -np.inf, np.nan
    np.save(tmp_path / "data.npy", wild)
    says(tmp_path / "data.npy", "variable 'x4', sample '2' is infinite", Reading(impute=impute))


def test_a_variable_without_any_value(tmp_path):
    empty = X.copy()
    empty[:, 2] = np.nan
    np.save(tmp_path / "data.npy", empty)
    says(tmp_path / "data.npy", "no value at all is known of 'x2'; say impute='drop'", Reading(impute="mean"))
    np.save(tmp_path / "all.npy", np.full((3, 3), np.nan))
    says(tmp_path / "all.npy", "fewer than 2 variables are left", Reading(impute="drop"))


def test_the_line_is_right_in_a_transposed_table(tmp_path):
    gaps = FRAME.T.copy()
    gaps.iloc[2, 7] = np.nan
    gaps.to_csv(tmp_path / "data.csv")
    says(tmp_path / "data.csv", r"line 4 \(variable 'a b', sample 's7'\)", Reading(transpose=True))


def test_repeated_names_want_a_choice(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("A,B,A,A.1,A\n" + "\n".join(",".join(map(str, row)) for row in X))
    says(path, "1 variable name occurs more than once: 'A'; say duplicates='suffix'")
    assert read(path, Reading(duplicates="suffix")).variables == ["A", "B", "A.2", "A.1", "A.3"]
    first = read(path, Reading(duplicates="first"))
    assert first.variables == ["A", "B", "A.1"]
    np.testing.assert_array_equal(first.values, X[:, [0, 1, 3]])


def test_too_few_samples_or_variables(tmp_path):
    FRAME.iloc[:1].to_csv(tmp_path / "one.csv")
    says(tmp_path / "one.csv", r"has 1 sample \(5 variables\); at least 2 are needed; .* transpose=True")
    FRAME.iloc[:, :1].to_csv(tmp_path / "thin.csv")
    says(tmp_path / "thin.csv", "has 1 variable")
    FRAME.iloc[:2].to_csv(tmp_path / "two.csv")
    _, S = operator(read(tmp_path / "two.csv"), "correlation")
    assert fantope.solve(S, 1, 0.1).gap <= 1e-4


def test_constant_variables_have_no_correlation(tmp_path):
    FRAME.assign(flat=7.1, zero=0.0).to_csv(tmp_path / "data.csv")
    path = tmp_path / "data.csv"
    says(path, "2 constant variables have no correlation: 'flat', 'zero'; say drop_constant=True", kind="correlation")
    data, S = operator(read(path), "correlation", drop_constant=True)
    assert data.variables == GENES and S.size == 5 and dict(data.dropped) == {"flat": "constant", "zero": "constant"}
    assert operator(read(path), "covariance")[1].size == 7


def test_precomputed(tmp_path):
    S = FRAME.cov()
    S.to_csv(tmp_path / "s.csv")
    data, covariance = operator(read(tmp_path / "s.csv"), "precomputed")
    np.testing.assert_allclose(covariance.block(np.arange(5), np.arange(5)), S, rtol=1e-12)
    assert data.variables == GENES
    FRAME.to_csv(tmp_path / "x.csv")
    says(tmp_path / "x.csv", "is 12 × 5, but kind='precomputed' takes S itself", kind="precomputed")
    np.save(tmp_path / "skew.npy", np.triu(np.ones((3, 3))))
    says(tmp_path / "skew.npy", "S must be symmetric", kind="precomputed")


def test_zarr_without_a_chunk(tmp_path):
    path = tmp_path / "data.zarr"
    write_zarr(path)
    chunk = next(file for file in path.rglob("*") if file.is_file() and "1" in file.name and "zarr" not in file.name)
    chunk.unlink()
    says(path, r"lacks 1 of 9 chunks, the first being .*; write the store again")
    allowed = read(path, Reading(allow_empty_chunks=True))
    assert (allowed.values[...] == 0).any()


def test_zarr_that_is_none(tmp_path):
    path = tmp_path / "data.zarr"
    path.mkdir()
    says(path, "is no zarr store")
    write_zarr(tmp_path / "bad.zarr")
    chunk = next(file for file in (tmp_path / "bad.zarr").rglob("*") if file.is_file() and "zarr" not in file.name)
    chunk.write_bytes(b"not compressed")
    says(tmp_path / "bad.zarr", "read")


def test_zarr_group_of_arrays(tmp_path):
    zarr = pytest.importorskip("zarr")
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w")
    for name in ("raw", "log"):
        group.create_array(name, shape=X.shape, dtype="float64")[...] = X
    says(tmp_path / "g.zarr", "is a group with the matrices 'log', 'raw'; choose one with layer")
    np.testing.assert_array_equal(read(tmp_path / "g.zarr", Reading(layer="raw")).values[...], X)


def test_anndata_without_x(tmp_path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(None, obs=FRAME[[]], var=FRAME.T[[]], layers={"counts": X}).write_h5ad(tmp_path / "data.h5ad")
    says(tmp_path / "data.h5ad", r"has no matrix X; choose a layer with layer \('counts'\)")
    assert read(tmp_path / "data.h5ad", Reading(layer="counts")).variables == GENES


def test_checksum_of_a_folder_sees_every_change(tmp_path):
    write_zarr(tmp_path / "data.zarr")
    before = checksum(tmp_path / "data.zarr")
    assert before == checksum(tmp_path / "data.zarr")
    chunk = next(file for file in (tmp_path / "data.zarr").rglob("*") if file.is_file() and "zarr" not in file.name)
    chunk.rename(chunk.with_name("9"))
    assert checksum(tmp_path / "data.zarr") != before


def test_missing_library_names_the_extra(tmp_path, monkeypatch):
    import sys

    FRAME.to_parquet(tmp_path / "data.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ImportError, match=r"needs pyarrow, .* fantope\[files\]"):
        read(tmp_path / "data.parquet")


def test_parquet_of_single_precision_stays_single(tmp_path):
    buffer = io.BytesIO()
    FRAME.astype(np.float32).to_parquet(buffer)
    (tmp_path / "data.parquet").write_bytes(buffer.getvalue())
    assert read(tmp_path / "data.parquet").values.dtype == np.float32
    FRAME.reset_index(names="who").to_parquet(tmp_path / "flat.parquet")
    assert read(tmp_path / "flat.parquet").samples == SAMPLES


@pytest.mark.parametrize(
    ("name", "text", "separator"),
    [
        ("a.csv", "1,5;2,5\n3,5;4\n", ";"),  # decimal commas, as many as semicolons on the first line
        ("a.csv", "x;y,z\n1,2\n3,4\n", ","),  # a semicolon in a name
        ("a.csv", "v\nr1,1\nr2,2\n", ","),  # one name fewer than columns, as R writes it
        ("a.csv", '"a;b";"c"\n1;2\n', ";"),  # what is quoted separates nothing
        ("a.tsv", "a,b\tc\n1\t2\n", "\t"),
        ("a.csv", "a\tb;c\n1\t2\n", "\t"),
    ],
)
def test_one_rule_finds_the_separator(name, text, separator, tmp_path):
    (tmp_path / name).write_text(text)
    assert sniff(tmp_path / name).separator == separator


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
def test_a_text_table_is_read_once(ending, tmp_path, monkeypatch):
    path = tmp_path / f"a.{ending}"
    lines = "".join(f"{k},{k % 7},{k % 3}.25\n" for k in range(5000))
    path.write_bytes(gzip.compress(lines.encode()) if ending.endswith("gz") else lines.encode())
    known, taken = checksum(path), []
    original = Path.open

    def opened(self, *args, **options):
        taken.append(self)
        return original(self, *args, **options)

    monkeypatch.setattr(Path, "open", opened)
    monkeypatch.setattr("fantope.io.readers.checksum", None)
    data = read(path)
    assert data.checksum == known and data.shape == (5000, 3) and data.values[4999].tolist() == [4999, 1, 1.25]
    assert taken.count(path) <= 2  # the first lines, and all of it


def test_more_rows_than_the_first_lines_promise(tmp_path):
    (tmp_path / "a.csv").write_text("".join(["1000000000,2000000000\n"] * 30 + ["1,2\n"] * 3000))
    data = read(tmp_path / "a.csv")
    assert data.shape == (3030, 2) and data.values[-1].tolist() == [1, 2] and data.values[0, 1] == 2e9


def test_a_reader_is_one_entry(tmp_path, monkeypatch):
    def read_words(path, reading):
        return Content(np.array([line.split() for line in path.read_text().splitlines()], dtype=float))

    (tmp_path / "a.words").write_text("1 2\n3 5\n")
    with pytest.raises(FileError, match="has none of the endings"):
        read(tmp_path / "a.words")
    monkeypatch.setitem(READERS, ".words", read_words)
    assert read(tmp_path / "a.words").values.tolist() == [[1, 2], [3, 5]]


def test_a_quoted_line_break_across_slabs(tmp_path, monkeypatch):
    monkeypatch.setattr("fantope.io.text.BLOCK", 8)
    (tmp_path / "a.csv").write_text('name,x,y\n"a\nb",1,2\nc,3,4\n"d\n\ne",5,7\n')
    data = read(tmp_path / "a.csv")
    assert data.samples == ["a\nb", "c", "d\n\ne"] and data.values.tolist() == [[1, 2], [3, 4], [5, 7]]


def test_ctrl_c_while_a_table_is_read(tmp_path, monkeypatch):
    (tmp_path / "a.csv").write_text("".join(f"{k},{k % 7}\n" for k in range(1000)))

    def interrupt(*arguments):
        raise KeyboardInterrupt

    for place in ("_converted", "_blocks", "_parsed"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(f"fantope.io.text.{place}", interrupt)
            read(tmp_path / "a.csv")


def test_files_of_groups_are_separated_by_the_rule_of_tables(tmp_path):
    FRAME.to_csv(tmp_path / "data.csv")
    group = {name: f"x, {name[0]}" for name in GENES}
    (tmp_path / "groups.csv").write_text("gene;group\n" + "\n".join(f'"{name}";{group[name]}' for name in GENES))
    assert read_groups(tmp_path / "groups.csv", read(tmp_path / "data.csv")) == list(group.values())
