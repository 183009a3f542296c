"""`--penalty WHAT`: parsed, used, stored with the certificate, and checked again by `fantope verify`."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fantope
from fantope.cli import main
from fantope.io import read_result
from fantope.penalties import Group, NonNegative, Smooth, Trend

P = 20
FRAME = pd.DataFrame(fantope.simulate(60, P, sizes=(6, 4)).Z, columns=[f"g{j}" for j in range(P)])
LABELS = [f"sector {j // 4}" for j in range(P)]
CHAIN = np.diag([1.0] + [2.0] * (P - 2) + [1.0]) - np.eye(P, k=1) - np.eye(P, k=-1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("penalty")
    FRAME.to_csv(folder / "data.csv", index=False)
    lines = [f"{name},{label}" for name, label in zip(FRAME.columns, LABELS, strict=True)]
    (folder / "groups.csv").write_text("\n".join(["variable,group", *lines[::-1]]))
    (folder / "labels.txt").write_text("\n".join(LABELS))
    (folder / "short.txt").write_text("a\nb\n")
    graph = pd.DataFrame(CHAIN, index=FRAME.columns, columns=FRAME.columns).iloc[::-1, ::-1]
    graph.to_csv(folder / "chain.csv", index=False)
    graph.iloc[:3, :3].to_csv(folder / "part.csv", index=False)
    (-graph).to_csv(folder / "minus.csv", index=False)
    (folder / "wrong.csv").write_text("g0,a\ng1,b\n")
    return folder


def command(name, folder, penalty, out, *options):
    text = penalty.replace("FOLDER", str(folder))
    data = str(folder / "data.csv")
    return main([name, data, "--penalty", text, "--no-figures", "--quiet", "-o", str(out), *options])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "penalty"),
    [
        ("non-negative", NonNegative(0.1)),
        ("smooth:0.5", Smooth(0.1, 0.5)),
        ("smooth:0.5:1", Smooth(0.1, 0.5, order=1)),
        ("smooth:0.5:FOLDER/chain.csv", Smooth(0.1, 0.5, laplacian=CHAIN)),
        ("trend", Trend(0.1)),
        ("trend:2:0.5", Trend(0.1, order=2, l1=0.5)),
        ("group:FOLDER/groups.csv", Group(0.1, LABELS)),
        ("group:FOLDER/labels.txt:0.5", Group(0.1, LABELS, l1_share=0.5)),
    ],
)
def test_fit_and_verify(folder, text, penalty, tmp_path, capsys):
    out = tmp_path / "out"
    assert command("fit", folder, text, out, "-a", "0.1") == 0
    read_back = read_result(out, folder / "data.csv")[0]
    assert read_back.penalty == penalty
    read_back.verify()
    sol = fantope.solve(fantope.covariance(FRAME.to_numpy()), 2, penalty)
    assert max(sol.objective, read_back.objective) <= min(sol.dual_bound, read_back.dual_bound)
    assert main(["verify", str(out), "--data", str(folder / "data.csv")]) == 0
    assert "The certificate holds" in capsys.readouterr().out
    checker = Path(__file__).resolve().parents[2] / "checker" / "fantope_check.py"
    found = subprocess.run([sys.executable, checker, out, folder / "data.csv"], capture_output=True, text=True)
    assert found.returncode == 0 and "All of it holds" in found.stdout


@pytest.mark.slow
def test_path_and_target(folder, tmp_path):
    assert command("path", folder, "trend", tmp_path / "path", "--n-alphas", "3") == 0
    assert len(read_result(tmp_path / "path", folder / "data.csv")) == 3
    assert command("fit", folder, "non-negative", tmp_path / "fit", "--n-variables", "6") == 0
    assert main(["verify", str(tmp_path / "path"), "--data", str(folder / "data.csv"), "--quiet"]) == 0


@pytest.mark.slow
def test_a_changed_part_is_found(folder, tmp_path, capsys):
    out = tmp_path / "out"
    assert command("fit", folder, "trend", out, "-a", "0.1") == 0
    with np.load(out / "certificate.npz") as stored:
        arrays = dict(stored)
    arrays["part0"] = 1.5 * arrays["part0"]
    np.savez_compressed(out / "certificate.npz", **arrays)
    assert main(["verify", str(out), "--data", str(folder / "data.csv"), "--json"]) == 1
    assert "leaves the dual set of the penalty" in json.dumps(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("ridge", (), "must be l1, mcp, scad, non-negative, smooth:RHO"),
        ("smooth", (), "must be l1, mcp, scad, non-negative, smooth:RHO"),
        ("smooth:rough", (), "must be l1, mcp, scad, non-negative, smooth:RHO"),
        ("smooth:-1", (), "rho must be a finite number, 0 or larger"),
        ("smooth:1:0", (), "order must be a whole number, 1 or larger"),
        ("smooth:1:FOLDER/none.csv", (), "none.csv"),
        ("smooth:1:FOLDER/part.csv", (), "part.csv: has no column for 17 of the variables"),
        ("smooth:1:FOLDER/minus.csv", (), "minus.csv: laplacian must be positive semidefinite"),
        ("trend:0", (), "order must be a whole number, 1 or larger"),
        ("trend:1:2:3", (), "must be l1, mcp, scad, non-negative, smooth:RHO"),
        ("group:FOLDER/none.csv", (), "none.csv"),
        ("group:FOLDER/short.txt", (), "names 2 groups, but the data have 20 variables"),
        ("group:FOLDER/wrong.csv", (), "has no group for 18 of the variables"),
        ("trend", ("--weights", "w.csv"), "--weights are those of the ℓ₁ norm, which --penalty replaces"),
        ("trend", ("--norm", "3"), "--norm bounds ‖X‖₁, without weights; leave out --penalty"),
        ("trend", ("--solver", "gradfps", "-a", "0.1"), "must be 'auto' or 'admm' for a penalty that couples entries"),
    ],
)
def test_refused(folder, text, options, message, tmp_path, capsys):
    assert command("fit", folder, text, tmp_path / "out", *options) == 2
    assert message in " ".join(capsys.readouterr().err.split())
