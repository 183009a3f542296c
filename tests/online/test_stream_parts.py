"""Centring, regret, baselines, saved files."""

import numpy as np
import pytest

from fantope.online import (
    CandidPCA,
    CheckpointError,
    IncrementalPCA,
    Oja,
    OnlineP,
    OnlineT,
    RegretTracker,
    Stream,
    fantope_distance,
)
from fantope.online.persist import previous, read_state, write_state
from fantope.problem.simplex import capped_simplex
from fantope.simulation import simulate


@pytest.mark.slow
@pytest.mark.parametrize("forgetting", [1.0, 0.9])
def test_running_mean_gives_the_usual_covariance(forgetting):
    X = simulate(30, 36).Z + 5.0
    stream = Stream(OnlineP(36, 2, 0.2, loosen=1e6, forgetting=forgetting), True, forgetting)
    stream.update_many(X)
    weights = forgetting ** np.arange(29, -1, -1)
    mean = weights @ X / weights.sum()
    S = (X - mean).T @ ((X - mean) * weights[:, None]) / weights.sum()
    np.testing.assert_allclose(stream.mean, mean, atol=1e-12)
    np.testing.assert_allclose(stream.learner.S, S, atol=1e-11)


def test_distance_is_that_of_the_nearest_point():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8, 8))
    X = X + X.T
    values, vectors = np.linalg.eigh(X)
    nearest = (vectors * capped_simplex(values, 3)) @ vectors.T
    assert fantope_distance(X, 3) == pytest.approx(np.linalg.norm(X - nearest))


@pytest.mark.slow
def test_regret_is_the_papers_sum():
    sim = simulate(40, 40)
    alpha, nu = 0.2, 3.0
    tracker = RegretTracker(2, alpha, nu, 1, sim.projection)
    hindsight = RegretTracker(2, alpha, nu, 1)
    stream = Stream(OnlineT(40, 2, alpha, nu=nu), False, 1.0, tracker)
    plain = OnlineT(40, 2, alpha, nu=nu)
    second = Stream(OnlineT(40, 2, alpha, nu=nu), False, 1.0, hindsight)
    stream.update_many(sim.Z)
    second.update_many(sim.Z)
    total = 0.0
    for t, z in enumerate(sim.Z):
        if t:
            X = plain.iterate()
            total += -z @ X @ z + alpha * np.abs(X).sum() + nu * fantope_distance(X, 2)
            total -= -z @ sim.projection @ z + alpha * np.abs(sim.projection).sum()
        plain.update_many(z[None])
    assert tracker.count == 39
    assert tracker.regret() == pytest.approx(total)
    assert stream.average_regret() == pytest.approx(total / 39)
    X = second.learner.estimate().matrix(40).toarray()
    expected = hindsight.loss + sum(z @ X @ z for z in sim.Z[1:]) - 39 * alpha * np.abs(X).sum()
    assert hindsight.regret(second.learner.estimate()) == pytest.approx(expected)


@pytest.mark.slow
def test_tracking_costs_nothing_when_off_and_changes_nothing_when_on():
    Z = simulate(60, 40).Z
    streams = [Stream(OnlineT(40, 2, 0.2), True, 1.0, tracker)
               for tracker in (None, RegretTracker(2, 0.2, 1.0, 0), RegretTracker(2, 0.2, 1.0, 7))]  # fmt: skip
    for stream in streams:
        stream.update_many(Z)
    assert streams[1].tracker.count == 0 and streams[2].tracker.count == 8
    for stream in streams[1:]:
        np.testing.assert_array_equal(stream.learner.iterate(), streams[0].learner.iterate())


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Oja, IncrementalPCA, CandidPCA])
def test_baselines_find_the_leading_subspace(kind):
    sim = simulate(6000, 50)
    learner = kind(50, 2)
    learner.update_many(sim.Z[:5])
    state = {key: np.array(v) if isinstance(v, np.ndarray) else v for key, v in learner.state().items()}
    learner.update_many(sim.Z[5:])
    X = learner.estimate()
    np.testing.assert_allclose(X.vectors @ X.vectors.T, np.eye(2), atol=1e-9)
    assert np.linalg.norm(X.matrix(50).toarray() - sim.projection) < 0.35
    again = kind(50, 2)
    again.restore(state)
    again.update_many(sim.Z[5:])
    np.testing.assert_array_equal(again.V, learner.V)


def test_files_are_exact_and_atomic(tmp_path):
    file = tmp_path / "state"
    state = {"a": {"x": np.array([0.1, np.nan]), "n": 3}, "f": 0.1, "inf": float("inf"), "b": np.arange(3)}
    write_state(file, {"who": "me"}, state, keep_previous=True)
    write_state(file, {"who": "you"}, state, keep_previous=True)
    header, found = read_state(file)
    assert header == {"who": "you"} and read_state(previous(file))[0] == {"who": "me"}
    assert found["f"] == 0.1 and found["inf"] == float("inf") and found["a"]["n"] == 3
    np.testing.assert_array_equal(found["a"]["x"], state["a"]["x"])
    assert {each.name for each in tmp_path.iterdir()} == {"state", "state.previous"}
    with pytest.raises(TypeError):
        write_state(file, {"who": object()}, state, keep_previous=False)
    assert read_state(file)[0] == {"who": "you"}


def test_every_damaged_byte_is_noticed(tmp_path):
    file = tmp_path / "state"
    write_state(file, {}, {"a": np.arange(40.0), "f": 1.5}, keep_previous=False)
    data = file.read_bytes()
    assert read_state(file)[1]["f"] == 1.5
    for cut in (0, 1, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:cut])
        with pytest.raises(CheckpointError):
            read_state(file)
    start = data.index(np.arange(40.0).tobytes())
    for place in range(start, start + 320, 17):
        damaged = bytearray(data)
        damaged[place] ^= 1
        file.write_bytes(bytes(damaged))
        with pytest.raises(CheckpointError):
            read_state(file)
