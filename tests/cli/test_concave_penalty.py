"""`--penalty mcp|scad`: used by fit and path, stored with the certificate, and checked again by `fantope verify`."""

import json

import numpy as np
import pytest

import fantope
from fantope.cli import main
from fantope.io.results import read_result


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    file = tmp_path_factory.mktemp("penalty") / "data.npy"
    np.save(file, fantope.simulate(80, 60, sizes=(8, 6)).Z)
    return file


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["mcp", "scad"])
def test_fit_and_verify(data, penalty, tmp_path):
    out = tmp_path / "out"
    assert main(["fit", str(data), "--penalty", penalty, "--no-figures", "--quiet", "-o", str(out)]) == 0
    record = json.loads((out / "run.json").read_text())
    assert record["parameters"]["penalty"] == penalty
    pca = fantope.SparsePCA(2, penalty=penalty).fit(np.load(data))
    assert record["solutions"][0]["alpha"] == pytest.approx(pca.alpha_)
    assert len(record["solutions"][0]["steps"]) == 3
    assert main(["verify", str(out), "--quiet"]) == 0
    back = read_result(out)[0]
    assert back.steps[-1].gap == back.gap
    np.testing.assert_array_equal(back.support, pca.solution_.support)
    back.verify()


@pytest.mark.slow
def test_path_and_targets(data, tmp_path):
    commands = ["path", "--alphas", "0.5,0.3"], ["fit", "--n-variables", "14"], ["fit", "-a", "0.4"]
    for k, command in enumerate(commands):
        out = tmp_path / str(k)
        arguments = [command[0], str(data), *command[1:], "--penalty", "mcp", "--no-figures", "--quiet", "-o", str(out)]
        assert main(arguments) == 0
        assert main(["verify", str(out), "--quiet"]) == 0
        assert all(len(solution.steps) == 3 for solution in read_result(out))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--penalty", "mcp", "--weights", "w.npy"], "--weights are those of the ℓ₁ norm, which --penalty replaces"),
        (["--penalty", "mcp", "--norm", "3"], "--norm bounds ‖X‖₁"),
        (["--penalty", "lasso"], "must be l1, mcp, scad"),
    ],
)
def test_bad_input(data, options, sentence, tmp_path, capsys):
    assert main(["fit", str(data), *options, "-o", str(tmp_path / "out")]) == 2
    assert sentence in capsys.readouterr().err
