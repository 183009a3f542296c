"""An alarm with a proof."""

import signal

import numpy as np
import pytest

import fantope
from fantope import OnlineSparsePCA, simulate
from fantope.online import OnlineT, Stream, Watch


def changing(n=1200, p=60, change=800):
    Z = simulate(n, p).Z + 2.0
    Z[change:] = Z[change:, ::-1]
    return Z


@pytest.mark.parametrize("unit", [1.0, pytest.param(1e-7, marks=pytest.mark.slow)])
def test_a_change_is_proven_and_nothing_else(unit):
    Z, seen = unit * changing(), []
    pca = OnlineSparsePCA(2, alpha=0.1 * unit**2).watch(0.2, window=160, callback=seen.append)
    for rows in np.array_split(Z, 37):
        pca.partial_fit(rows)
    assert [check.sample for check in seen] == list(range(320, 1201, 40)) and pca.checks_ == tuple(seen)
    before = [check for check in seen if check.sample <= 800]
    assert not any(check.alarm for check in before) and max(check.held_out for check in before) < 0.1
    first = next(check for check in seen if check.alarm)
    assert 800 < first.sample <= 960 and pca.n_alarms_ == sum(check.alarm for check in seen)
    for check in seen:
        assert 0.0 <= check.at_least <= check.at_most <= 1.0 and check.at_most - check.at_least < 0.02


@pytest.mark.slow
def test_the_share_is_what_another_computation_brackets():
    Z = changing()
    pca = OnlineSparsePCA(2, alpha=0.1).watch(0.2, window=160).partial_fit(Z[:1000])
    S = np.cov(Z[840:1000].T, bias=True)
    best = fantope.solve(S, 2, 0.1, tol=1e-6)
    V = pca._stream.learner.estimate().vectors[:2]
    candidates = [pca.projection_.toarray(), V.T @ V] if V.shape[1] == 60 else [pca.projection_.toarray()]
    reached = max((S * X).sum() - 0.1 * np.abs(X).sum() for X in candidates)
    check = pca.checks_[-1]
    assert check.sample == 1000
    assert check.at_least <= 1.0 - reached / best.dual_bound + 1e-9
    assert check.at_most >= 1.0 - reached / best.objective - 1e-9


@pytest.mark.slow
def test_blocks_and_files_make_no_difference(tmp_path):
    Z = changing()
    whole = OnlineSparsePCA(2, alpha=0.1).watch(0.3, window=100, every=50).partial_fit(Z)
    part = OnlineSparsePCA(2, alpha=0.1).watch(0.3, window=100, every=50).partial_fit(Z[:777])
    part.save(tmp_path / "state")
    again, heard = fantope.load(tmp_path / "state"), []
    again.watch(0.3, window=100, every=50, callback=heard.append)  # the callback alone is new
    for z in Z[777:]:
        again.partial_fit(z[None])
    assert again.checks_ == whole.checks_ and heard == [check for check in whole.checks_ if check.sample > 777]


@pytest.mark.slow
def test_watching_ends_begins_and_begins_anew():
    Z = changing()
    pca = OnlineSparsePCA(2, alpha=0.1).partial_fit(Z[:100])
    assert pca.checks_ == () and pca.n_alarms_ == 0
    pca.watch(0.3, window=50).partial_fit(Z[100:230])
    assert [check.sample for check in pca.checks_] == [200, 212, 224]
    assert [check.sample for check in pca.fit(Z[:120]).checks_] == [100, 112]
    assert pca.watch(None).partial_fit(Z[120:200]).checks_ == ()


@pytest.mark.slow
def test_an_interrupted_block_is_seen_as_far_as_it_was_learnt(monkeypatch):
    Z = changing()
    learner = OnlineT(60, 2, 0.1)
    learner.block = 10
    stream = Stream(learner, watch=Watch(60, 0.1, 0.3, 20))
    original, calls = OnlineT.update_many, []

    def interrupted(self, rows):
        calls.append(len(rows))
        if len(calls) == 3:
            raise KeyboardInterrupt
        original(self, rows)

    monkeypatch.setattr(OnlineT, "update_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        stream.update_many(Z[:100])
    assert stream.n_samples == stream.watch.window.count == 20
    stream.update_many(Z[20:45])
    assert [check.sample for check in stream.watch.checks] == [40, 45]


@pytest.mark.slow
def test_an_interrupted_check_is_made_before_the_next_sample(monkeypatch):
    Z = changing()
    reference, stream = (Stream(OnlineT(60, 2, 0.1), watch=Watch(60, 0.1, 0.3, 20)) for _ in range(2))
    reference.update_many(Z[:60])
    with monkeypatch.context() as during:
        during.setattr(Watch, "check", lambda *_: signal.raise_signal(signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            stream.update_many(Z[:60])
    assert stream.n_samples == 40 and not stream.watch.checks
    stream.update_many(Z[40:60])
    assert stream.watch.checks == reference.watch.checks and len(stream.watch.checks) == 5


@pytest.mark.slow
def test_nothing_worth_its_penalty_is_no_alarm():
    pca = OnlineSparsePCA(2, alpha=1e3).watch(0.01, window=20).partial_fit(changing()[:60])
    assert pca.checks_[-1].at_least == 0.0 and pca.n_alarms_ == 0


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"threshold": 1.0}, "threshold must be a share above 0 and below 1, got 1.0"),
        ({"threshold": float("nan")}, "above 0 and below 1, got nan"),
        ({"threshold": "much"}, "above 0 and below 1, got 'much'"),
        ({"window": 3}, "window must be a whole number, 4 samples or more, got 3"),
        ({"window": 50.5}, "window must be a whole number, 4 samples or more, got 50.5"),
        ({"every": 0}, "every must be a whole number, 1 sample or more, got 0"),
        ({"callback": 3}, "callback must be a function of a Check, got 3"),
    ],
)
def test_impossible_watches_are_refused_at_once(options, text):
    with pytest.raises(ValueError, match=text):
        OnlineSparsePCA(2).watch(**options)


@pytest.mark.slow
def test_many_variables_need_no_dense_covariance(monkeypatch):
    monkeypatch.setattr("fantope.online.watch.DENSE_UP_TO", 10)
    Z = changing()
    sparse = OnlineSparsePCA(2, alpha=0.1).watch(0.3, window=100).partial_fit(Z[:210])
    monkeypatch.undo()
    dense = OnlineSparsePCA(2, alpha=0.1).watch(0.3, window=100).partial_fit(Z[:210])
    assert sparse.checks_[-1].at_least == pytest.approx(dense.checks_[-1].at_least, abs=0.02)
