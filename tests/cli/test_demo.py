import csv
import json

import numpy as np
import pytest

from fantope.cli import main
from fantope.cli._demo_run import _matched, _score
from fantope.simulation import simulate

SMALL = ["demo", "--n", "80", "--p", "40", "--tol", "1e-3", "--draws", "2"]


def test_truth_scores_perfectly():
    sim = simulate(20, 50)
    row = _score("truth", sim.loadings.T[::-1] * 3, sim, 0.0)
    assert row["subspace_error"] == pytest.approx(0, abs=1e-12)
    assert (row["support_size"], row["precision"], row["recall"]) == (35, 1.0, 1.0)
    assert row["explained_variance_true"] == pytest.approx(18 / sim.eigenvalues.sum())


def test_vanished_components_still_score():
    sim = simulate(20, 50)
    row = _score("nothing", np.zeros((2, 50)), sim, 0.0)
    assert row["subspace_error"] == pytest.approx(np.sqrt(2))
    assert (row["support_size"], row["precision"], row["recall"]) == (0, 0.0, 0.0)


def test_matching_undoes_order_sign_and_scale():
    sim = simulate(20, 50)
    np.testing.assert_allclose(_matched(-4 * sim.loadings.T[::-1], sim), sim.loadings.T)


@pytest.mark.slow
def test_demo_writes_a_whole_folder_and_replaces_its_own(tmp_path, capsys):
    out = tmp_path / "out"
    for _ in range(2):
        assert main([*SMALL, "-o", str(out), "--json"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert result["status"] == "SOLVED" and result["gap"] <= 1e-3
    assert {file.name for file in out.iterdir()} == {
        "comparison.csv", "comparison.json", "figure1.png", "result.png", "run.json",
    }  # fmt: skip
    with (out / "comparison.csv").open(encoding="utf-8") as file:
        methods = [row["method"] for row in csv.DictReader(file)]
    assert methods[0] == "PCA" and methods[1].startswith("SparsePCA") and methods[2] == "fantope"


@pytest.mark.slow
def test_demo_talks_in_plain_lines_off_a_terminal(tmp_path, capsys):
    assert main([*SMALL, "-o", str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    assert "certified gap: " in captured.err and "\x1b" not in captured.err
    assert "How close each method comes" in captured.out


@pytest.mark.slow
def test_unreached_tolerance_is_exit_code_1_with_output(tmp_path):
    out = tmp_path / "out"
    assert main([*SMALL, "--tol", "1e-9", "--max-iter", "2", "-o", str(out), "--quiet"]) == 1
    assert (out / "result.png").exists()


def test_bad_input_is_exit_code_2(tmp_path, capsys):
    assert main(["demo", "--p", "10", "-o", str(tmp_path / "out")]) == 2
    assert "p must be at least" in capsys.readouterr().err
    (tmp_path / "mine").touch()
    assert main([*SMALL, "-o", str(tmp_path)]) == 2
    assert "was not written by" in capsys.readouterr().err
