"""`--weights FILE`: read, used, stored with the certificate, and checked again by `fantope verify`."""

import json

import numpy as np
import pandas as pd
import pytest

import fantope
from fantope.cli import main
from fantope.io import operator, read
from fantope.io.results import load_dual, write_solution
from fantope.operators import DenseCovariance
from fantope.penalties import WeightedL1

P = 40
FRAME = pd.DataFrame(fantope.simulate(60, P, sizes=(6, 4)).Z, columns=[f"g{j}" for j in range(P)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("weights")
    FRAME.to_csv(folder / "data.csv", index=False)
    rng = np.random.default_rng(0)
    W = rng.uniform(0.5, 2.0, (P, P))
    W = np.triu(W) + np.triu(W, 1).T
    W[0, 1] = W[1, 0] = np.inf
    W[3] = W[:, 3] = np.inf
    np.save(folder / "weights.npy", W)
    table = pd.DataFrame(W, index=FRAME.columns, columns=FRAME.columns)
    order = rng.permutation(P)
    table.to_csv(folder / "weights.csv")
    table.iloc[order, order].to_csv(folder / "shuffled.tsv", sep="\t")
    return folder


def fit(folder, weights, out, *options):
    file = str(folder / "data.csv")
    return main(["fit", file, "--weights", str(folder / weights), "--no-figures", "--quiet", "-o", str(out), *options])


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["weights.npy", "weights.csv", "shuffled.tsv"])
def test_fit_and_verify(folder, weights, tmp_path, capsys):
    assert fit(folder, weights, tmp_path / "out", "-a", "0.3") == 0
    record = json.loads((tmp_path / "out" / "run.json").read_text())
    assert record["parameters"]["weights"] == weights
    _, S = operator(read(folder / "data.csv"), "covariance")
    penalty = WeightedL1(0.3, np.load(folder / "weights.npy"))
    sol = fantope.solve(S, 2, penalty)
    assert record["solutions"][0]["objective"] == pytest.approx(sol.objective, rel=1e-6)
    dual = load_dual(tmp_path / "out", S)
    assert dual.penalty == penalty
    everything = np.array([j for j in range(P) if j != 3])
    np.testing.assert_allclose(dual.block(everything, everything), sol.dual.block(everything, everything), atol=1e-5)
    assert main(["verify", str(tmp_path / "out"), "--data", str(folder / "data.csv")]) == 0
    assert "The certificate holds" in capsys.readouterr().out


@pytest.mark.slow
def test_changed_weights_are_found(folder, tmp_path, capsys):
    out = tmp_path / "out"
    assert fit(folder, "weights.npy", out, "-a", "0.3") == 0
    with np.load(out / "certificate.npz") as stored:
        parts = dict(stored)
    np.savez_compressed(out / "certificate.npz", **{**parts, "weights": 2.0 * parts["weights"]})
    capsys.readouterr()
    assert main(["verify", str(out), "--data", str(folder / "data.csv")]) == 1
    said = capsys.readouterr()
    assert "was changed after it was written" in said.out + said.err
    assert "the recomputed" in said.out + said.err


@pytest.mark.slow
def test_targets_and_paths(folder, tmp_path):
    assert fit(folder, "weights.npy", tmp_path / "size", "--n-variables", "12", "--tol", "1e-3") == 0
    common = ["--no-figures", "--quiet", "--weights", str(folder / "weights.npy")]
    path = ["path", str(folder / "data.csv"), "--alphas", "0.3,0.6", "-o", str(tmp_path / "path"), *common]
    assert main(path) == 0
    for name in ("size", "path"):
        assert main(["verify", str(tmp_path / name), "--data", str(folder / "data.csv"), "--quiet"]) == 0


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        (np.ones((3, 3)), "holds weights of shape (3, 3), but the data have 40 variables; give a 40 × 40 matrix"),
        (np.ones((P, 3)), "holds weights of shape (40, 3)"),
        (-np.ones((P, P)), "weights must be 0 or larger, got -1.0 at row 0, column 0"),
        (np.full((P, P), np.nan), "weights must be numbers, 0 or larger, got nan at row 0, column 0"),
        (np.triu(np.ones((P, P))), "weights must be symmetric, got 1 at row 0, column 1 but 0 the other way round"),
    ],
)
def test_bad_weights(folder, weights, sentence, tmp_path, capsys):
    np.save(tmp_path / "bad.npy", weights)
    assert fit(folder, tmp_path / "bad.npy", tmp_path / "out", "-a", "0.3") == 2
    said = capsys.readouterr().err
    assert sentence in said and "bad.npy" in said
    assert not (tmp_path / "out").exists()


def test_bad_names(folder, tmp_path, capsys):
    table = pd.read_csv(folder / "weights.csv", index_col=0)
    table.rename(index={"g7": "h7"}, columns={"g7": "h7"}).to_csv(tmp_path / "other.csv")
    table.rename(index={"g7": "h7"}).to_csv(tmp_path / "apart.csv")
    for name, sentence in (
        ("other.csv", "has no column for 1 of the variables: 'g7'; add them."),
        ("apart.csv", "names its rows and columns differently"),
        ("absent.csv", "there is no such file"),
    ):
        assert fit(folder, tmp_path / name, tmp_path / "out", "-a", "0.3") == 2
        assert sentence in capsys.readouterr().err
    assert fit(folder, "weights.npy", tmp_path / "out", "--norm", "5") == 2
    assert "--norm bounds ‖X‖₁, without weights" in capsys.readouterr().err


def test_a_block_makes_the_round_trip(tmp_path):
    S = DenseCovariance(np.cov(FRAME.to_numpy(), rowvar=False))
    penalty = WeightedL1.on_block(0.3, [4, 1, 9], [[1.0, np.inf, 0.0], [np.inf, 1.0, 2.0], [0.0, 2.0, 1.0]])
    sol = fantope.solve(S, 2, penalty)
    write_solution(tmp_path, ".", sol)
    dual = load_dual(tmp_path, S)
    assert dual.penalty == penalty
    everything = np.arange(P)
    np.testing.assert_array_equal(dual.block(everything, everything), sol.dual.block(everything, everything))
