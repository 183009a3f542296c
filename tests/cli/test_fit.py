"""`fantope fit`: what it writes, what it says, how it ends."""

import csv
import errno
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import fantope
from fantope.cli import _data, main
from fantope.solvers.solve import SOLVERS

SIM = fantope.simulate(60, 40, sizes=(6, 4))
FRAME = pd.DataFrame(SIM.Z, columns=[f"g{j}" for j in range(40)], index=[f"s{i}" for i in range(60)])
TABLES = {"components.tsv", "loadings.tsv", "scores.tsv", "sparse_loadings.tsv", "support.tsv"}
FILES = {"certificate.json", "certificate.npz", "projection.npz", "run.json", "solver.npz", *TABLES}


@pytest.fixture
def data(tmp_path):
    FRAME.to_csv(tmp_path / "data.csv")
    return tmp_path / "data.csv"


def run(data, out, *options):
    return main(["fit", str(data), "-a", "0.4", "-o", str(out), *options])


def rows(file):
    with file.open(encoding="utf-8") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_tables_hold_the_solution(kind, data, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(data, out, "--kind", kind, "--no-figures") == 0
    captured = capsys.readouterr()
    assert "2 sparse components on" in captured.out and "fantope verify" in captured.out
    assert "fit: reading data.csv" in captured.err and "\x1b" not in captured.err
    assert {file.name for file in out.iterdir()} == FILES

    pca = fantope.SparsePCA(2, alpha=0.4, kind=kind).fit(SIM.Z)
    loadings = np.zeros((2, 40))
    for row in rows(out / "loadings.tsv"):
        loadings[int(row["component"]) - 1, int(row["variable"][1:])] = float(row["loading"])
    np.testing.assert_allclose(loadings, pca.components_, atol=1e-8)
    np.testing.assert_array_equal([int(row["index"]) for row in rows(out / "support.tsv")], pca.support_)
    leverage = [float(row["leverage"]) for row in rows(out / "support.tsv")]
    np.testing.assert_allclose(leverage, pca.projection_.diagonal()[pca.support_], atol=1e-8)
    at_least, at_most = pca.solution_.leverage_bounds()
    for row, j in zip(rows(out / "support.tsv"), pca.support_, strict=True):
        assert float(row["leverage_at_least"]) == pytest.approx(at_least[j], abs=1e-6)
        assert float(row["leverage_at_most"]) == pytest.approx(at_most[j], abs=1e-6)
        assert row["proven"] == pca.solution_.verdicts()[j]
    shares = [float(row["share"]) for row in rows(out / "components.tsv")]
    np.testing.assert_allclose(shares, pca.explained_variance_ratio_, atol=1e-8)
    scores = [[float(row["component_1"]), float(row["component_2"])] for row in rows(out / "scores.tsv")]
    np.testing.assert_allclose(scores, pca.transform(SIM.Z), atol=1e-7)
    assert rows(out / "scores.tsv")[3]["sample"] == "s3"
    stored = scipy.sparse.load_npz(out / "projection.npz")
    np.testing.assert_allclose(stored.toarray(), pca.projection_.toarray(), atol=1e-8)


def test_the_record_says_what_was_done(data, tmp_path, capsys):
    out = tmp_path / "deep" / "out"
    assert run(data, out, "--json", "--no-figures", "--no-center", "--tol", "1e-3") == 0
    captured = capsys.readouterr()
    told, record = json.loads(captured.out), json.loads((out / "run.json").read_text())
    assert captured.err == "" and captured.out.count("\n") == 1
    assert told["gap"] == record["solutions"][0]["gap"] <= 1e-3
    assert record["input"]["name"] == "data.csv" and record["input"]["path"] == "../../data.csv"
    assert str(tmp_path) not in (out / "run.json").read_text()
    assert set(record["versions"]) == {"fantope", "numpy", "scipy", "python"}
    assert record["parameters"]["center"] is False and record["parameters"]["alpha"] == 0.4
    assert set(record["files"]) == FILES - {"run.json"}
    assert record["seconds"]["solving"] > 0


@pytest.mark.slow
def test_quiet_says_nothing_and_figures_are_drawn(data, tmp_path, capsys):
    assert run(data, tmp_path / "out", "--quiet") == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""
    for name in ("loadings", "sparse_loadings", "gap"):
        assert (tmp_path / "out" / "figures" / f"{name}.png").read_bytes()[:4] == b"\x89PNG"
        assert b"<svg" in (tmp_path / "out" / "figures" / f"{name}.svg").read_bytes()[:1000]


def test_default_penalty_is_that_of_the_estimator(data, tmp_path, capsys):
    assert main(["fit", str(data), "-o", str(tmp_path / "out"), "--json", "--no-figures"]) == 0
    expected = fantope.SparsePCA(2, penalty="l1").fit(SIM.Z)
    assert json.loads(capsys.readouterr().out)["alpha"] == pytest.approx(expected.alpha_)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "check"),
    [
        (["--n-variables", "10"], lambda told: told["n_variables"] == 10),
        (["--variance", "0.9"], lambda told: told["explained_variance"] > 0),
        (["--norm", "6"], lambda told: told["constrained"]["norm"] <= 6 * (1 + 1e-9)),
    ],
)
def test_wishes_in_place_of_a_penalty(options, check, data, tmp_path, capsys):
    out = str(tmp_path / "out")
    assert main(["fit", str(data), *options, "--tol", "1e-3", "-o", out, "--json", "--no-figures"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert check(told)
    if "constrained" in told:
        assert told["constrained"]["objective"] <= told["constrained"]["dual_bound"]
    assert main(["verify", out, "--quiet"]) == 0


@pytest.mark.slow
def test_a_wish_is_told_to_people(data, tmp_path, capsys):
    assert main(["fit", str(data), "--norm", "6", "-o", str(tmp_path / "out"), "--no-figures"]) == 0
    assert "With ‖X‖₁ ≤ 6 (reached:" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-a", "0.1", "--norm", "3"], "give only one of -a, --n-variables, --norm, --variance"),
        (["--norm", "3", "--solver", "admm"], "--solver goes with -a, not with --norm"),
        (["--kind", "precomputed"], "is 60 × 40, but --kind precomputed"),
        (["--kind", "precomputed", "--impute", "mean"], "--impute is about data"),
        (["-a", "-1"], "-a must be a finite number, 0 or larger"),
        (["-d", "40", "-a", "1"], "less than the number of variables, 40"),
        (["-d", "0"], "-d"),
        (["--tol", "0"], "tol must be a finite number above 0"),
        (["--layer", "counts"], "leave out --layer"),
        (["--kind", "other"], "other"),
    ],
)
def test_bad_options(options, words, data, tmp_path, capsys):
    assert main(["fit", str(data), *options, "-o", str(tmp_path / "out")]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert os.listdir(tmp_path) == ["data.csv"]


def test_precomputed_matrix(tmp_path, capsys):
    S = FRAME.cov(ddof=0)
    S.to_csv(tmp_path / "s.csv")
    out = tmp_path / "out"
    options = ["fit", str(tmp_path / "s.csv"), "--kind", "precomputed", "-o", str(out), "--no-figures"]
    assert main(options) == 2
    assert "give the penalty with -a" in capsys.readouterr().err
    assert main([*options, "-a", "0.4", "--quiet"]) == 0
    assert not (out / "scores.tsv").exists()
    assert main(["verify", str(out), "--quiet"]) == 0


def test_bad_data_is_one_sentence_and_nothing_written(tmp_path, capsys):
    FRAME.assign(sex="f").to_csv(tmp_path / "data.csv")
    assert run(tmp_path / "data.csv", tmp_path / "out", "-q") == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and error.startswith("fantope: ") and "column 'sex'" in error
    assert run(tmp_path / "none.csv", tmp_path / "out", "-q") == 2
    assert "there is no such file" in capsys.readouterr().err
    assert os.listdir(tmp_path) == ["data.csv"]


def test_what_was_dropped_is_told(tmp_path, capsys):
    frame = FRAME.assign(flat=1.0)
    frame.iloc[0, 0] = np.nan
    frame.to_csv(tmp_path / "data.csv")
    out = tmp_path / "out"
    options = ["--impute", "drop", "--drop-constant", "--kind", "correlation", "--no-figures"]
    assert run(tmp_path / "data.csv", out, *options) == 0
    assert "2 variables were left out" in capsys.readouterr().out
    told = [(row["variable"], row["reason"]) for row in rows(out / "dropped.tsv")]
    assert told == [("g0", "missing values"), ("flat", "constant")]
    assert main(["verify", str(out), "--quiet"]) == 0


@pytest.mark.slow
def test_existing_folders_are_left_alone_unless_told(data, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(data, out, "-q", "--no-figures") == 0
    before = (out / "run.json").read_bytes()
    assert run(data, out, "-q", "--no-figures") == 2
    assert "exists already" in capsys.readouterr().err
    assert (out / "run.json").read_bytes() == before
    assert run(data, out, "-q", "--no-figures", "--overwrite", "--tol", "1e-3") == 0
    assert (out / "run.json").read_bytes() != before
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "work.txt").touch()
    assert run(data, tmp_path / "mine", "-q", "--overwrite") == 2
    assert "was not written by `fantope fit`" in capsys.readouterr().err


def test_folder_that_cannot_be_written(data, tmp_path, capsys, monkeypatch):
    (tmp_path / "file").touch()
    assert run(data, tmp_path / "file" / "out", "-q") == 2
    error = capsys.readouterr().err
    assert "cannot be written to" in error and "-o" in error and error.count("\n") == 1

    def refuse(*args, **options):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), "somewhere")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    assert run(data, tmp_path / "out", "-q") == 2
    assert f"{tmp_path}: cannot be written to (Permission denied); choose another" in capsys.readouterr().err


@pytest.mark.parametrize("where", ["numpy.savez_compressed", "fantope.io.results.checksum", "csv.writer"])
def test_a_full_disk_leaves_nothing_half_written(where, data, tmp_path, capsys, monkeypatch):
    def full(*args, **options):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(where, full)
    assert run(data, tmp_path / "out", "-q", "--no-figures") == 2
    error = capsys.readouterr().err
    assert "No space left on device, so nothing was written; make room" in error and error.count("\n") == 1
    assert os.listdir(tmp_path) == ["data.csv"]


@pytest.mark.slow
def test_unreached_tolerance_is_exit_code_1_with_output(data, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(data, out, "--tol", "1e-9", "--max-iter", "2", "--solver", "gradfps", "--no-figures") == 1
    assert "stopped at max_iter" in " ".join(capsys.readouterr().out.split())
    assert json.loads((out / "run.json").read_text())["solutions"][0]["status"] == "MAX_ITER"
    assert main(["verify", str(out), "--quiet"]) == 0


def interrupted(arguments, folder, when):
    """Run the command in a process of its own and interrupt it once it has said ``when``."""
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from fantope.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        said = ""
        for line in process.stderr:
            said += line
            if when in line:
                process.send_signal(signal.SIGINT)
                break
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    return process.returncode, out, said + err


@pytest.mark.posix
@pytest.mark.slow
def test_ctrl_c_writes_the_best_answer_so_far(tmp_path):
    np.save(tmp_path / "data.npy", fantope.simulate(60, 200).Z)
    arguments = ["fit", "data.npy", "-a", "0.2", "--solver", "subgradient", "--tol", "1e-9", "--max-iter", "100000000",
                 "-o", "out", "--no-figures"]  # fmt: skip
    code, out, err = interrupted(arguments, tmp_path, "gap")
    assert code == 1, err
    assert "interrupted" in out
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["solutions"][0]["status"] == "INTERRUPTED"
    assert sorted(os.listdir(tmp_path)) == ["data.npy", "out"]
    assert main(["verify", str(tmp_path / "out"), "--quiet"]) == 0


@pytest.mark.slow
def test_an_interrupt_while_writing_leaves_nothing(data, tmp_path, capsys, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("numpy.savez_compressed", stop)
    assert run(data, tmp_path / "out", "-q") == 130
    assert os.listdir(tmp_path) == ["data.csv"]


def test_help_has_an_example(capsys):
    for command in ("fit", "path", "verify"):
        assert main([command, "--help"]) == 0
        assert f"Example: fantope {command} " in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["npy", "parquet", "npz", "h5ad", "zarr"])
def test_every_format_gives_the_same_answer(ending, data, tmp_path, capsys):
    path = tmp_path / f"same.{ending}"
    if ending == "npy":
        np.save(path, SIM.Z)
    elif ending == "npz":
        scipy.sparse.save_npz(path, scipy.sparse.csr_array(SIM.Z))
    elif ending == "parquet":
        FRAME.to_parquet(path)
    elif ending == "h5ad":
        pytest.importorskip("anndata").AnnData(FRAME).write_h5ad(path)
    else:
        zarr = pytest.importorskip("zarr")
        zarr.create_array(str(path), shape=SIM.Z.shape, chunks=(16, 16), dtype="float64")[...] = SIM.Z
    told = []
    for file in (data, path):
        assert run(file, tmp_path / f"out-{file.name}", "--json", "--no-figures", "--kind", "correlation") == 0
        told.append(json.loads(capsys.readouterr().out))
    assert told[0]["objective"] == pytest.approx(told[1]["objective"], rel=1e-9)
    assert told[0]["n_variables"] == told[1]["n_variables"]
    assert main(["verify", str(tmp_path / f"out-{path.name}"), "--quiet"]) == 0


def test_solvers_to_choose_from_are_those_of_the_library():
    assert sorted(_data.SOLVERS) == sorted(SOLVERS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "gaps"),
    [
        (["--kind", "correlation", "--method", "spearman"], False),
        (["--kind", "correlation", "--method", "kendall"], False),
        (["--missing", "pairwise"], True),
        (["--kind", "correlation", "--method", "normal-scores", "--missing", "pairwise"], True),
    ],
)
def test_ranks_and_missing_values_are_fitted_and_verified(tmp_path, options, gaps):
    values = SIM.Z.copy()
    if gaps:
        values[np.random.default_rng(0).random(values.shape) < 0.05] = np.nan
    np.save(tmp_path / "data.npy", values)
    out = tmp_path / "out"
    assert main(["fit", str(tmp_path / "data.npy"), "-d", "2", "-o", str(out), "--no-figures", *options]) == 0
    assert main(["verify", str(out)]) == 0
    assert (out / "scores.tsv").exists() == (not gaps and "kendall" not in options)
    stored = json.loads((out / "certificate.json").read_text())["matrices"][0]
    assert stored["stored"] and (out / stored["file"]).exists()
