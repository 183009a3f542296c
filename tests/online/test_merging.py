"""Two learners made into one, and sliding windows."""

import numpy as np
import pytest

import fantope
from fantope import OnlineSparsePCA, OnlineSparsePrecision, simulate
from fantope.online import FollowTheLeader, OnlineT, RegretTracker, Stream, Tracker

Z = simulate(240, 40).Z + 3.0


def fitted(rows, **options):
    return OnlineSparsePCA(2, alpha=0.1, **options).partial_fit(rows)


@pytest.mark.slow
@pytest.mark.parametrize("forgetting", [1.0, 0.98])
@pytest.mark.parametrize(
    "options", [{"algorithm": "tracker"}, {"algorithm": "ftl", "tol": 1e-2}, {"algorithm": "online-p", "loosen": 1e4}]
)
def test_merged_moments_are_those_of_all_samples(options, forgetting):
    one, two = (fitted(rows, forgetting=forgetting, **options) for rows in (Z[:30], 100.0 * Z[30:40]))
    other = two.components_
    merged = one.merge(two)
    weights = np.concatenate([forgetting ** np.arange(29, -1, -1), forgetting ** np.arange(9, -1, -1)])
    rows = np.concatenate([Z[:30], 100.0 * Z[30:40]])
    mean = weights @ rows / weights.sum()
    S = (rows - mean).T @ ((rows - mean) * weights[:, None]) / weights.sum()
    learner = merged._stream.learner
    np.testing.assert_allclose(merged.mean_, mean, rtol=1e-10)
    np.testing.assert_allclose(learner.S * learner.unit**2, S, rtol=1e-8, atol=1e-8 * np.abs(S).max())
    assert merged.n_samples_seen_ == 40
    if options["algorithm"] != "online-p":
        best = fantope.solve(S, 2, 0.1, tol=1e-6)
        X = merged.projection_.toarray()
        assert (S * X).sum() - 0.1 * np.abs(X).sum() >= best.dual_bound * (1.0 - 1.1e-2)
    assert np.array_equal(two.components_, other)  # the other one is as it was
    merged.partial_fit(Z[40:45])
    assert np.isfinite(merged.components_).all()


@pytest.mark.slow
@pytest.mark.parametrize("storage", ["dense", "sparse"])
def test_online_t_keeps_the_mean_of_all_iterates(storage):
    one, two = OnlineT(40, 2, 0.2, storage=storage), OnlineT(40, 2, 0.2, storage=storage)
    streams = [Stream(each, False, 1.0, RegretTracker(2, 0.2, 1.0, 3, np.eye(40) / 20)) for each in (one, two)]
    for stream, rows in zip(streams, (Z[:150], Z[150:]), strict=True):
        stream.update_many(rows - 3.0)
    expected = (150 * one.average_iterate() + 90 * two.average_iterate()) / 240
    regret = sum(stream.tracker.regret() for stream in streams)
    streams[0].merge(streams[1])
    np.testing.assert_allclose(
        one.average_iterate(), expected, atol=0.2 * one.next_step * (storage == "sparse") + 1e-12
    )
    assert one.n_samples == 240 and streams[0].tracker.regret() == pytest.approx(regret)
    whole = OnlineT(40, 2, 0.2, storage=storage)
    whole.update_many(Z - 3.0)
    assert one.next_step == pytest.approx(whole.next_step, rel=1e-12)
    assert one.window.count == 240 and len(one.window.recent(256)) == 240
    state = one.state()
    again = OnlineT(40, 2, 0.2, storage=storage)
    again.restore(state)  # a merged state is one that can be saved
    for each in (one, again):
        each.update_many(Z[:20] - 3.0)
    np.testing.assert_array_equal(one.average_iterate(), again.average_iterate())
    best = fantope.solve(np.cov((Z - 3.0).T, bias=True), 2, 0.2).projection.toarray()
    merged, alone = (np.linalg.norm(each.average_iterate() - best) for each in (one, whole))
    assert merged < 1.3 * alone


@pytest.mark.slow
def test_merging_what_does_not_belong_together():
    one = fitted(Z[:20])
    for other, what in [
        (fitted(Z[:20], forgetting=0.9), "forgetting is 1.0 here and 0.9 there"),
        (fitted(Z[:20, :30]), "n_features is 40 here and 30 there"),
        (OnlineSparsePrecision(alpha=0.1).partial_fit(Z[:20]), "another OnlineSparsePCA, got OnlineSparsePrecision"),
        (3, "other must be another OnlineSparsePCA, got int"),
        (OnlineSparsePCA(2, alpha=0.1).partial_fit([dict(zip(map(str, range(40)), Z[0], strict=True))]), "other names"),
    ]:
        with pytest.raises(ValueError, match=what):
            one.merge(other)
    windows = [fitted(Z[:20], algorithm="tracker", window=10) for _ in range(2)]
    with pytest.raises(ValueError, match="window must be None"):
        windows[0].merge(windows[1])


@pytest.mark.slow
@pytest.mark.parametrize("center", [True, False])
def test_a_window_is_exactly_its_samples(center):
    stream = Stream(Tracker(40, 2, 0.1, window=25), center, window=25)
    for t, z in enumerate(Z[:90], 1):
        stream.update_many(z[None])
        rows = Z[max(t - 25, 0) : t]
        mean = rows.mean(axis=0) if center else np.zeros(40)
        S = (rows - mean).T @ (rows - mean) / len(rows)
        np.testing.assert_allclose(stream.mean, mean, atol=1e-12)
        np.testing.assert_allclose(stream.learner.S * stream.learner.unit**2, S, atol=1e-10)


@pytest.mark.slow
def test_a_window_goes_on_to_the_bit_in_blocks_and_from_a_file(tmp_path):
    options = {"algorithm": "tracker", "window": 30, "solve_every": 20, "track": 7}
    whole = fitted(Z[:100], **options)
    part = OnlineSparsePCA(2, alpha=0.1, **options)
    for rows in (Z[:41], Z[41:42], Z[42:70]):
        part.partial_fit(rows)
    part.save(tmp_path / "state")
    again = fantope.load(tmp_path / "state").partial_fit(Z[70:100])
    assert np.array_equal(again.components_, whole.components_) and again.average_regret_ == whole.average_regret_


@pytest.mark.slow
def test_an_interrupted_step_leaves_the_window_as_it_was(monkeypatch):
    stream = Stream(FollowTheLeader(40, 2, 0.1, window=10), window=10)
    stream.update_many(Z[:15])
    before = stream.state()
    before = {key: np.array(value) for key, value in before.items() if key != "learner"}

    def interrupted(self):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(FollowTheLeader, "resolve", interrupted)
        with pytest.raises(KeyboardInterrupt):
            stream.update_many(Z[15:16])
    for key, value in before.items():
        np.testing.assert_array_equal(stream.state()[key], value)
    assert stream.recent.count == stream.n_samples == 15
    other = Stream(FollowTheLeader(40, 2, 0.1, window=10), window=10)
    other.update_many(Z[:20])
    stream.update_many(Z[15:20])
    np.testing.assert_array_equal(stream.learner.iterate(), other.learner.iterate())


def test_windows_and_forgetting_exclude_each_other_and_online_t_has_none():
    with pytest.raises(ValueError, match=r"forgetting must be 1 where window is given, got 0\.9"):
        fitted(Z[:20], algorithm="ftl", window=10, forgetting=0.9)
    with pytest.raises(ValueError, match="window must be None for 'online-t', which cannot unlearn"):
        fitted(Z[:20], window=10)


@pytest.mark.slow
def test_the_tracker_solves_when_it_is_due():
    learner = Tracker(40, 2, 0.1, every=20)
    solved = []
    for t, z in enumerate(Z[:60] - 3.0, 1):
        before = learner.iterate()
        learner.update_many(z[None])
        if not np.array_equal(learner.iterate(), before):
            solved.append(t)
    assert solved == [1, 2, 4, 8, 16, 20, 40, 60] and 0.0 <= learner.gap <= 1e-3
