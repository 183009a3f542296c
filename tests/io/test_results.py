"""A result's folder gives back everything that was written, to the bit."""

import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

import fantope
from fantope.cli import main
from fantope.errors import FileError
from fantope.io import read_result
from fantope.io.results import SOLVER
from fantope.io.solutions import pack, unpack
from fantope.penalties import WeightedL1
from problems import sample_covariance


def assert_same(found, sol):
    """Everything of a solution is equal, bit by bit."""
    for name in ("objective", "dual_bound", "gap", "status", "n_iter", "solver", "alpha", "n_components", "n_features"):
        assert getattr(found, name) == getattr(sol, name), name
    assert found.step_size == sol.step_size
    for part in ("rows", "vectors", "weights"):
        np.testing.assert_array_equal(getattr(found.factors, part), getattr(sol.factors, part))
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(found.projection, part), getattr(sol.projection, part))
    everything = np.arange(sol.n_features)
    np.testing.assert_array_equal(found.dual.block(everything, everything), sol.dual.block(everything, everything))
    np.testing.assert_array_equal(found.components, sol.components)


@pytest.mark.slow
@pytest.mark.parametrize("p", [30, 450])  # solved whole, and by an active set
@pytest.mark.parametrize("alpha", [0.05, 0.6])
def test_a_solution_is_packed_and_unpacked_to_the_bit(p, alpha):
    S = sample_covariance(np.random.default_rng(1), 60, p)
    sol = fantope.solve(S, 2, alpha)
    found = unpack(pack(sol), sol.covariance)
    assert_same(found, sol)
    assert found.history == sol.history
    found.verify(S)
    assert_same(fantope.solve(S, 2, 0.9 * alpha, init=found), fantope.solve(S, 2, 0.9 * alpha, init=sol))


@pytest.mark.slow
@pytest.mark.parametrize("block", [False, True])
def test_a_penalty_with_weights_comes_back(block):
    S = sample_covariance(np.random.default_rng(2), 40, 20)
    weights = np.random.default_rng(3).uniform(0.5, 2.0, (20, 20))
    weights = 0.5 * (weights + weights.T)
    weights[2, 5] = weights[5, 2] = np.inf
    rows = np.array([1, 2, 5, 9])
    penalty = WeightedL1.on_block(0.3, rows, weights[np.ix_(rows, rows)]) if block else WeightedL1(0.3, weights)
    sol = fantope.solve(S, 2, penalty)
    found = unpack(pack(sol), sol.covariance)
    assert_same(found, sol)
    assert found.penalty == penalty and found.verify() == sol.verify()


@pytest.fixture
def data(tmp_path):
    sim = fantope.simulate(60, 30, sizes=(8, 6), random_state=0)
    np.save(tmp_path / "data.npy", sim.Z)
    return tmp_path / "data.npy"


def test_a_fit_comes_back_to_the_bit(data, tmp_path):
    assert main(["fit", str(data), "-d", "2", "-a", "0.5", "-o", str(tmp_path / "out"), "--no-figures", "-q"]) == 0
    (found,) = read_result(tmp_path / "out")
    sol = fantope.solve(fantope.covariance(np.load(data)), 2, 0.5)
    assert_same(found, sol)
    assert [replace(r, time=0.0) for r in found.history] == [replace(r, time=0.0) for r in sol.history]
    assert found.verify() == sol.verify()


@pytest.mark.slow
def test_a_path_comes_back(data, tmp_path):
    out = tmp_path / "out"
    assert main(["path", str(data), "--alphas", "0.9,0.7,0.5", "-o", str(out), "--no-figures", "-q"]) == 0
    found = read_result(out)
    assert found.alphas.tolist() == [0.9, 0.7, 0.5]
    sols = fantope.solve_path(fantope.covariance(np.load(data)), 2, [0.9, 0.7, 0.5])
    np.testing.assert_array_equal(found.explained_variance, sols.explained_variance)


@pytest.mark.slow
def test_a_result_written_without_the_solvers_part_is_read_as_well(data, tmp_path):
    out = tmp_path / "out"
    assert main(["fit", str(data), "-d", "2", "-a", "0.5", "-o", str(out), "--no-figures", "-q"]) == 0
    whole = read_result(out)[0]
    (out / SOLVER).unlink()
    record = json.loads((out / "run.json").read_text())
    del record["files"][SOLVER], record["files"]["certificate.json"], record["digest"]
    (out / "certificate.json").unlink()
    (out / "run.json").write_text(json.dumps(record))
    found = read_result(out)[0]
    np.testing.assert_array_equal(found.projection.toarray(), whole.projection.toarray())
    np.testing.assert_allclose(found.factors.matrix(30).toarray(), whole.projection.toarray(), atol=1e-12)
    np.testing.assert_allclose(np.abs(found.components), np.abs(whole.components), atol=1e-8)
    assert found.history == () and found.step_size is None
    assert main(["verify", str(out), "-q"]) == 0


@pytest.mark.slow
def test_what_was_changed_is_not_read_back(data, tmp_path):
    out = tmp_path / "out"
    assert main(["fit", str(data), "-d", "2", "-a", "0.5", "-o", str(out), "--no-figures", "-q"]) == 0
    other = tmp_path / "other.npy"
    np.save(other, np.load(data) + 1.0)
    with pytest.raises(FileError, match="is not the file that was fitted: its checksum differs; run `fantope fit`"):
        read_result(out, other)
    shutil.copy(out / "certificate.npz", out / SOLVER)
    with pytest.raises(FileError, match=r"solver\.npz was changed after it was written"):
        read_result(out)
