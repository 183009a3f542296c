"""OnlineSparsePCA as a step of river's pipelines, run by river itself."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from fantope import OnlineSparsePCA, simulate


def samples(n=200, p=40):
    sim = simulate(n, p)
    target = sim.Z @ sim.loadings[:, 0]
    return [
        (dict(zip(map(str, range(p)), map(float, z), strict=True)), float(y))
        for z, y in zip(sim.Z, target, strict=True)
    ]


@pytest.mark.slow
def test_mappings_in_and_out_without_river():
    pca = OnlineSparsePCA(2, alpha=0.1)
    names = ["onlinesparsepca0", "onlinesparsepca1"]
    for x, _ in samples(50):
        assert list(pca.transform_one(x)) == names  # before the first sample, too
        pca.learn_one(x)
    assert pca.transform_one(x)[names[0]] == pca.transform([x])[0, 0]


def test_features_that_are_numbered():
    """river's ``stream.iter_array`` yields mappings from 0, 1, … to values."""
    Z = simulate(30, 6, sizes=(3, 2)).Z
    pca = OnlineSparsePCA(2, alpha=0.1)
    for z in Z:
        pca.learn_one(dict(enumerate(z.tolist())))
    same = OnlineSparsePCA(2, alpha=0.1).partial_fit(Z)
    np.testing.assert_array_equal(pca.components_, same.components_)
    assert pca.transform_one(dict(enumerate(Z[0])))["onlinesparsepca0"] == same.transform(Z[:1])[0, 0]


@pytest.mark.slow
def test_fantope_works_where_river_is_not_installed():
    code = (
        "import sys; sys.modules['river'] = None\n"
        "import fantope\n"
        "pca = fantope.OnlineSparsePCA(1)\n"
        "pca.learn_one({'a': 1.0, 'b': 2.0})\n"
        "try:\n    pca | pca\nexcept TypeError:\n    print('no operator')"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "no operator\n"


river = pytest.importorskip("river", reason="river is not installed")


@pytest.mark.slow
def test_progressive_validation_of_a_pipeline():
    from river import compose, evaluate, linear_model, metrics, preprocessing

    stream = samples()
    pca = OnlineSparsePCA(2, alpha=0.05)
    scaler, model = preprocessing.StandardScaler(), linear_model.LinearRegression()
    score = evaluate.progressive_val_score(iter(stream), compose.Pipeline(scaler, pca, model), metrics.MAE()).get()
    assert pca.n_samples_seen_ == len(stream)
    assert set(model.weights) == {"onlinesparsepca0", "onlinesparsepca1"}  # it learnt from scores, not from features
    assert score < np.mean([abs(y) for _, y in stream])
    by_operators = preprocessing.StandardScaler() | OnlineSparsePCA(2, alpha=0.05) | linear_model.LinearRegression()
    again = evaluate.progressive_val_score(iter(stream), by_operators, metrics.MAE()).get()
    assert again == score
    copied = by_operators.clone({"OnlineSparsePCA": {"alpha": 0.5}})
    assert copied["OnlineSparsePCA"].alpha == 0.5 and not copied["OnlineSparsePCA"].__sklearn_is_fitted__()


@pytest.mark.slow
def test_the_operators_of_river_on_either_side():
    from river import compose, linear_model, preprocessing

    pca = OnlineSparsePCA(1)
    for pipeline in (
        pca | linear_model.LinearRegression(),
        preprocessing.StandardScaler() | pca,
        pca | OnlineSparsePCA(1),
    ):
        assert isinstance(pipeline, compose.Pipeline) and len(pipeline.steps) == 2
    for union in (pca + preprocessing.StandardScaler(), preprocessing.StandardScaler() + pca):
        assert isinstance(union, compose.TransformerUnion)
    x, _ = samples(1)[0]
    union.learn_one(x)
    assert len(union.transform_one(x)) == 41
    assert isinstance(pca * "a", compose.Grouper)
    assert isinstance(pca, river.base.Transformer)


@pytest.mark.slow
def test_a_river_pipeline_survives_a_pickle():
    from river import preprocessing

    stream = samples(60)
    pipeline = preprocessing.StandardScaler() | OnlineSparsePCA(2, alpha=0.05)
    for x, _ in stream[:30]:
        pipeline.learn_one(x)
    again = pickle.loads(pickle.dumps(pipeline))
    for each in (pipeline, again):
        for x, _ in stream[30:]:
            each.learn_one(x)
    assert again.transform_one(x) == pipeline.transform_one(x)


@pytest.mark.slow
def test_river_s_own_checks_of_an_estimator():
    from river import checks

    pca = OnlineSparsePCA(2)
    ran = 0
    for check in checks.yield_checks(pca):
        if check.__name__ not in pca._unit_test_skips():
            check(pca.clone())
            ran += 1
    assert ran > 10
