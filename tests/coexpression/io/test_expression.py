"""Expression, samples and labels, as biologists keep them."""

import gzip

import anndata
import numpy as np
import pandas as pd
import pytest

from fantope.coexpression.io.expression import numeric_where_possible, read_expression, read_labels, read_samples
from fantope.coexpression.io.source import Source, read_input
from fantope.errors import FileError

TABLE = pd.DataFrame(
    np.arange(12.0).reshape(4, 3) / 7, index=["s1", "s2", "s3", "s4"], columns=["TP53", "MYC", "EGFR"]
)  # fmt: skip


def written(folder, name, table=TABLE):
    file = folder / name
    if ".parquet" in name:
        table.to_parquet(file)
    elif name.endswith(".h5ad"):
        data = anndata.AnnData(table.to_numpy(), obs=pd.DataFrame({"dx": list("aabb")}, index=table.index),
                               var=pd.DataFrame(index=table.columns))  # fmt: skip
        data.write_h5ad(file)
    else:
        table.to_csv(file, sep="\t" if ".tsv" in name else ",")
    return file


@pytest.mark.slow
@pytest.mark.parametrize("name", ["e.csv", "e.tsv", "e.csv.gz", "e.tsv.gz", "e.parquet", "e.h5ad"])
def test_every_format_with_samples_in_rows(name, tmp_path):
    found = read_expression(written(tmp_path, name), genes_in="columns")
    pd.testing.assert_frame_equal(found.to_frame(), TABLE, check_names=False)


@pytest.mark.parametrize("name", ["e.csv", "e.tsv", "e.parquet"])
def test_the_samples_names_say_where_the_genes_are(name, tmp_path):
    for table, where in ((TABLE, "columns"), (TABLE.T, "rows")):
        found = read_expression(written(tmp_path, name, table), samples=pd.Index(["s2", "s4", "s9"]))
        assert found.transposed == (where == "rows")
        pd.testing.assert_frame_equal(found.to_frame(), TABLE, check_names=False)


def test_duplicated_genes_are_left_to_the_analysis(tmp_path):
    table = TABLE.set_axis(["MYC", "MYC", "EGFR"], axis=1)
    found = read_expression(written(tmp_path, "e.tsv", table.T), genes_in="rows")
    assert list(found.to_frame()) == ["MYC", "MYC", "EGFR"]


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        (None, "are the genes in rows or in columns?"),
        (["x", "y"], "neither names a sample of the table of samples, which has 'x', 'y'"),
        (["s1", "MYC"], "both name samples of the table of samples"),
    ],
)
def test_the_question_back(samples, words, tmp_path):
    file = written(tmp_path, "e.csv")
    with pytest.raises(FileError, match="Say genes_in='rows' or genes_in='columns'") as raised:
        read_expression(file, samples=None if samples is None else pd.Index(samples))
    assert words in str(raised.value) and "4 rows ('s1', 's2', 's3', …)" in str(raised.value)


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("e.csv", "", "is empty"),
        ("e.tsv", "g\ts1\ts2\nTP53,1,2\nMYC,3,4\n", "mixes separators: line 1 is separated by tabs, line 2 by commas"),
        ("e.csv", "g,s1,s2\nTP53,1,2\nMYC;3;4\n", "line 3 by semicolons; save the table again with one separator"),
        ("e.tsv", "g,s1,s2\nTP53,1,2\n", "is separated by commas, not by tabs; rename it to end in .csv"),
        ("e.csv", "g,s1,s2\ndx,tumour,normal\nTP53,1,2\n", "line 2 (dx, tumour, normal, …) looks like a second header"),
        ("e.csv", "TP53\nMYC\n", "has a single column"),
        ("e.csv", "s1,s2\n1,2\n3,4\n", "has no names for its genes, which it has in rows"),
        ("e.csv", "g,s1,s2\nTP53,1,2\nMYC,3,x\n", "holds the text 'x'"),
    ],
)
def test_tables_that_cannot_be_used(name, text, words, tmp_path):
    (tmp_path / name).write_text(text)
    with pytest.raises(FileError) as raised:
        read_expression(tmp_path / name, genes_in="rows")
    assert words in str(raised.value) and "\n" not in str(raised.value)


def test_decimal_commas_beside_semicolons_are_no_mixture(tmp_path):
    (tmp_path / "e.csv").write_text("g;s1;s2\nTP53;1,5;2\nMYC;3;4,25\n")
    found = read_expression(tmp_path / "e.csv", genes_in="rows").to_frame()
    np.testing.assert_allclose(found.to_numpy(), [[1.5, 3], [2, 4.25]])


def test_a_damaged_gzip_is_told(tmp_path):
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress(b"g,s1,s2\nTP53,1,2\n" * 99)[:40])
    with pytest.raises(FileError, match="end early or are damaged"):
        read_expression(tmp_path / "e.csv.gz", genes_in="rows")


def test_samples_keep_names_that_look_like_numbers(tmp_path):
    (tmp_path / "m.csv").write_text("id,dx,age,batch\n007,a,61,x\n010,b,NA,y\n")
    table = read_samples(tmp_path / "m.csv")
    assert list(table.index) == ["007", "010"] and list(table) == ["dx", "age", "batch"]
    converted = numeric_where_possible(table)
    assert converted["age"].tolist()[0] == 61 and converted["age"].isna().tolist() == [False, True]
    assert converted["batch"].tolist() == ["x", "y"]
    assert list(read_samples(tmp_path / "m.csv", "batch").index) == ["x", "y"]
    with pytest.raises(FileError, match="has no column 'id2'; sample_column is one of 'id', 'dx'"):
        read_samples(tmp_path / "m.csv", "id2")


def test_labels_from_tables_and_gene_sets(tmp_path):
    (tmp_path / "wgcna.csv").write_text("gene,label,colour\nTP53,1,blue\nMYC,2,red\nEGFR,,\n")
    assert read_labels(tmp_path / "wgcna.csv", "colour").to_dict() == {"TP53": "blue", "MYC": "red"}
    with pytest.raises(FileError, match=r"has the columns .label., .colour.; say which with labels=.*csv:label"):
        read_labels(tmp_path / "wgcna.csv")
    with pytest.raises(FileError, match="has no column 'size'; choose one of 'label', 'colour'"):
        read_labels(tmp_path / "wgcna.csv", "size")
    (tmp_path / "go.gmt").write_text("CYCLE\thttp://x\tTP53\tMYC\nGROWTH\tna\tEGFR\tMYC\n")
    found = read_labels(tmp_path / "go.gmt")
    assert list(found.items()) == [("TP53", "CYCLE"), ("MYC", "CYCLE"), ("EGFR", "GROWTH"), ("MYC", "GROWTH")]
    (tmp_path / "bad.gmt").write_text("CYCLE\thttp://x\n")
    with pytest.raises(FileError, match="line 1 has no genes"):
        read_labels(tmp_path / "bad.gmt")


@pytest.mark.slow
def test_groups_stand_in_the_samples_table_or_in_the_h5ad(tmp_path):
    file = written(tmp_path, "e.h5ad")
    assert read_input(Source(file)).groups is None
    assert read_input(Source(file, group_column="dx")).groups.to_dict() == {"s1": "a", "s2": "a", "s3": "b", "s4": "b"}
    (tmp_path / "m.csv").write_text("id,dx\ns1,x\ns2,y\ns3,\n")
    found = read_input(Source(file, tmp_path / "m.csv"))
    assert found.groups.to_dict() == {"s1": "x", "s2": "y"} and found.group_column == "dx"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("id,dx,sex\ns1,x,f\n", {}, "has the columns 'dx', 'sex'; say which holds the groups with group_column"),
        ("id,dx\ns1,x\n", {"group_column": "group"}, "has no column 'group'; group_column is one of 'dx'"),
        ("id,dx\ns1,x\n", {"covariates": ("age",)}, "has no column 'age' for covariates"),
        ("nr,dx,id\n1,x,s1\n2,x,s2\n", {"group_column": "dx"}, "its column 'id' does: say sample_column='id'"),
    ],
)
def test_samples_tables_that_do_not_fit(text, options, words, tmp_path):
    (tmp_path / "m.csv").write_text(text)
    source = Source(written(tmp_path, "e.csv"), tmp_path / "m.csv", genes_in="columns", **options)
    with pytest.raises(FileError) as raised:
        read_input(source)
    assert words in str(raised.value)


def test_covariates_without_a_table_of_samples(tmp_path):
    with pytest.raises(FileError, match="give a table of samples with samples"):
        read_input(Source(written(tmp_path, "e.csv"), genes_in="columns", covariates=("age",)))
