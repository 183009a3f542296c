import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import fantope
from fantope import SparsePCA
from fantope.estimators.moments import data_moments
from fantope.operators import DenseCovariance
from fantope.operators import covariance as covariance_operator
from fantope.solvers import Admm


@pytest.fixture(scope="module")
def sim():
    return fantope.simulate(150, 50, sizes=(8, 6))


@pytest.fixture(scope="module")
def X(sim):
    """Data with offsets and unequal scales."""
    return sim.Z * np.linspace(0.8, 1.5, 50) + np.linspace(-3.0, 3.0, 50)


@pytest.fixture(scope="module")
def counts():
    """A sparse matrix of counts with two groups of words that go together."""
    rng = np.random.default_rng(1)
    rate = np.full((120, 40), 0.2)
    rate[:60, :5] = 3.0
    rate[40:90, 5:9] = 2.0
    return scipy.sparse.csr_array(rng.poisson(rate).astype(float))


def covariance(X):
    Z = X - X.mean(axis=0)
    return Z.T @ Z / len(Z)


# --- the contract of scikit-learn ----------------------------------------------------------------


@pytest.mark.slow
@parametrize_with_checks([SparsePCA(), SparsePCA(kind="precomputed", alpha=0.1)])
def test_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [SparsePCA(n_components=1, solver="admm"), SparsePCA(alpha=0.0), SparsePCA(kind="correlation")]
)
def test_contract_of_variants(estimator, check):
    check(estimator)


def test_feature_names_and_set_output(X):
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(50)])
    pca = SparsePCA(alpha=0.3).set_output(transform="pandas")
    scores = pca.fit_transform(frame)
    assert scores.columns.tolist() == pca.get_feature_names_out().tolist() == ["sparsepca0", "sparsepca1"]
    assert pca.feature_names_in_.tolist() == frame.columns.tolist()
    np.testing.assert_array_equal(scores, SparsePCA(alpha=0.3).fit(X).transform(X))
    with pytest.raises(ValueError, match="feature names"):
        pca.transform(frame.iloc[:, ::-1])


@pytest.mark.slow
def test_clone_and_parameters_are_left_alone(X):
    pca = SparsePCA(3, kind="correlation", solver=Admm(), max_iter=500)
    before = dict(pca.get_params())
    copy = clone(pca.fit(X))
    assert pca.get_params() == before
    assert copy.n_components == 3 and isinstance(copy.solver, Admm) and not hasattr(copy, "components_")


def test_pickle(X):
    pca = SparsePCA(alpha=0.3).fit(X)
    again = pickle.loads(pickle.dumps(pca))
    np.testing.assert_array_equal(again.transform(X), pca.transform(X))
    assert again.solution_.verify(covariance(X)).gap <= pca.tol


@pytest.mark.slow
def test_pipeline_and_grid_search(sim):
    y = (sim.Z @ sim.loadings[:, 0] > 0).astype(int)
    model = make_pipeline(StandardScaler(), SparsePCA(tol=1e-3), LogisticRegression())
    search = GridSearchCV(model, {"sparsepca__alpha": [0.1, 0.3], "sparsepca__kind": ["covariance", "correlation"]})
    assert search.fit(sim.Z, y).score(sim.Z, y) > 0.9


@pytest.mark.slow
def test_score_prefers_a_penalty_that_suppresses_noise():
    sim = fantope.simulate(60, 100, sizes=(10, 8), eigenvalues=(6, 4))
    search = GridSearchCV(SparsePCA(tol=1e-3), {"alpha": [0.0, 0.3, 0.6, 5.0]}, cv=3).fit(sim.Z)
    assert search.best_params_["alpha"] in (0.3, 0.6)
    assert set(search.best_estimator_.support_) >= set(range(10))


# --- what is computed ----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_without_penalty_it_is_pca(X, kind):
    ours = SparsePCA(3, alpha=0.0, kind=kind, tol=1e-9).fit(X)
    Z = X if kind == "covariance" else StandardScaler().fit_transform(X)
    theirs = PCA(3).fit(Z)
    np.testing.assert_allclose(np.abs(ours.components_ @ theirs.components_.T), np.eye(3), atol=1e-4)
    np.testing.assert_allclose(ours.explained_variance_ * 150 / 149, theirs.explained_variance_, rtol=1e-6)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-6)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(Z)), atol=1e-2)


def test_a_tiny_penalty_is_nearly_pca(X):
    ours, theirs = SparsePCA(2, alpha=1e-7, tol=1e-7).fit(X), PCA(2).fit(X)
    np.testing.assert_allclose(np.abs(ours.components_ @ theirs.components_.T), np.eye(2), atol=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["covariance", "correlation"])
@pytest.mark.parametrize("alpha", [None, 0.0, 0.3, 100.0])
def test_components(X, kind, alpha):
    pca = SparsePCA(3, alpha=alpha, kind=kind).fit(X)
    V, scores = pca.components_, pca.transform(X)
    np.testing.assert_allclose(V @ V.T, np.eye(3), atol=1e-12)
    assert (V[np.arange(3), np.abs(V).argmax(axis=1)] > 0).all()
    assert not np.delete(V, pca.support_, axis=1).any()
    # Scores are uncorrelated, and their variances are the explained ones.
    np.testing.assert_allclose(covariance(scores), np.diag(pca.explained_variance_), atol=1e-7)
    assert (np.diff(pca.explained_variance_) <= 1e-12).all()
    total = 50.0 if kind == "correlation" else X.var(axis=0).sum()
    np.testing.assert_allclose(pca.explained_variance_ratio_, pca.explained_variance_ / total)
    assert pca.explained_variance_ratio_.sum() < 1


def test_attributes(sim):
    pca = SparsePCA(2, alpha=0.4).fit(sim.Z)
    np.testing.assert_array_equal(pca.support_, sim.support)
    assert (pca.n_components_, pca.n_features_in_, pca.n_samples_, pca.n_samples_seen_) == (2, 50, 150, 150)
    assert pca.alpha_ == 0.4 and pca.n_iter_ >= 1 and 0 <= pca.gap_ <= pca.tol
    assert pca.projection_.shape == (50, 50) and pca.projection_.trace() == pytest.approx(2)
    np.testing.assert_allclose(pca.mean_, sim.Z.mean(axis=0))
    np.testing.assert_array_equal(pca.scale_, np.ones(50))
    assert pca.solution_.verify(covariance(sim.Z)).gap <= pca.tol


def test_same_data_same_answer_to_the_bit(X):
    first, again = SparsePCA(alpha=0.3).fit(X), SparsePCA(alpha=0.3).fit(X.copy())
    np.testing.assert_array_equal(first.components_, again.components_)


def test_signs_do_not_depend_on_the_sign_of_the_data(X):
    first, flipped = SparsePCA(alpha=0.3).fit(X), SparsePCA(alpha=0.3).fit(-X)
    np.testing.assert_allclose(first.components_, flipped.components_, atol=1e-7)


def test_correlation_is_the_covariance_of_standardised_data(X):
    ours = SparsePCA(alpha=0.2, kind="correlation", tol=1e-7).fit(X)
    Z = StandardScaler().fit_transform(X)
    other = SparsePCA(alpha=0.2, tol=1e-7).fit(Z)
    np.testing.assert_allclose(ours.components_, other.components_, atol=1e-6)
    np.testing.assert_allclose(ours.transform(X), other.transform(Z), atol=1e-5)
    np.testing.assert_allclose(ours.scale_, X.std(axis=0))
    assert ours.score(X) == pytest.approx(other.score(Z))


@pytest.mark.parametrize("as_input", [np.asarray, DenseCovariance, pd.DataFrame, scipy.sparse.csr_array])
def test_precomputed_is_the_same_as_from_data(X, as_input):
    S = covariance(X)
    ours = SparsePCA(alpha=0.3, kind="precomputed", tol=1e-7).fit(as_input(S))
    other = SparsePCA(alpha=0.3, tol=1e-7).fit(X)
    np.testing.assert_allclose(ours.components_, other.components_, atol=1e-6)
    np.testing.assert_allclose(ours.explained_variance_ratio_, other.explained_variance_ratio_, atol=1e-7)
    np.testing.assert_allclose(ours.transform(X - X.mean(axis=0)), other.transform(X), atol=1e-5)
    assert ours.score(S) == pytest.approx(other.score(X)) == pytest.approx(other.explained_variance_ratio_.sum())
    assert ours.n_samples_ is None and ours.n_features_in_ == 50


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_an_operator_over_data_brings_its_moments(X, kind):
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(50)])
    ours = SparsePCA(kind="precomputed", tol=1e-6).fit(covariance_operator(frame, kind=kind))
    other = SparsePCA(kind=kind, tol=1e-6).fit(frame)
    assert ours.n_samples_ == 150 and ours.alpha_ == pytest.approx(other.alpha_)
    np.testing.assert_array_equal(ours.feature_names_in_, other.feature_names_in_)
    np.testing.assert_allclose(ours.transform(frame), other.transform(frame), atol=1e-2)


def test_a_plain_operator_has_no_feature_names(X):
    S = covariance(X)
    pca = SparsePCA(alpha=0.3, kind="precomputed").fit(pd.DataFrame(S, columns=[f"x{j}" for j in range(50)]))
    assert len(pca.feature_names_in_) == 50
    assert not hasattr(pca.fit(DenseCovariance(S)), "feature_names_in_")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["covariance", "correlation"])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_is_the_same_as_dense(counts, kind, form):
    dense = SparsePCA(alpha=0.1, kind=kind, tol=1e-7).fit(counts.toarray())
    sparse = SparsePCA(alpha=0.1, kind=kind, tol=1e-7).fit(counts.asformat(form))
    np.testing.assert_allclose(sparse.mean_, dense.mean_)
    np.testing.assert_allclose(sparse.scale_, dense.scale_)
    np.testing.assert_allclose(sparse.components_, dense.components_, atol=1e-6)
    scores = sparse.transform(counts.asformat(form))
    assert isinstance(scores, np.ndarray)
    np.testing.assert_allclose(scores, dense.transform(counts.toarray()), atol=1e-5)
    np.testing.assert_allclose(scores, sparse.transform(counts.toarray()), atol=1e-12)
    assert sparse.score(counts) == pytest.approx(sparse.score(counts.toarray()))


def test_sparse_data_are_never_made_dense(counts, monkeypatch):
    def refuse(self, *args, **kwargs):
        assert self.shape != counts.shape, "X was made dense"
        return original(self, *args, **kwargs)

    original = scipy.sparse.csr_array.toarray
    monkeypatch.setattr(scipy.sparse.csr_array, "toarray", refuse)
    pca = SparsePCA(alpha=0.1, kind="correlation").fit(counts)
    pca.transform(counts)
    pca.score(counts)


def test_sparse_input_with_duplicates_is_read_but_not_changed():
    rows, cols = np.array([0, 0, 1, 2, 2, 3]), np.array([0, 0, 1, 2, 0, 2])
    X = scipy.sparse.csr_array(
        (np.array([1.0, 2.0, 3.0, 1.0, -1.0, 2.0]), cols, np.searchsorted(rows, np.arange(5))), shape=(4, 3)
    )
    pca = SparsePCA(1, alpha=0.1).fit(X)
    assert X.nnz == 6
    np.testing.assert_allclose(pca.components_, SparsePCA(1, alpha=0.1).fit(X.toarray()).components_, atol=1e-6)


@pytest.mark.parametrize("correlation", [False, True])
@pytest.mark.parametrize("form", [np.asarray, np.asfortranarray, scipy.sparse.csr_array, scipy.sparse.csc_array])
def test_s_is_exactly_symmetric_and_right(counts, form, correlation):
    dense = counts.toarray() + 0.1 * (counts.toarray() > 0)
    S = data_moments(form(dense), correlation=correlation).covariance.S
    np.testing.assert_array_equal(S, S.T)
    expected = np.corrcoef(dense, rowvar=False) if correlation else np.cov(dense, rowvar=False, bias=True)
    np.testing.assert_allclose(S, expected, atol=1e-12)


def test_large_offsets_do_not_spoil_the_variances(X):
    shifted = data_moments(X + 1e8, correlation=False).covariance.S
    np.testing.assert_allclose(shifted, covariance(X), atol=1e-6)


def test_transform_of_a_row_alone_is_the_row_of_the_batch(X):
    pca = SparsePCA(alpha=0.3, kind="correlation").fit(X)
    batch = pca.transform(X)
    for i in (0, 17, 149):
        np.testing.assert_allclose(pca.transform(X[i : i + 1])[0], batch[i], rtol=1e-12, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_inverse_transform(X, kind):
    pca = SparsePCA(3, alpha=0.2, kind=kind).fit(X)
    scores = pca.transform(X)
    back = pca.inverse_transform(scores)
    np.testing.assert_allclose(pca.transform(back), scores, atol=1e-10)
    unused = np.setdiff1d(np.arange(50), pca.support_)
    np.testing.assert_allclose(back[:, unused], np.tile(X.mean(axis=0)[unused], (150, 1)))
    residual = ((X - back) / pca.scale_) ** 2
    expected = 1 - residual.sum() / (((X - pca.mean_) / pca.scale_) ** 2).sum()
    assert pca.score(X) == pytest.approx(expected)


def test_score_of_data_without_variance_about_the_mean(X):
    pca = SparsePCA(alpha=0.3).fit(X)
    assert pca.score(pca.mean_[None]) == 1.0


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.float64])
def test_dtypes(X, dtype):
    data = np.round(10 * X).astype(dtype)
    pca = SparsePCA(alpha=30.0).fit(data)
    reference = SparsePCA(alpha=30.0).fit(data.astype(float))
    np.testing.assert_array_equal(pca.components_, reference.components_)
    assert pca.components_.dtype == pca.mean_.dtype == np.float64
    expected = np.float32 if dtype == np.float32 else np.float64
    scores = pca.transform(data)
    assert scores.dtype == pca.inverse_transform(scores).dtype == expected
    np.testing.assert_allclose(scores, reference.transform(data.astype(float)), rtol=1e-5, atol=1e-4)


def test_two_features_have_one_component():
    X = np.random.default_rng(0).standard_normal((20, 2))
    pca = SparsePCA().fit(X)
    assert pca.n_components == 2 and pca.n_components_ == 1 and pca.transform(X).shape == (20, 1)


# --- the default penalty -------------------------------------------------------------------------


@pytest.mark.slow
def test_default_alpha_is_about_that_of_the_paper():
    sim = fantope.simulate(100, 200)
    pca = SparsePCA(penalty="l1").fit(sim.Z)
    paper = 0.5 * np.sqrt(np.log(200) / 100)
    assert pca.alpha_ == pytest.approx(paper, rel=0.15)
    assert SparsePCA(penalty="l1", kind="correlation").fit(sim.Z).alpha_ == pytest.approx(paper)
    assert set(sim.support) <= set(pca.support_) and len(pca.support_) < 100


@pytest.mark.slow
def test_default_alpha_follows_the_scale_of_the_data(X):
    one, ten = SparsePCA().fit(X), SparsePCA().fit(10 * X)
    assert ten.alpha_ == pytest.approx(100 * one.alpha_)
    np.testing.assert_allclose(ten.components_, one.components_, atol=1e-6)
    assert SparsePCA(kind="correlation").fit(X * np.linspace(1, 9, 50)).alpha_ == pytest.approx(
        SparsePCA(kind="correlation").fit(X).alpha_
    )


@pytest.mark.slow
def test_default_alpha_ignores_a_few_wild_columns_and_constant_ones(X):
    wild = X.copy()
    wild[:, :3] *= 1000
    l1 = SparsePCA(penalty="l1")
    alpha = l1.fit(X).alpha_
    assert l1.fit(wild).alpha_ == pytest.approx(alpha, rel=0.2)
    padded = np.hstack([X, np.ones((150, 60))])
    assert l1.fit(padded).alpha_ == pytest.approx(alpha * np.sqrt(np.log(110) / np.log(50)))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["covariance", "correlation"])
@pytest.mark.parametrize(("n", "p"), [(2, 6), (4, 60), (2000, 3), (30, 5)])
def test_default_alpha_on_noise_keeps_variables_together(n, p, kind):
    X = np.random.default_rng(n).standard_normal((n, p))
    pca = SparsePCA(1, penalty="l1", kind=kind).fit(X)
    S = covariance(X) if kind == "covariance" else np.corrcoef(X, rowvar=False)
    assert 0 < pca.alpha_ <= 0.5 * fantope.alpha_max(S, 1) * (1 + 1e-12)
    assert len(pca.support_) > 1


def test_default_alpha_with_a_diagonal_covariance():
    X = np.diag([4.0, 3.0, 2.0, 1.0])
    l1, concave = (SparsePCA(2, penalty=penalty).fit(np.vstack([X, -X])) for penalty in ("l1", "auto"))
    assert l1.alpha_ == 0.0
    for pca in (l1, concave):
        assert pca.support_.tolist() == [0, 1]
        np.testing.assert_allclose(pca.explained_variance_, [4.0, 2.25])


# --- bad input -----------------------------------------------------------------------------------

GOOD = np.random.default_rng(3).standard_normal((20, 6))
NAMES = list("abcdef")


def spoilt(value, *columns):
    X = GOOD.copy()
    X[4, list(columns)] = value
    return X


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (spoilt(np.nan, 3), r"X contains NaN in column 3; drop or impute"),
        (spoilt(np.inf, 2, 5), r"X contains infinity in columns 2, 5; drop or impute"),
        (spoilt(-np.inf, 0), r"X contains infinity in column 0"),
        (spoilt(np.nan, *range(6)), r"X contains NaN in columns 0, 1, 2, 3, 4 and 1 more"),
        (pd.DataFrame(spoilt(np.nan, 3), columns=NAMES), r"X contains NaN in column 'd'"),
        (scipy.sparse.csr_array(spoilt(np.nan, 3)), r"X contains NaN in column 3"),
        (scipy.sparse.csc_array(spoilt(np.inf, 1, 4)), r"X contains infinity in columns 1, 4"),
        (GOOD[0], r"Expected 2D array, got 1D array"),
        (GOOD[None], r"Found array with dim 3"),
        (GOOD[:1], r"Found array with 1 sample\(s\) .* minimum of 2 is required"),
        (GOOD[:0], r"Found array with 0 sample\(s\)"),
        (GOOD[:, :1], r"Found array with 1 feature\(s\) .* minimum of 2 is required"),
        ([["a", "b", "c"]] * 4, r"X must hold numbers only, but could not convert string to float: 'a'; drop text"),
        (GOOD + 1j, r"Complex data not supported"),
        (np.ones((5, 3)), r"X must vary, but each of its columns is constant"),
        (1e200 * GOOD, r"X ranges from .* overflow .*common scale"),
        (DenseCovariance(np.eye(3)), r"X is a covariance operator, but kind='covariance' expects data"),
    ],
)
def test_bad_data(data, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparsePCA().fit(data)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["transform", "score"])
def test_bad_data_after_fit(method):
    pca = SparsePCA().fit(pd.DataFrame(GOOD, columns=NAMES))
    with pytest.raises(ValueError, match="X contains NaN in column 'c'"):
        getattr(pca, method)(pd.DataFrame(spoilt(np.nan, 2), columns=NAMES))
    with pytest.raises(ValueError, match="X has 5 features, but SparsePCA is expecting 6 features"):
        getattr(SparsePCA().fit(GOOD), method)(GOOD[:, :5])
    with pytest.raises(NotFittedError):
        getattr(SparsePCA(), method)(GOOD)


@pytest.mark.slow
def test_bad_scores():
    pca = SparsePCA().fit(GOOD)
    with pytest.raises(ValueError, match=r"one column for each of the 2 components, got shape \(20, 6\)"):
        pca.inverse_transform(GOOD)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_constant_columns(form):
    X = GOOD.copy()
    X[:, [1, 4]] = 0.1, 0.0
    with pytest.raises(ValueError, match=r"X is constant in columns 1, 4; drop .* or use kind='covariance'"):
        SparsePCA(kind="correlation").fit(form(X))
    pca = SparsePCA(alpha=0.0, n_components=3).fit(form(X))
    assert not pca.components_[:, [1, 4]].any()
    assert not pca.solution_.covariance.diagonal()[[1, 4]].any()


def test_constant_column_is_named():
    frame = pd.DataFrame(GOOD, columns=NAMES).assign(b=7.0)
    with pytest.raises(ValueError, match="constant in column 'b'"):
        SparsePCA(kind="correlation").fit(frame)


@pytest.mark.parametrize(
    ("S", "sentence"),
    [
        (GOOD, r"kind='precomputed' expects a square covariance matrix, got shape \(20, 6\); for a data matrix"),
        (np.triu(np.ones((4, 4))), r"S must be symmetric, got \|S − Sᵀ\| up to 1"),
        (np.full((3, 3), np.nan), r"X contains NaN in columns 0, 1, 2"),
    ],
)
def test_bad_covariance(S, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparsePCA(kind="precomputed", alpha=0.1).fit(S)


def test_precomputed_needs_alpha():
    with pytest.raises(ValueError, match=r"alpha must be given where S is precomputed.*alpha_max"):
        SparsePCA(kind="precomputed").fit(np.eye(4))


def test_score_of_a_precomputed_fit_needs_a_covariance():
    pca = SparsePCA(kind="precomputed", alpha=0.1).fit(covariance(GOOD))
    with pytest.raises(ValueError, match="expects a square covariance matrix"):
        pca.score(GOOD)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"n_components": 6}, r"n_components must be at least 1 and less than the number of variables, 6, got 6"),
        ({"n_components": 9}, r"n_components must be .* got 9; ask for 5 or fewer"),
        ({"n_components": 0}, r"'n_components' parameter .* int in the range \[1, inf\).* Got 0"),
        ({"n_components": 2.0}, r"'n_components' parameter .* Got 2\.0"),
        ({"n_components": "two"}, r"'n_components' parameter .* Got 'two'"),
        ({"n_components": None}, r"'n_components' parameter .* Got None"),
        ({"n_components": True}, r"n_components must be a whole number from 1 to 5, got True"),
        ({"alpha": -0.1}, r"'alpha' parameter .* Got -0\.1"),
        ({"alpha": np.nan}, r"'alpha' parameter .* Got nan"),
        ({"alpha": np.inf}, r"'alpha' parameter .* float in the range \[0\.0, inf\), .* or None\. Got inf"),
        ({"alpha": "small"}, r"'alpha' parameter .* Got 'small'"),
        ({"kind": "cov"}, r"'kind' parameter .* Got 'cov'"),
        ({"solver": "newton"}, r"'solver' parameter .*'admm'.* Got 'newton'"),
        ({"solver": 3}, r"'solver' parameter .* Got 3"),
        ({"tol": 0.0}, r"'tol' parameter .* Got 0\.0"),
        ({"tol": 1e-15}, r"tol must be at least 1e-10 for 6 variables, got 1e-15: double precision"),
        ({"tol": "tight"}, r"'tol' parameter .* Got 'tight'"),
        ({"max_iter": 0}, r"'max_iter' parameter .* Got 0"),
        ({"max_iter": 1.5}, r"'max_iter' parameter .* Got 1\.5"),
        ({"step_size": 0.0}, r"'step_size' parameter .* Got 0\.0"),
        ({"step_size": np.inf}, r"'step_size' parameter .* Got inf"),
    ],
)
def test_bad_parameters(parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        SparsePCA(**parameters).fit(GOOD)


# --- runs that end early -------------------------------------------------------------------------


def test_convergence_warning(X):
    sentence = (
        r"SparsePCA stopped at max_iter before the tolerance was reached: relative gap [\d.e-]+, tol 1e-08, "
        r"3 iterations\. .* raise max_iter, loosen tol"
    )
    with pytest.warns(ConvergenceWarning, match=sentence) as record:
        pca = SparsePCA(alpha=0.3, solver="gradfps", tol=1e-8, max_iter=3).fit(X)
    assert record[0].filename == __file__
    assert pca.n_iter_ == 3 and pca.gap_ > 1e-8
    assert pca.solution_.verify(covariance(X)).gap == pytest.approx(pca.gap_, rel=0.2)


def test_an_interrupt_keeps_the_answer_and_is_passed_on(X):
    class Impatient(Admm):
        def step(self, *args):
            raise KeyboardInterrupt

    pca = SparsePCA(alpha=0.3, solver=Impatient())
    with pytest.raises(KeyboardInterrupt):
        pca.fit(X)
    assert pca.solution_.status is fantope.Status.INTERRUPTED
    assert pca.transform(X).shape == (150, 2)


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
def test_solvers_agree(X, solver):
    pca = SparsePCA(alpha=0.3, solver=solver, tol=1e-6, step_size=None).fit(X)
    reference = SparsePCA(alpha=0.3, tol=1e-7).fit(X)
    np.testing.assert_allclose(pca.components_, reference.components_, atol=5e-3)
    assert pca.solution_.objective == pytest.approx(reference.solution_.objective, rel=2e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_many_variables_go_through_an_operator(kind, monkeypatch):
    """Beyond a number of variables S is never formed; the answer is the same."""
    X = fantope.simulate(80, 60).Z
    dense = fantope.SparsePCA(2, alpha=0.3, kind=kind, tol=1e-6).fit(X)
    monkeypatch.setattr("fantope.estimators.moments.DENSE_UP_TO", 10)
    lazy = fantope.SparsePCA(2, alpha=0.3, kind=kind, tol=1e-6).fit(X)
    assert isinstance(lazy.solution_.covariance, fantope.operators.DataCovariance)
    np.testing.assert_allclose(lazy.components_, dense.components_, atol=1e-5)
    np.testing.assert_allclose(lazy.transform(X), dense.transform(X), atol=1e-4)
