"""OnlineSparsePCA: scikit-learn's contract, names, mappings, saved state."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import fantope
from fantope import OnlineSparsePCA
from fantope.online.persist import CheckpointError, read_state, write_state


@pytest.mark.slow
@parametrize_with_checks([OnlineSparsePCA(algorithm=algorithm) for algorithm in ("online-t", "online-p", "ftl")])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["online-t", "online-p", "ftl"])
def test_blocks_rows_and_a_saved_file_agree_bit_for_bit(tmp_path, algorithm):
    n = 200 if algorithm == "online-t" else 12
    Z = fantope.simulate(n, 40).Z

    def new():
        return OnlineSparsePCA(2, alpha=0.2, algorithm=algorithm, loosen=100.0, track=5)

    whole, single = new().fit(Z), new()
    for k in range(n):
        single.partial_fit(Z[k : k + 1])
        if k == n // 2:
            single.save(tmp_path / "state")
            single = fantope.load(tmp_path / "state")
    assert single.n_samples_seen_ == whole.n_samples_seen_ == n
    np.testing.assert_array_equal(single.components_, whole.components_)
    np.testing.assert_array_equal(single.mean_, whole.mean_)
    assert single.average_regret_ == whole.average_regret_
    assert single.get_params() == whole.get_params()


@pytest.mark.slow
def test_answers_are_orthonormal_sparse_and_cached():
    sim = fantope.simulate(4000, 80)
    pca = OnlineSparsePCA(2, alpha=0.05).fit(sim.Z)
    V = pca.components_
    np.testing.assert_allclose(V @ V.T, np.eye(2), atol=1e-10)
    assert pca.components_ is V and len(pca.support_) < 80
    assert (V[np.arange(2), np.abs(V).argmax(axis=1)] > 0).all()
    assert (np.diff(pca.explained_variance_) <= 0).all() and 0 < pca.explained_variance_ratio_.sum() < 1
    pca.partial_fit(sim.Z[:5])
    assert pca.components_ is not V
    assert pca.projection_.shape == (80, 80)
    scores = pca.transform(sim.Z)
    assert scores.shape == (4000, 2) and pca.inverse_transform(scores).shape == sim.Z.shape
    assert pca.get_feature_names_out().tolist() == ["onlinesparsepca0", "onlinesparsepca1"]


@pytest.mark.slow
def test_gap_and_records_belong_to_the_algorithms_that_have_them():
    Z = fantope.simulate(6, 40).Z
    p = OnlineSparsePCA(2, alpha=0.2, algorithm="online-p", loosen=100).fit(Z)
    assert all(record.met for record in p.records_) and p.gap_ == p.records_[-1].gap
    assert OnlineSparsePCA(2, alpha=0.2, algorithm="ftl").fit(Z).gap_ <= 1e-3
    t = OnlineSparsePCA(2, alpha=0.2).fit(Z)
    with pytest.raises(AttributeError, match="Online-T solves no problem"):
        _ = t.gap_
    with pytest.raises(AttributeError, match="call partial_fit"):
        _ = OnlineSparsePCA().components_


@pytest.mark.slow
def test_mappings_and_frames():
    Z = fantope.simulate(50, 36).Z
    frame = pd.DataFrame(Z, columns=[f"v{j}" for j in range(36)])
    by_frame, by_row = OnlineSparsePCA(), OnlineSparsePCA()
    by_frame.fit(frame)
    for record in frame.to_dict("records"):
        by_row.learn_one(dict(reversed(record.items())) if by_row.__sklearn_is_fitted__() else record)
    np.testing.assert_array_equal(by_frame.components_, by_row.components_)
    assert by_row.feature_names_in_.tolist() == list(frame.columns)
    scores = by_row.transform_one(frame.iloc[0].to_dict())
    assert scores["onlinesparsepca0"] == pytest.approx(by_frame.transform(frame.iloc[:1])[0, 0])
    sample = frame.iloc[0].to_dict()
    with pytest.raises(ValueError, match="lacks feature 'v3' and has the new feature 'new'"):
        by_row.partial_fit({("new" if k == "v3" else k): v for k, v in sample.items()})
    with pytest.raises(ValueError, match="numbers only"):
        by_row.partial_fit({**sample, "v1": "text"})
    with pytest.raises(ValueError, match=r"got nan in row 0, column 1 .'v1'."):
        by_row.partial_fit({**sample, "v1": float("nan")})
    assert by_row.n_samples_seen_ == 50
    with pytest.raises(ValueError, match="feature names"):
        by_frame.partial_fit(frame.rename(columns={"v3": "other"}))
    with pytest.raises(ValueError, match="had no names"):
        OnlineSparsePCA().fit(Z).partial_fit(sample)


def test_in_a_pipeline_and_with_few_features():
    Z = fantope.simulate(100, 40).Z
    assert make_pipeline(StandardScaler(), OnlineSparsePCA(2)).fit_transform(Z).shape == (100, 2)
    assert OnlineSparsePCA().fit(Z[:, :2]).n_components_ == 1
    with pytest.raises(ValueError, match="n_components must be less than"):
        OnlineSparsePCA(5).fit(Z[:, :4])


def test_load_refuses_other_files(tmp_path):
    (tmp_path / "x").write_text("no")
    with pytest.raises(ValueError, match="damaged or not a state"):
        fantope.load(tmp_path / "x")


def saved(tmp_path, **parameters):
    file = tmp_path / "state"
    OnlineSparsePCA(2, alpha=0.05, **parameters).fit(fantope.simulate(30, 36).Z).save(file)
    return file, *read_state(file)


LEARNERS = [
    {"track": 5},
    {"storage": "sparse"},
    {"algorithm": "online-p", "loosen": 1e6},
    {"algorithm": "ftl", "tol": 0.1},
]


@pytest.mark.slow
@pytest.mark.parametrize("parameters", LEARNERS, ids=str)
def test_load_checks_every_part_before_it_computes_with_it(tmp_path, parameters):
    """Compiled code does not look at shapes: three ``scalars`` in place of nine made it write out of bounds."""
    file, header, state = saved(tmp_path, **parameters)
    fantope.load(file).partial_fit(np.ones((3, 36)))
    places = [(state, "mean"), *((state["learner"], name) for name in state["learner"])]
    places += [(state["tracker"], "moments")] if "tracker" in state else []
    for place, name in places:
        good = place[name]
        bad = ["x", None, [1.0]]
        if isinstance(good, np.ndarray):
            bad += [good[..., :-1], good[None], good.astype(np.float32), good.astype(object).astype(str), 1.0]
            bad += [np.full_like(good, 10**9)] if good.dtype.kind == "i" and len(good) else []
            if good.dtype.kind == "f" and name not in ("records", "moments"):
                bad.append(np.full_like(good, np.nan))
        elif name != "gap":
            bad += [float("nan"), -1 if isinstance(good, int) else float("inf")]
        for value in bad:
            if isinstance(good, np.ndarray) and isinstance(value, np.ndarray) and value.size == good.size == 0:
                continue
            place[name] = value
            write_state(file, header, state, keep_previous=False)
            with pytest.raises(CheckpointError, match=r"state.*use the file before it"):
                fantope.load(file)
        place[name] = good


@pytest.mark.parametrize(
    "change",
    [
        {"n_features": 10**9},
        {"n_features": 35},
        {"n_features": "36"},
        {"columns": ["a"]},
        {"columns": 3},
        {"parameters": {"alpha": "x"}},
        {"parameters": {"algorithm": "online-x"}},
        {"parameters": {"n_components": 36}},
        {"parameters": 3},
    ],
    ids=str,
)
def test_load_checks_the_header(tmp_path, change):
    file, header, state = saved(tmp_path)
    write_state(file, {**header, **change}, state, keep_previous=False)
    with pytest.raises(CheckpointError, match=r"state.*use the file before it"):
        fantope.load(file)


@pytest.mark.slow
def test_the_explained_share_of_many_features_needs_no_dense_array():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((20, 20_000))
    Z[:, :50] += 4.0 * rng.standard_normal((20, 1))
    estimator = OnlineSparsePCA(1, alpha=30.0, center=False).partial_fit(Z)
    tracemalloc.start()
    ratio = estimator.explained_variance_ratio_
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.0 < ratio[0] <= 1.0 and peak < 1e8  # all covariances would take 3.2e9
