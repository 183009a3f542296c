"""The graphical lasso on a stream."""

import csv
import json

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import fantope
from fantope.cli import main
from fantope.online import PrecisionLeader, PrecisionRegret, Stream


def chain(n=300, p=12, seed=0):
    Z = np.random.default_rng(seed).standard_normal((n, p))
    Z[:, 1:6] += 0.8 * Z[:, :5]
    return Z + 2.0


Z = chain()


@pytest.mark.slow
@parametrize_with_checks([fantope.OnlineSparsePrecision(solve_every=10)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [1.0, 1e-6])
def test_after_a_solve_it_is_the_batch_answer(unit):
    network = fantope.OnlineSparsePrecision(alpha=0.2 * unit**2, solve_every=100).partial_fit(unit * Z)
    S = np.cov(unit * Z.T, bias=True)
    np.testing.assert_allclose(network.covariance_, S, rtol=1e-9, atol=1e-9 * unit**2)
    best = fantope.graphical_lasso(S, 0.2 * unit**2, tol=1e-6)
    np.testing.assert_allclose(network.precision_ * unit**2, best.precision.toarray() * unit**2, atol=0.03)
    assert network.gap_ <= 1e-3 and network.n_edges_ >= 5
    assert network.partial_correlations_[0, 1] > 0.3 and 0 in network.support_


@pytest.mark.slow
def test_the_regret_is_the_sum_of_its_losses():
    alpha = 0.2
    stream = Stream(PrecisionLeader(12, alpha, every=20), False, tracker=PrecisionRegret(alpha, 1))
    plain, total, rows = PrecisionLeader(12, alpha, every=20), 0.0, Z - 2.0
    stream.update_many(rows)

    def loss(Theta, z):
        off = np.abs(Theta).sum() - np.abs(np.diag(Theta)).sum()
        return -np.linalg.slogdet(Theta)[1] + z @ Theta @ z + alpha * off

    for t, z in enumerate(rows):
        total += loss(plain.precision, z) if t else 0.0
        plain.update_many(z[None])
    hindsight = sum(loss(plain.precision, z) for z in rows[1:])
    assert stream.tracker.count == 299
    assert stream.average_regret() == pytest.approx((total - hindsight) / 299)
    half = Stream(PrecisionLeader(12, alpha, every=20), False, tracker=PrecisionRegret(alpha, 1))
    half.update_many(rows[:150])
    assert stream.average_regret() < half.average_regret()  # it falls, as log T/T would


@pytest.mark.slow
def test_a_saved_state_goes_on_to_the_bit(tmp_path):
    options = {"alpha": 0.2, "solve_every": 20, "track": 5, "forgetting": 0.99}
    whole = fantope.OnlineSparsePrecision(**options).partial_fit(Z)
    fantope.OnlineSparsePrecision(**options).partial_fit(Z[:131]).save(tmp_path / "state")
    again = fantope.load(tmp_path / "state").partial_fit(Z[131:])
    assert type(again) is fantope.OnlineSparsePrecision
    assert np.array_equal(again.precision_, whole.precision_) and again.average_regret_ == whole.average_regret_


@pytest.mark.slow
def test_samples_one_by_one_as_mappings():
    network, whole = (fantope.OnlineSparsePrecision(alpha=0.2, solve_every=20) for _ in range(2))
    for z in Z[:60]:
        network.learn_one({f"v{k}": float(x) for k, x in enumerate(z)})
    assert np.array_equal(network.precision_, whole.partial_fit(Z[:60]).precision_)
    assert list(network.feature_names_in_) == [f"v{k}" for k in range(12)]


@pytest.mark.slow
def test_merging_and_windows():
    one, two = (fantope.OnlineSparsePrecision(alpha=0.2).partial_fit(part) for part in (Z[:200], Z[200:]))
    S = np.cov(Z.T, bias=True)
    merged = one.merge(two)
    np.testing.assert_allclose(merged.covariance_, S, atol=1e-10)
    best = fantope.graphical_lasso(S, 0.2, tol=1e-6).precision.toarray()
    np.testing.assert_allclose(merged.precision_, best, atol=0.03)
    window = fantope.OnlineSparsePrecision(alpha=0.2, window=50, solve_every=30).partial_fit(Z)
    np.testing.assert_allclose(window.covariance_, np.cov(Z[250:].T, bias=True), atol=1e-10)


def test_a_variable_that_has_not_varied_yet_is_waited_for():
    rows = Z[:60].copy()
    rows[:40, 3] = 1.0
    network = fantope.OnlineSparsePrecision(alpha=0.2, solve_every=10)
    assert np.array_equal(network.partial_fit(rows[:40]).precision_, np.eye(12)) and np.isnan(network.gap_)
    assert network.partial_fit(rows[40:]).gap_ <= 1e-3


def test_what_cannot_be_asked_of_it():
    with pytest.raises(ValueError, match="sparse components"):
        fantope.OnlineSparsePrecision().watch(0.2)
    with pytest.raises(ValueError, match="use one of the two"):
        fantope.OnlineSparsePrecision(window=10, forgetting=0.9).fit(Z)


# --- on the command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "a.csv"
    np.savetxt(file, Z, delimiter=",", header=",".join(f"v{k}" for k in range(12)), comments="")
    return str(file)


WORDS = ["--algorithm", "graphical-lasso", "-a", "0.2", "--solve-every", "50", "--track", "25"]


@pytest.mark.slow
def test_the_stream_command_writes_the_network(tmp_path, source, capsys):
    out, log, snapshots = tmp_path / "out", tmp_path / "log.csv", tmp_path / "s"
    more = ["--log", str(log), "--log-every", "100", "--snapshots", str(snapshots), "--snapshot-every", "150"]
    assert main(["stream", source, "--json", *WORDS, "-o", str(out), *more, "--serve", "0"]) == 0
    summary = json.loads(capsys.readouterr().out)
    network = fantope.load(out / "state.fantope")
    with (out / "edges.csv").open(newline="") as file:
        edges = list(csv.DictReader(file))
    assert len(edges) == network.n_edges_ > 0 and summary["support"] == len(network.support_)
    assert summary["average_regret"] == network.average_regret_ and summary["explained_variance_ratio"] == []
    first = edges[0]
    i, j = int(first["variable1"][1:]), int(first["variable2"][1:])
    assert float(first["partial_correlation"]) == network.partial_correlations_[i, j]
    assert float(first["precision"]) == network.precision_[i, j]
    assert sorted(file.name for file in snapshots.iterdir()) == ["edges-000000000150.csv", "edges-000000000300.csv"]
    with log.open(newline="") as file:
        assert [row["samples"] for row in csv.DictReader(file)] == ["100", "200", "300"]


@pytest.mark.slow
def test_a_run_in_parts_is_the_whole_run(tmp_path, source, capsys):
    checkpoint = ["--checkpoint", str(tmp_path / "ck")]
    assert main(["stream", source, "-q", *WORDS, *checkpoint, "--max-samples", "133"]) == 0
    assert main(["stream", source, "-q", *WORDS, *checkpoint]) == 0
    whole = fantope.OnlineSparsePrecision(alpha=0.2, solve_every=50, track=25).fit(Z)
    assert np.array_equal(fantope.load(tmp_path / "ck").precision_, whole.precision_)
    assert main(["stream", source, "-q", *checkpoint]) == 2
    assert "made with --algorithm graphical-lasso, this is online-t" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["-d", "3"], ["--alarm", "0.2"], ["--nu", "1"], ["--loosen", "2"]])
def test_options_that_are_not_for_networks(source, capsys, words):
    assert main(["stream", source, *WORDS[:2], *words]) == 2
    assert f"{words[0]} is for --algorithm" in " ".join(capsys.readouterr().err.split())


def test_a_penalty_of_zero_is_refused(source, capsys):
    assert main(["stream", source, *WORDS[:2], "-a", "0"]) == 2
    assert "alpha" in capsys.readouterr().err
