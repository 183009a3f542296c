"""`fantope coexpress`: what it writes, how it ends, what it says of bad input, how it goes on after a stop."""

import json
import os
import re
import shutil
import subprocess
import sys

import anndata
import numpy as np
import pandas as pd
import pytest

from checking import checker
from coexpression_example import SCRIPT, expression, labels, two_groups
from fantope.cli import main

pytestmark = pytest.mark.slow

TABLE, GROUPS = expression()
OPTIONS = ["-d", "3", "--alphas", "0.7:0.85:0.05", "--min-genes", "20", "--max-genes", "80", "--permutations", "50"]


@pytest.fixture
def files(tmp_path):
    """Write expression with genes in rows, samples and labels; work there."""
    TABLE.T.rename_axis("gene").to_csv(tmp_path / "expression.tsv", sep="\t")
    GROUPS.rename("dx").rename_axis("sample").to_csv(tmp_path / "samples.csv")
    labels(TABLE).rename("colour").rename_axis("gene").to_csv(tmp_path / "colours.csv")
    return tmp_path


def run(folder, *options, data="expression.tsv", groups="samples.csv", out="out"):
    """Run in ``folder``; -q unless the options say how to talk."""
    meta = ["--groups", str(folder / groups)] if groups else []
    talk = [] if {"--json", "--loud"} & set(options) else ["-q"]
    given = [option for option in options if option != "--loud"]
    return main(["coexpress", str(folder / data), *meta, "-o", str(folder / out), *OPTIONS, *talk, *given])


def said(capsys):
    captured = capsys.readouterr()
    return " ".join(captured.err.split()), " ".join(captured.out.split())


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return the folder of one complete run, with everything on."""
    folder = tmp_path_factory.mktemp("whole")
    TABLE.T.rename_axis("gene").to_csv(folder / "expression.tsv", sep="\t")
    GROUPS.rename("dx").rename_axis("sample").to_csv(folder / "samples.csv")
    labels(TABLE).rename("colour").rename_axis("gene").to_csv(folder / "colours.csv")
    assert run(folder, "--labels", str(folder / "colours.csv")) == 0
    return folder


def table(folder, name):
    return pd.read_csv(folder / "out" / name, sep="\t", keep_default_na=False)


def test_an_emptied_report_or_h5ad_is_found(whole, tmp_path, capsys):
    for name in ("expression.tsv", "samples.csv"):
        shutil.copy(whole / name, tmp_path / name)
    shutil.copytree(whole / "out", tmp_path / "out")
    assert main(["verify", str(tmp_path / "out"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["not_covered"] == []
    for name in ("report.html", "coexpression.h5ad"):
        (tmp_path / "out" / name).write_bytes(b"")
    assert main(["verify", str(tmp_path / "out"), "--json"]) == 1
    failures = json.loads(capsys.readouterr().out)["failures"]
    assert len(failures) == 2 and all("was changed after it was written" in each for each in failures)


class TestOutputs:
    def test_the_tables_hold_the_analysis(self, whole):
        expected = two_groups()
        genes = table(whole, "genes.tsv")
        for name, group in expected.groups.items():
            mine = genes[genes["group"] == name].reset_index(drop=True)
            assert mine["gene"].tolist() == group.genes["gene"].tolist()
            np.testing.assert_allclose(mine["kme"], group.genes["kme"], atol=1e-6)
            assert mine["module"].tolist() == group.genes["module"].tolist()
            assert mine["proven"].tolist() == group.genes["proven"].tolist()
            np.testing.assert_allclose(mine["sparse1"], group.genes["sparse1"], atol=1e-6)
        components = table(whole, "components.tsv")
        assert components["group"].tolist() == ["control"] * 3 + ["case"] * 3
        assert (components["module_share"][3:] > 0.99).all()  # each of three modules has its component
        selection = table(whole, "selection.tsv")
        assert len(selection) == 2 * len(expected.selection) and set(selection["group"]) == set(expected.groups)
        assert set(selection.loc[selection["chosen"].astype(str) == "True", "alpha"]) == {expected.alpha}
        assert len(table(whole, "eigengenes.tsv")) == sum(group.eigengenes.size for group in expected.groups.values())
        crossed = table(whole, "cross_tables.tsv")
        assert crossed["n_genes"].sum() == sum(len(group.genes) for group in expected.groups.values())
        assert set(table(whole, "cohesion.tsv")["method"]) == {"fantope", "colours"}
        test = table(whole, "differential_tests.tsv").iloc[0]
        assert (test["first"], test["second"]) == ("control", "case") and 0 < test["p"] <= 1
        assert set(table(whole, "differential_modules.tsv")["group"]) == {"control", "case"}

    def test_edges_are_strong_correlations_of_active_genes(self, whole):
        edges = table(whole, "edges.tsv")
        assert list(edges) == ["source", "target", "correlation", "group", "module"]
        assert (edges["correlation"].abs() >= two_groups().alpha).all() and (edges["source"] != edges["target"]).all()
        row = edges.iloc[0]
        inside = row["group"] == GROUPS
        pair = TABLE.loc[inside, [row["source"], row["target"]]].corr().iloc[0, 1]
        assert row["correlation"] == pytest.approx(pair, abs=1e-6)

    def test_the_h5ad_has_what_scanpy_looks_for(self, whole):
        data = anndata.read_h5ad(whole / "out" / "coexpression.h5ad")
        assert data.n_obs == 60 and set(data.obs["group"]) == {"control", "case"}
        for name, group in two_groups().groups.items():
            loadings = pd.DataFrame(data.varm[f"spca_{name}"], index=data.var_names)
            np.testing.assert_allclose(
                loadings.loc[group.genes["gene"]].abs(), group.genes[["pc1", "pc2", "pc3"]].abs()
            )
            assert (loadings.drop(group.genes["gene"]) == 0).all(axis=None)
            assert data.obsm[f"X_spca_{name}"].shape == data.obsm[f"X_sparse_spca_{name}"].shape == (60, 3)
            sparse = pd.DataFrame(data.varm[f"sparse_spca_{name}"], index=data.var_names)
            np.testing.assert_allclose(sparse.loc[group.genes["gene"]], group.genes[["sparse1", "sparse2", "sparse3"]])
            verdicts = group.solution.verdicts()[two_groups().gene_names.get_indexer(data.var_names)]
            assert data.var[f"proven_{name}"].tolist() == verdicts.tolist()
            assert data.var[f"module_{name}"].dropna().tolist().count("M1") == group.modules["n_genes"][0]
            kept = data.obsm[f"eigengenes_{name}"].dropna()
            assert sorted(kept.index) == sorted(group.eigengenes.index)
        assert data.uns["fantope"]["alpha"] == two_groups().alpha

    def test_figures_report_and_record(self, whole):
        figures = {file.name for file in (whole / "out" / "figures").iterdir()}
        stems = ("selection", "modules_control", "modules_case", "comparison_control_case", "volcano_control_case")
        assert figures == {f"{stem}.{ending}" for stem in stems for ending in ("png", "svg")}
        report = (whole / "out" / "report.html").read_text(encoding="utf-8")
        assert "<script>document" not in report and len(report) < 1e6
        record = json.loads((whole / "out" / "run.json").read_text())
        assert record["command"] == "fantope coexpress" and record["result"]["alpha"] == two_groups().alpha
        assert record["command_line"].startswith(f"fantope coexpress {whole / 'expression.tsv'} --groups")
        assert record["command_line"].replace("fantope coexpress ", "") in report.replace("&#x27;", "'")
        assert not (whole / "out.cache").exists()

    def test_a_program_without_fantope_can_check_it(self, whole):
        assert checker.main([str(whole / "out"), str(whole / "expression.tsv")]) == 0
        assert checker.main([str(whole / "out"), str(whole / "samples.csv")]) == 1
        assert checker.main([str(whole / "out"), "--exact"]) == 0

    def test_verify_holds_and_notices_changes(self, whole, capsys):
        assert main(["verify", str(whole / "out"), "--json"]) == 0
        told = json.loads(said(capsys)[1])
        assert [each["group"] for each in told["solutions"]] == ["control", "case"]
        moved = whole / "out2"
        assert run(whole, "--no-figures", "--permutations", "0", out="out2") == 0
        file = whole / "samples.csv"
        before = file.read_text()
        try:
            file.write_text(before.replace("case0,case", "case0,control"))
            assert main(["verify", str(moved)]) == 1
            assert "is not the table of samples that was used" in said(capsys)[0]
        finally:
            file.write_text(before)
        genes = moved / "genes.tsv"
        genes.write_text(genes.read_text().replace("M1", "M9"))
        assert main(["verify", str(moved)]) == 1
        assert "genes.tsv was changed after it was written" in said(capsys)[0]


def test_the_command_talks_and_json_is_one_object(files, capsys):
    assert run(files, "--loud", "--labels", str(files / "colours.csv"), "--no-figures") == 0
    err, out = said(capsys)
    assert "coexpress: control: alpha = 0.85" in err and "50 of 50 permutations" in err
    assert "Modules at alpha" in out and "colours: genes that are not among the analysed ones, and ignored: 2." in out
    assert re.search(r"Open \S+report.html in a browser", out)
    assert run(files, "--json", "--no-figures", "--overwrite") == 0
    err, out = said(capsys)
    told = json.loads(out)
    assert err == "" and told["groups"]["case"]["n_active"] == 42 and told["reused"] == 0
    assert run(files, "--no-figures") == 2
    assert "exists already; choose another folder with -o, or replace it with --overwrite" in said(capsys)[0]


def test_the_demonstration(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["coexpress", "--demo", "--permutations", "50", "--alphas", "0.8,0.85", "--no-figures"]) == 0
    out = said(capsys)[1]
    assert "Open fantope-coexpress-demo/report.html in a browser." in out
    modules = pd.read_csv("fantope-coexpress-demo/modules.tsv", sep="\t")
    assert any("IMM" in hubs for hubs in modules["hubs"][modules["group"] == "treated"])
    assert not any("IMM" in hubs for hubs in modules["hubs"][modules["group"] == "control"])
    assert pd.read_csv("fantope-coexpress-demo/purity.tsv", sep="\t")["purity"].min() == 1
    assert "simulated" in (tmp_path / "fantope-coexpress-demo" / "report.html").read_text(encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    os.rename("fantope-coexpress-demo", "elsewhere/demo")
    assert main(["verify", "elsewhere/demo", "-q"]) == 0
    assert os.listdir() == ["elsewhere"]


def test_samples_in_rows_counts_covariates_and_one_group(files):
    counts = np.round(2.0 ** (TABLE + 2)).astype(int)
    counts.rename_axis("sample").to_csv(files / "counts.csv.gz")
    meta = pd.DataFrame({"dx": GROUPS, "batch": ["x", "y"] * 30, "age": np.arange(60) % 30})
    meta.rename_axis("sample").to_csv(files / "meta.tsv", sep="\t")
    options = ["--group-column", "dx", "--covariates", "batch,age", "--transform", "log-cpm", "--no-figures"]
    assert run(files, *options, "--permutations", "0", data="counts.csv.gz", groups="meta.tsv") == 0
    record = json.loads((files / "out" / "run.json").read_text())
    notes = " ".join(record["result"]["notes"])
    assert "counts per million" in notes and "Regressed out" in notes and "batch, age" in notes
    assert main(["verify", str(files / "out"), "-q"]) == 0
    assert run(files, "--genes-in", "rows", "--no-figures", groups=None, out="alone") == 0
    assert list(json.loads((files / "alone" / "run.json").read_text())["result"]["groups"]) == ["all"]


def test_groups_inside_an_h5ad_file(files):
    obs = pd.DataFrame({"dx": pd.Categorical(GROUPS)}, index=TABLE.index)
    anndata.AnnData(TABLE.to_numpy(), obs=obs, var=pd.DataFrame(index=TABLE.columns)).write_h5ad(files / "e.h5ad")
    options = ["--group-column", "dx", "--no-figures", "--permutations", "0", "--correlation", "spearman"]
    assert run(files, *options, data="e.h5ad", groups=None) == 0
    groups = json.loads((files / "out" / "run.json").read_text())["result"]["groups"]
    assert {name: group["n_samples"] for name, group in groups.items()} == {"control": 30, "case": 30}
    assert main(["verify", str(files / "out"), "-q"]) == 0


def _changed(file, old, new, count=-1):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, count))


BAD = {
    "groups that match no sample": (
        lambda f: (f / "samples.csv").write_text("sample,dx\nx1,a\nx2,b\n"), [],
        "neither names a sample of the table of samples, which has 'x1', 'x2', …: are the genes in rows or in columns?",
    ),
    "groups that match no sample, genes told": (
        lambda f: (f / "samples.csv").write_text("sample,dx\nx1,a\nx2,b\n"), ["--genes-in", "rows"],
        "names none of the samples of expression.tsv",
    ),
    "a group of three samples": (
        lambda f: GROUPS.where(GROUPS.index.isin(GROUPS.index[:33])).dropna().rename("dx").to_csv(f / "samples.csv"),
        [], "at least 5 samples each, got 3 in group 'case'",
    ),
    "all genes zero": (
        lambda f: (0 * TABLE.T).to_csv(f / "expression.tsv", sep="\t"), [],
        "at least 2 genes after filtering, got 0; lower --min-expressed",
    ),
    "names spoilt by a spreadsheet": (
        lambda f: _changed(f / "expression.tsv", "\nG5\t", "\n1-Mar\t"), [],
        "turned into dates: '1-Mar'; restore them from the original table",
    ),
    "missing values": (
        lambda f: TABLE.T.mask(TABLE.T.iloc[0, 0] == TABLE.T).to_csv(f / "expression.tsv", sep="\t"), [],
        "(--impute mean) or leave those genes out (--impute drop)",
    ),
    "mixed separators": (
        lambda f: _changed(f / "expression.tsv", "\t", ",", 200), [], "mixes separators",
    ),
    "two header rows": (
        lambda f: _changed(f / "expression.tsv", "\n", "\ndx\t" + "\t".join(GROUPS) + "\n", 1), [],
        "looks like a second header row; keep one row of names",
    ),
    "labels of other genes": (
        lambda f: (f / "colours.csv").write_text("gene,colour\nENSG01,blue\n"), ["--labels", "colours.csv"],
        "labels no gene of expression.tsv: it has 'ENSG01'",
    ),
    "no alpha with as many genes": (
        lambda f: None, ["--alphas", "0.99,0.98"], "0.98, the smallest, 0 genes of 'control' have a partner",
    ),
    "no alpha, but limits that can be widened": (
        lambda f: None, ["--alphas", "0.8", "--min-genes", "5", "--max-genes", "10"], "5 to 10 variables",
    ),
    "negative counts": (
        lambda f: (TABLE.T - 6).to_csv(f / "expression.tsv", sep="\t"), ["--transform", "log-cpm"],
        "these are logarithms already: use --transform none",
    ),
    "an unknown group column": (lambda f: None, ["--group-column", "sex"], "--group-column is one of 'dx'"),
    "alphas that are none": (lambda f: None, ["--alphas", "a"], "neither start:stop:step nor"),
    "alphas that are no correlations": (lambda f: None, ["--alphas", "2,1"], "--alphas must be numbers between"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_nothing_written(case, files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    spoil, options, words = BAD[case]
    spoil(files)
    assert run(files, *options) == 2
    err, out = said(capsys)
    assert words in err and out == "" and "Traceback" not in err
    assert not (files / "out").exists() and not [name for name in os.listdir() if name.startswith(".out")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [([], "give either DATA or --demo"), (["x.csv", "--demo"], "give either DATA or --demo"), (["x.csv"], "-o OUT")],
)
def test_usage(arguments, words, capsys):
    assert main(["coexpress", *arguments]) == 2
    assert words in said(capsys)[0]


def test_spoilt_names_and_missing_values_are_left_out_when_asked_and_controls_pointed_out(files, capsys):
    _changed(files / "expression.tsv", "\nG5\t", "\nAFFX-BioB-5_at\t")
    _changed(files / "expression.tsv", "\nG6\t", "\n[/x]\t")
    _changed(files / "expression.tsv", "\nG80\t", "\n1-Mar\t")
    _changed(files / "expression.tsv", f"\t{TABLE['G70'].iloc[0]}", "\tNA")
    options = ["--drop-mangled", "--impute", "mean", "--no-figures", "--permutations", "0", "--loud"]
    assert run(files, *options) == 0
    told = said(capsys)[1]
    notes = " ".join(json.loads((files / "out" / "run.json").read_text())["result"]["notes"])
    for what in ("'1-Mar'", "1 missing values", "1 analysed name looks like a control probe, 1 of them in use"):
        assert what in notes and what in told
    genes = table(files, "genes.tsv").set_index("gene")
    assert set(genes.loc["AFFX-BioB-5_at", "remark"]) == {"control probe"} and "[/x]" in genes.index
    report = (files / "out" / "report.html").read_text(encoding="utf-8")
    assert 'href="#gene=%5B%2Fx%5D">[/x]</a>' in report and "<td>control probe</td>" in report
    assert main(["verify", str(files / "out"), "-q"]) == 0


def test_what_was_solved_before_a_refusal_is_used_again(files, capsys):
    assert run(files, "--alphas", "0.8,0.85", "--min-genes", "5", "--max-genes", "10") == 2
    assert f"What was computed is kept in {files / 'out.cache'}" in said(capsys)[0]
    assert run(files, "--json", "--no-figures", "--permutations", "0", "--alphas", "0.75:0.85:0.05") == 0
    told = json.loads(said(capsys)[1])
    assert told["reused"] >= 2 and told["computed"] == 4  # both groups at 0.85, then at 0.8 and 0.75
    assert not (files / "out.cache").exists()


def test_a_killed_run_goes_on_where_it_stopped(files, capsys):
    arguments = ["coexpress", "expression.tsv", "--groups", "samples.csv", "-o", "out", *OPTIONS, "--no-figures"]
    arguments[arguments.index("--permutations") + 1] = "100000"
    process = subprocess.Popen(
        [sys.executable, "-m", "fantope.cli", *arguments], cwd=files, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
        text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    try:
        for line in process.stderr:
            if "permutations" in line:
                break
    finally:
        process.kill()
        process.communicate()
    assert not (files / "out").exists()
    kept = [file for file in (files / "out.cache").iterdir() if file.name.startswith("solution")]
    assert len(kept) >= 8
    assert run(files, "--json", "--no-figures") == 0
    told = json.loads(said(capsys)[1])
    assert told["reused"] >= len(kept) + 1 and told["computed"] <= 1
    assert (files / "out" / "report.html").exists() and not (files / "out.cache").exists()


def test_a_damaged_part_is_computed_again_with_a_note(files, capsys):
    assert run(files, "--no-figures", "--permutations", "0", "--keep-cache", "--cache", str(files / "parts")) == 0
    for file in sorted((files / "parts").glob("solution*"))[:2]:
        file.write_bytes(file.read_bytes()[:-5])
    options = ["--no-figures", "--permutations", "0", "--overwrite", "--cache", str(files / "parts")]
    assert run(files, "--loud", *options) == 0
    out = said(capsys)[1]
    assert out.count("is damaged; that part is computed again") == 2 and "used again" in out


def test_ctrl_c_keeps_the_cache(files, capsys, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("fantope.coexpression.analysis.pipeline.compare", stop)
    assert run(files, "--no-figures") == 130
    assert "interrupted; nothing was written. What was computed is kept in" in said(capsys)[0]
    assert (files / "out.cache").is_dir() and not (files / "out").exists()


def test_markup_in_names_reaches_the_tables_unchanged(whole):
    assert SCRIPT in set(table(whole, "genes.tsv")["gene"])


def test_gene_sets_that_overlap(files):
    sets = [
        "FIRST\tna\t" + "\t".join(TABLE.columns[:16]),
        "MOST\tna\t" + "\t".join(TABLE.columns[4:40]),
        "FEW\tna\tG80\tG81",
    ]
    (files / "sets.gmt").write_text("\n".join(sets) + "\n")
    assert run(files, "--labels", str(files / "sets.gmt"), "--no-figures", "--permutations", "0") == 0
    crossed = table(files, "cross_tables.tsv").set_index(["group", "module", "label"])["n_genes"]
    assert crossed["case", "M1", "FIRST"] == 16 and crossed["case", "M1", "MOST"] == 12
    assert "FEW" not in crossed.index.get_level_values("label")
    report = (files / "out" / "report.html").read_text(encoding="utf-8")
    assert "no index of agreement" in report and "Enriched at a false discovery rate" in report
    enriched = table(files, "enrichment.tsv").astype({"fdr": float}).set_index(["group", "module", "label"])
    assert enriched["fdr"]["case", "M1", "FIRST"] < 1e-6 and enriched["n_common"]["case", "M1", "FIRST"] == 16


def test_probes_and_traits(files, capsys):
    genes = TABLE.columns
    probes = [f"{j}_at" for j in range(len(genes))]
    TABLE.set_axis(probes, axis=1).T.rename_axis("probe").to_csv(files / "expression.tsv", sep="\t")
    named = pd.DataFrame({"probe": probes, "symbol": genes})
    named.loc[60, "symbol"] = "A /// B"
    named.drop(index=61).to_csv(files / "probes.csv", index=False)
    stage = np.resize(["I", "II", "III"], len(GROUPS))
    pd.DataFrame({"dx": GROUPS, "stage": stage, "age": TABLE.iloc[:, 0]}).rename_axis("sample").to_csv(
        files / "samples.csv"
    )
    more = ["--probes", str(files / "probes.csv"), "--traits", "stage,age", "--no-figures", "--permutations", "10"]
    assert run(files, *more) == 0
    used = set(table(files, "genes.tsv")["gene"])
    assert used <= set(genes) and genes[0] in used
    traits = table(files, "traits.tsv")
    assert set(traits["trait"]) == {"stage", "age"} and set(traits["measure"]) == {"r", "η²"}
    assert set(table(files, "preservation.tsv")["tested_in"]) >= {"case", "control"}
    report = (files / "out" / "report.html").read_text(encoding="utf-8")
    assert (
        f"{len(genes) - 2} of {len(genes)} probes" in report
        and "Modules and traits" in report
        and "Are the modules found again?" in report
    )
    assert main(["verify", str(files / "out"), "-q"]) == 0
    named.to_csv(files / "probes.csv", index=False)
    assert main(["verify", str(files / "out")]) != 0
    assert "not the table of probes" in " ".join(said(capsys))
    for file, sentence in (
        ("samples", "leave two of them, probe and gene"),
        ("colours", "names no probe of expression.tsv"),
    ):
        assert run(files, "--probes", str(files / f"{file}.csv"), "--group-column", "dx", out="other") == 2
        assert sentence in said(capsys)[0]
    assert run(files, "--traits", "weight", "--group-column", "dx", out="other") == 2
    assert "has no column 'weight' for --traits" in said(capsys)[0]


def test_groups_with_names_that_no_file_could_have(files):
    GROUPS.map({"control": "a/b", "case": "A b: <i>"}).rename("dx").rename_axis("sample").to_csv(files / "samples.csv")
    assert run(files, "--permutations", "10") == 0
    data = anndata.read_h5ad(files / "out" / "coexpression.h5ad")
    assert {"module_a_b", "module_A_b_i"} <= set(data.var) and "X_spca_a_b" in data.obsm
    assert set(data.obs["group"]) == {"a/b", "A b: <i>"}
    assert (files / "out" / "figures" / "comparison_a_b_A_b_i.svg").exists()
    assert "<i>" not in (files / "out" / "report.html").read_text(encoding="utf-8")


def test_raw_counts_taken_as_they_are_are_pointed_out(files, capsys):
    np.round(2.0 ** (TABLE.T + 4)).astype(int).to_csv(files / "expression.tsv", sep="\t")
    options = ["--no-figures", "--permutations", "0", "--correlation", "spearman"]
    assert run(files, "--loud", *options) == 0
    assert "The values look like raw counts" in said(capsys)[0]
    assert "look like raw counts" in (files / "out" / "report.html").read_text(encoding="utf-8")
    assert run(files, "--loud", *options, "--transform", "log1p", "--overwrite") == 0
    assert "raw counts" not in said(capsys)[0]
