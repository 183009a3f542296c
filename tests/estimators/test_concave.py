"""SparsePCA and SparsePCACV with folded concave penalties."""

import numpy as np
import pytest
from sklearn.base import clone

import fantope
from fantope.penalties import MCP, SCAD, WeightedL1
from fantope.selection.cross_validation import choose

SIM = fantope.simulate(100, 120, random_state=4)


@pytest.mark.slow
@pytest.mark.parametrize("penalty", ["mcp", "scad"])
def test_the_default_is_closer_to_the_truth_than_l1(penalty):
    pca = clone(fantope.SparsePCA(2, penalty=penalty)).fit(SIM.Z)
    found, plain = (
        SIM.recovery(pca.components_),
        SIM.recovery(fantope.SparsePCA(2, penalty="l1").fit(SIM.Z).components_),
    )
    assert found.error < plain.error
    assert found.precision > 0.9 and found.recall > 0.97
    assert len(pca.solution_.steps) == 3 and pca.gap_ <= pca.tol
    assert isinstance(pca.solution_.penalty, WeightedL1)
    pca.solution_.verify()


@pytest.mark.slow
def test_objects_numbers_and_both():
    same = [
        fantope.SparsePCA(2, penalty=MCP(0.3)),
        fantope.SparsePCA(2, alpha=MCP(0.3)),
        fantope.SparsePCA(2, alpha=0.3, penalty="mcp"),
        fantope.SparsePCA(2, alpha=0.3, penalty=MCP(9.0)),
    ]
    one, *others = (pca.fit(SIM.Z) for pca in same)
    for other in others:
        np.testing.assert_array_equal(one.components_, other.components_)
    assert one.alpha_ == 0.3
    for alpha, penalty in ((MCP(0.3), MCP(0.3)), (MCP(0.3), "scad")):
        with pytest.raises(ValueError, match="alpha and penalty are both penalties"):
            fantope.SparsePCA(2, alpha=alpha, penalty=penalty).fit(SIM.Z)


@pytest.mark.slow
def test_the_default_is_concave_where_alpha_is_left_to_the_data():
    for default, named in (
        (fantope.SparsePCA(2), fantope.SparsePCA(2, penalty="mcp")),
        (fantope.SparsePCA(2, alpha=0.3), fantope.SparsePCA(2, alpha=0.3, penalty="l1")),
    ):
        np.testing.assert_array_equal(default.fit(SIM.Z).components_, named.fit(SIM.Z).components_)
    assert len(fantope.SparsePCACV(2, cv=2).fit(SIM.Z).solution_.steps) == 3
    assert fantope.SparsePCACV(2, alphas=[0.3], cv=2).fit(SIM.Z).solution_.steps == ()


@pytest.mark.slow
def test_scale_equivariant_and_deterministic():
    one, other, again = (fantope.SparsePCA(2, penalty="mcp").fit(c * SIM.Z) for c in (1.0, 1e-3, 1.0))
    assert other.alpha_ == pytest.approx(1e-6 * one.alpha_, rel=1e-6)
    np.testing.assert_array_equal(one.support_, other.support_)
    np.testing.assert_array_equal(one.components_, again.components_)


@pytest.mark.slow
def test_noise_and_strong_correlation_are_never_all_zero():
    rng = np.random.default_rng(0)
    for Z in (rng.standard_normal((40, 60)), rng.standard_normal((40, 1)) + 0.1 * rng.standard_normal((40, 30))):
        pca = fantope.SparsePCA(2, penalty="mcp").fit(Z)
        assert np.linalg.norm(pca.components_, axis=1) == pytest.approx([1.0, 1.0])


def _kinds():
    rng = np.random.default_rng(7)
    noise = rng.standard_normal((40, 12))
    dominant = noise.copy()
    dominant[:, 3] *= 1e6
    constant = noise.copy()
    constant[:, [4, 7]] = [2.0, 0.0]
    return {
        "counts": rng.poisson(3.0, (40, 12)).astype(float),
        "zeros and ones": (rng.random((40, 12)) < 0.3).astype(float),
        "one variable outweighs all": dominant,
        "each column three times": np.hstack([noise[:, :4]] * 3),
        "constant columns": constant,
        "heavy tails": rng.standard_cauchy((40, 12)),
        "units apart": noise * np.geomspace(1e-6, 1e6, 12),
        "three variables": noise[:, :1] + 0.1 * noise[:, 1:4],
        "three samples": rng.standard_normal((3, 12)),
        "three of each": rng.standard_normal((3, 3)),
    }


@pytest.mark.parametrize("kind", _kinds())
def test_the_default_holds_on_any_kind_of_data(kind):
    Z = _kinds()[kind]
    found = fantope.SparsePCA().fit(Z)
    np.testing.assert_array_equal(found.components_, fantope.SparsePCA().fit(Z.copy()).components_)
    np.testing.assert_allclose(found.components_ @ found.components_.T, np.eye(2), atol=1e-8)
    scaled = fantope.SparsePCA().fit(7.3e-3 * Z)
    assert scaled.alpha_ == pytest.approx(7.3e-3**2 * found.alpha_, rel=1e-3)
    np.testing.assert_array_equal(scaled.support_, found.support_)
    np.testing.assert_allclose(scaled.projection_.toarray(), found.projection_.toarray(), atol=1e-3)


def test_rounding_chooses_no_alpha():
    scores = np.full((4, 5), 0.9) + 1e-9 * np.random.default_rng(0).standard_normal((4, 5))
    assert choose(scores, "best") == choose(scores, "1se") == choose(scores, "1se", paired=True) == 0
    Z = _kinds()["three variables"]
    one, other = (fantope.SparsePCACV(2, cv=2).fit(c * Z).alpha_ / c**2 for c in (1.0, 7.3))
    assert one == pytest.approx(other)


def test_a_matrix_has_no_default():
    with pytest.raises(ValueError, match="alpha must be given where S is precomputed"):
        fantope.SparsePCA(2, penalty="mcp", kind="precomputed").fit(np.cov(SIM.Z.T))


@pytest.mark.slow
def test_an_operator_is_the_same_as_the_data():
    op = fantope.covariance(SIM.Z)
    over = fantope.SparsePCA(2, penalty="mcp", kind="precomputed").fit(op)
    plain = fantope.SparsePCA(2, penalty="mcp").fit(SIM.Z)
    assert over.alpha_ == pytest.approx(plain.alpha_, rel=1e-3)
    np.testing.assert_array_equal(over.support_, plain.support_)


@pytest.mark.slow
def test_cross_validation_tries_alphas_around_the_default():
    pca = fantope.SparsePCACV(2, penalty="mcp", cv=3).fit(SIM.Z)
    default = fantope.SparsePCA(2, penalty="mcp").fit(SIM.Z).alpha_
    assert pca.alphas_[2] == pytest.approx(default, rel=5e-3)
    assert pca.alpha_ in pca.alphas_
    assert len(pca.solution_.steps) == 3
    found = SIM.recovery(pca.components_)
    assert found.precision > 0.9 and found.recall > 0.9
    own = fantope.SparsePCACV(2, penalty=SCAD(1.0, steps=2), alphas=[0.3, 0.5], cv=2).fit(SIM.Z)
    assert own.alpha_ in (0.3, 0.5) and len(own.solution_.steps) == 2
