"""`fantope path`: the grid, what it writes, how it ends."""

import csv
import json
import os
import signal
import subprocess
import sys

import click
import numpy as np
import pandas as pd
import pytest

import fantope
from fantope.cli import main
from fantope.cli.path import parse_alphas
from fantope.path import walk

SIM = fantope.simulate(60, 40, sizes=(6, 4))
FRAME = pd.DataFrame(SIM.Z, columns=[f"g{j}" for j in range(40)], index=[f"s{i}" for i in range(60)])


@pytest.fixture
def data(tmp_path):
    FRAME.to_csv(tmp_path / "data.csv")
    return tmp_path / "data.csv"


def run(data, out, *options):
    return main(["path", str(data), "-o", str(out), *options])


def rows(file):
    with file.open(encoding="utf-8") as handle:
        return list(csv.DictReader(handle, delimiter="\t"))


@pytest.mark.parametrize(
    ("text", "alphas"),
    [
        ("0.85:0.95:0.01", [0.85, 0.86, 0.87, 0.88, 0.89, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95]),
        ("1:0.5:-0.25", [1.0, 0.75, 0.5]),
        ("0.1:0.25:0.1", [0.1, 0.2]),
        ("0.5:0.5:1", [0.5]),
        ("0.9, 0.5", [0.9, 0.5]),
        ("3", [3.0]),
    ],
)
def test_grids(text, alphas):
    assert parse_alphas(text) == alphas


@pytest.mark.parametrize("text", ["", "a", "1:2", "1:2:0", "1:2:-1", "0:1:1e-9", "1:2:3:4", "0:inf:1", "nan:1:1"])
def test_bad_grids(text):
    with pytest.raises(click.BadParameter, match=r"for example 0\.85:0\.95:0\.01"):
        parse_alphas(text)


@pytest.mark.slow
def test_tables_hold_the_path(data, tmp_path, capsys):
    out = tmp_path / "out"
    assert run(data, out, "--alphas", "0.4:1.2:0.4") == 0
    captured = capsys.readouterr()
    assert "Certified solutions" in captured.out
    assert "alpha 1.2 (1 of 3), gap" in captured.err and "active" in captured.err and " left" in captured.err
    expected = fantope.solve_path(fantope.covariance(SIM.Z), 2, [0.4, 0.8, 1.2])
    table = rows(out / "path.tsv")
    np.testing.assert_allclose([float(row["alpha"]) for row in table], [1.2, 0.8, 0.4])
    np.testing.assert_array_equal([int(row["n_variables"]) for row in table], expected.n_active)
    variances = [float(row["explained_variance"]) for row in table]
    np.testing.assert_allclose(variances, expected.explained_variance, rtol=1e-6)
    assert all(float(row["gap"]) <= 1e-3 and row["status"] == "SOLVED" for row in table)
    leverages = rows(out / "leverages.tsv")
    assert sum(float(row["leverage"]) for row in leverages if row["alpha"] == "0.4") == pytest.approx(2)
    assert {row["variable"] for row in leverages if row["alpha"] == "0.4"} == {f"g{j}" for j in expected[-1].support}
    assert {row["alpha"] for row in rows(out / "loadings.tsv")} == {"1.2", "0.8", "0.4"}
    assert len(rows(out / "components.tsv")) == 6
    assert [row["solution"] for row in table] == ["solutions/0", "solutions/1", "solutions/2"]
    assert all((out / row["solution"] / "projection.npz").is_file() for row in table)
    assert {file.name for file in (out / "figures").iterdir()} == {
        f"{name}.{ending}"
        for name in ("leverages", "explained_variance", "gap", "loadings", "sparse_loadings")
        for ending in ("png", "svg")
    }


def test_automatic_grid_and_its_limits(data, tmp_path, capsys):
    options = ["--n-alphas", "6", "--max-variables", "8", "--json", "--no-figures"]
    assert run(data, tmp_path / "out", *options) == 0
    captured = capsys.readouterr()
    told = json.loads(captured.out)
    assert captured.err == "" and not told["interrupted"]
    assert 1 <= len(told["solutions"]) < 6
    assert all(each["n_variables"] <= 8 for each in told["solutions"])
    assert main(["verify", str(tmp_path / "out"), "--quiet"]) == 0


@pytest.mark.slow
def test_quiet_says_nothing(data, tmp_path, capsys):
    assert run(data, tmp_path / "out", "--alphas", "0.8", "--quiet") == 0
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


@pytest.mark.slow
def test_unreached_tolerance_is_exit_code_1_with_output(data, tmp_path, capsys):
    options = ["--alphas", "0.3", "--tol", "1e-9", "--max-iter", "2", "--solver", "gradfps", "--no-figures"]
    assert run(data, tmp_path / "out", *options) == 1
    assert "MAX_ITER: stopped at max_iter" in " ".join(capsys.readouterr().out.split())
    assert main(["verify", str(tmp_path / "out"), "--quiet"]) == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--alphas", "1:0:1"], "neither start:stop:step nor"),
        (["--alphas", "-1,0.5"], "alphas must be a finite number"),
        (["--n-alphas", "0"], "--n-alphas"),
        (["-d", "99", "--alphas", "1"], "less than the number of variables"),
    ],
)
def test_bad_options(options, words, data, tmp_path, capsys):
    assert run(data, tmp_path / "out", *options) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert os.listdir(tmp_path) == ["data.csv"]


def test_a_folder_of_another_command_is_left_alone(data, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["fit", str(data), "-a", "1", "-o", str(out), "-q", "--no-figures"]) == 0
    assert run(data, out, "--alphas", "1", "--overwrite") == 2
    assert "was not written by `fantope path`" in capsys.readouterr().err


@pytest.mark.slow
def test_an_interrupt_between_two_penalties_keeps_those_before(data, tmp_path, capsys, monkeypatch):
    calls = []
    genuine = walk.decompose

    def stop_at_the_third(*args, **options):
        calls.append(1)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
        return genuine(*args, **options)

    monkeypatch.setattr(walk, "decompose", stop_at_the_third)
    out = tmp_path / "out"
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    try:
        assert run(data, out, "--alphas", "0.4:1.2:0.2", "--no-figures") == 1
    finally:
        signal.signal(signal.SIGINT, before)
    assert "Interrupted after 2 penalties" in capsys.readouterr().out
    record = json.loads((out / "run.json").read_text())
    assert record["interrupted"] and len(record["solutions"]) == 2
    assert main(["verify", str(out), "--quiet"]) == 0


def test_an_interrupt_before_the_first_leaves_nothing(data, tmp_path, monkeypatch):
    def stop(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr(walk, "decompose", stop)
    assert run(data, tmp_path / "out", "--alphas", "0.4,0.5", "-q") == 130
    assert os.listdir(tmp_path) == ["data.csv"]


@pytest.mark.posix
@pytest.mark.slow
def test_ctrl_c_writes_what_has_been_solved(tmp_path):
    np.save(tmp_path / "data.npy", fantope.simulate(60, 200).Z)
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from fantope.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    arguments = ["path", "data.npy", "--alphas", "9,0.2", "--solver", "subgradient", "--tol", "1e-9", "--max-iter",
                 "100000000", "-o", "out", "--no-figures"]  # fmt: skip
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip
    try:
        for line in process.stderr:
            if "alpha 0.2" in line:
                process.send_signal(signal.SIGINT)
                break
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 1, err
    assert "Interrupted after 2 penalties" in out
    statuses = [each["status"] for each in json.loads((tmp_path / "out" / "run.json").read_text())["solutions"]]
    assert statuses == ["SOLVED", "INTERRUPTED"]
    assert sorted(os.listdir(tmp_path)) == ["data.npy", "out"]
    assert main(["verify", str(tmp_path / "out"), "--quiet"]) == 0
