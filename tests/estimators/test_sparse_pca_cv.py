import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

import fantope
from fantope import SparsePCA, SparsePCACV

ALPHAS = [0.1, 0.4, 0.8, 1.6]


@pytest.fixture(scope="module")
def sim():
    return fantope.simulate(120, 40, sizes=(8, 6))


@pytest.mark.slow
@parametrize_with_checks([SparsePCACV(alphas=[0.05, 0.2, 0.5], cv=3), SparsePCACV(kind="correlation", cv=2)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_scores_are_those_of_a_grid_search(sim, kind):
    alphas = [0.1, 0.3] if kind == "correlation" else ALPHAS
    folds = KFold(3)
    pca = SparsePCACV(2, alphas=alphas, cv=folds, kind=kind, rule="best").fit(sim.Z)
    search = GridSearchCV(SparsePCA(2, kind=kind, tol=1e-3), {"alpha": pca.alphas_}, cv=folds).fit(sim.Z)
    np.testing.assert_allclose(pca.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"], atol=2e-3)
    assert pca.alpha_ == search.best_params_["alpha"]
    assert pca.score(sim.Z) == pytest.approx(SparsePCA(2, alpha=pca.alpha_, kind=kind).fit(sim.Z).score(sim.Z))


@pytest.mark.slow
def test_one_standard_error_is_sparser(sim):
    best = SparsePCACV(2, rule="best", cv=4, penalty="l1").fit(sim.Z)
    sparse = SparsePCACV(2, rule="1se", cv=4, penalty="l1").fit(sim.Z)
    assert sparse.alpha_ > best.alpha_
    assert len(sparse.support_) <= len(best.support_)
    row = list(best.alphas_).index(sparse.alpha_)
    top = best.cv_results_["mean_test_score"].argmax()
    error = np.std([best.cv_results_[f"split{k}_test_score"][top] for k in range(4)], ddof=1) / 2
    assert best.cv_results_["mean_test_score"][row] >= best.cv_results_["mean_test_score"][top] - error
    # The next sparser one is not within a standard error.
    assert best.cv_results_["mean_test_score"][row - 1] < best.cv_results_["mean_test_score"][top] - error


@pytest.mark.slow
def test_sparse_data_like_dense(sim):
    X = np.where(np.abs(sim.Z) > 0.8, sim.Z, 0.0)
    for kind in ("covariance", "correlation"):
        dense = SparsePCACV(2, alphas=[0.1, 0.3], cv=3, kind=kind).fit(X)
        sparse = SparsePCACV(2, alphas=[0.1, 0.3], cv=3, kind=kind).fit(scipy.sparse.csr_array(X))
        np.testing.assert_allclose(
            dense.cv_results_["mean_test_score"], sparse.cv_results_["mean_test_score"], atol=1e-6
        )


@pytest.mark.slow
def test_folds_at_the_same_time_give_the_same(sim):
    one = SparsePCACV(2, alphas=ALPHAS, cv=3).fit(sim.Z)
    two = SparsePCACV(2, alphas=ALPHAS, cv=3, n_jobs=2).fit(sim.Z)
    np.testing.assert_allclose(one.cv_results_["mean_test_score"], two.cv_results_["mean_test_score"], rtol=1e-6)
    assert one.alpha_ == two.alpha_


@pytest.mark.slow
def test_variable_constant_in_one_fold(sim):
    X = sim.Z[:30].copy()
    X[:, 39] = 0.0
    X[0, 39] = 1.0  # varies in all samples, but not without the first
    pca = SparsePCACV(2, alphas=[0.3], cv=KFold(3), kind="correlation").fit(X)
    assert np.isfinite(pca.cv_results_["mean_test_score"]).all()


@pytest.mark.slow
def test_names_are_kept(sim):
    frame = pd.DataFrame(sim.Z, columns=[f"v{j}" for j in range(40)])
    pca = SparsePCACV(2, alphas=[0.5], cv=3).fit(frame)
    assert list(pca.feature_names_in_) == list(frame.columns)
    assert list(pca.get_feature_names_out()) == ["sparsepcacv0", "sparsepcacv1"]


def test_sentences(sim):
    with pytest.raises(ValueError, match="at least two folds, got 1"):
        SparsePCACV(2, alphas=ALPHAS, cv=ShuffleSplit(1)).fit(sim.Z)
    with pytest.raises(ValueError, match="alphas must hold at least one number"):
        SparsePCACV(2, alphas=[]).fit(sim.Z)
    with pytest.raises(ValueError, match="cv must leave at least two samples to learn from in each fold, got 1 in one"):
        SparsePCACV(2, cv=[([0], [1, 2]), ([1, 2], [0])]).fit(sim.Z)
    with pytest.raises(ValueError, match="folds need samples"):
        SparsePCACV(2).fit(fantope.covariance(sim.Z))
