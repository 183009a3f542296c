import numpy as np
import pytest

from fantope.kernels import build
from fantope.kernels.elementwise import (
    admm_pass,
    admm_rescale,
    box_part,
    gradfps_pass,
    gradfps_target,
    objective_terms,
    soft_threshold,
)


@pytest.fixture(params=["serial", "parallel"])
def compiled(request, monkeypatch):
    """Send every call to one of the two builds, whatever its size."""
    monkeypatch.setattr(build, "PARALLEL_FROM", 0 if request.param == "parallel" else 10**9)
    return request.param


def symmetric(rng, m):
    A = rng.standard_normal((m, m))
    return A + A.T


def soft(A, t):
    return np.sign(A) * np.maximum(np.abs(A) - t, 0.0)


def low_rank(rng, m, k):
    vectors = np.ascontiguousarray(np.linalg.qr(rng.standard_normal((m, k)))[0].T)
    weights = rng.uniform(0.1, 1.0, k)
    return vectors, weights, (vectors.T * weights) @ vectors


@pytest.mark.parametrize(("m", "k"), [(1, 1), (7, 2), (33, 5)])
@pytest.mark.parametrize("relax", [1.0, 1.6])
def test_admm_pass(compiled, m, k, relax):
    rng = np.random.default_rng(m)
    Z, S = symmetric(rng, m), symmetric(rng, m)
    vectors, weights, X = low_rank(rng, m, k)
    threshold, rho = 0.7, 2.5
    Y = soft(Z, threshold)
    W = Z - Y
    Z_new = relax * X + (1 - relax) * Y + W
    Y_new = soft(Z_new, threshold)
    W_new = Z_new - Y_new
    G = np.full((m, m), np.nan)
    sums = admm_pass(Z, S, G, vectors, weights, threshold * rho, 1 / rho, relax)
    np.testing.assert_allclose(Z, Z_new, atol=1e-13)
    np.testing.assert_allclose(G, Y_new - W_new + S / rho, atol=1e-13)
    wanted = [np.sum(A**2) for A in (X - Y_new, Y_new - Y, W_new, S / rho - W_new)]
    np.testing.assert_allclose(sums, wanted, rtol=1e-12)


@pytest.mark.parametrize("m", [1, 7, 33])
def test_admm_rescale(compiled, m):
    rng = np.random.default_rng(m)
    Z, S = symmetric(rng, m), symmetric(rng, m)
    threshold, factor, rho = 0.7, 1.9, 3.0
    Y = soft(Z, threshold)
    W = (Z - Y) / factor
    G = np.empty((m, m))
    admm_rescale(Z, S, G, threshold * rho, 1 / rho, factor)
    np.testing.assert_allclose(Z, Y + W, atol=1e-13)
    np.testing.assert_allclose(G, Y - W + S / (factor * rho), atol=1e-13)
    # The splitting survives: thresholding at the new level gives Y back.
    np.testing.assert_allclose(soft(Z, threshold / factor), Y, atol=1e-13)


@pytest.mark.parametrize(("m", "k"), [(1, 1), (7, 2), (33, 5)])
@pytest.mark.parametrize("scale", [1.0, 0.8])
def test_gradfps_pass(compiled, m, k, scale):
    rng = np.random.default_rng(m)
    Z1, Z2 = symmetric(rng, m), symmetric(rng, m)
    vectors, weights, prox2 = low_rank(rng, m, k)
    threshold = 0.4
    X = scale * (Z1 + Z2) / 2
    prox1 = soft(2 * X - Z1, threshold)
    new1, new2 = Z1 - X + prox1, Z2 - X + prox2
    wanted = [
        np.sum((prox1 - prox2) ** 2),
        np.sum(((new1 + new2) / 2 - (Z1 + Z2) / 2) ** 2),
        np.sum(((new1 + new2) / 2) ** 2),
        np.sum((new1 - new2) ** 2),
    ]
    sums = gradfps_pass(Z1, Z2, scale, vectors, weights, threshold / 0.2, 0.2)
    np.testing.assert_allclose(Z1, new1, atol=1e-13)
    np.testing.assert_allclose(Z2, new2, atol=1e-13)
    np.testing.assert_allclose(sums, wanted, rtol=1e-12)


@pytest.mark.parametrize("m", [1, 7, 33])
def test_gradfps_target(compiled, m):
    rng = np.random.default_rng(m)
    Z1, Z2, S, average = (symmetric(rng, m) for _ in range(4))
    before = average.copy()
    scale, step, weight = 0.9, 0.3, 0.25
    X = scale * (Z1 + Z2) / 2
    G = np.empty((m, m))
    gradfps_target(Z1, Z2, S, G, average, scale, step, weight)
    np.testing.assert_allclose(G, 2 * X - Z2 + step * S, atol=1e-13)
    np.testing.assert_allclose(average, (1 - weight) * before + weight * X, atol=1e-13)
    again = np.empty((m, m))
    gradfps_target(Z1, Z2, S, again, np.zeros((0, 0)), scale, step, weight)
    np.testing.assert_array_equal(again, G)


@pytest.mark.parametrize(("m", "k"), [(1, 1), (7, 2), (33, 5)])
def test_objective_terms(compiled, m, k):
    rng = np.random.default_rng(m)
    S = symmetric(rng, m)
    vectors, weights, X = low_rank(rng, m, k)
    np.testing.assert_allclose(
        objective_terms(S, vectors, weights, 0.5), [np.sum(S * X), 0.5 * np.abs(X).sum(), 0.0], rtol=1e-12
    )


def test_builds_agree(monkeypatch):
    rng = np.random.default_rng(5)
    S = symmetric(rng, 40)
    vectors, weights, _ = low_rank(rng, 40, 3)
    found = []
    for limit in (0, 10**9):
        monkeypatch.setattr(build, "PARALLEL_FROM", limit)
        found.append(objective_terms(S, vectors, weights, 0.5))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-13)


def test_non_finite_values_are_not_hidden(compiled):
    rng = np.random.default_rng(6)
    Z, S, G = symmetric(rng, 9), symmetric(rng, 9), np.empty((9, 9))
    vectors, weights, _ = low_rank(rng, 9, 2)
    vectors[0, 3] = np.nan
    sums = admm_pass(Z, S, G, vectors, weights, 0.5, 1.0, 1.6)
    assert np.isnan(sums).any()
    assert np.isnan(Z).any()


def test_limits_may_be_an_array(compiled):
    """Each kernel at an array of one number does what it does at that number, and honours each entry of any other."""
    rng = np.random.default_rng(8)
    m, rho, step = 21, 2.5, 0.4
    S, Z = symmetric(rng, m), symmetric(rng, m)
    vectors, weights, X = low_rank(rng, m, 3)
    limits = np.abs(symmetric(rng, m))
    limits[0, 3] = limits[3, 0] = 0.0
    limits[1, 2] = limits[2, 1] = np.inf
    same = np.full((m, m), 0.7)

    def everything(limits):
        copies = [Z.copy() for _ in range(3)]
        G, out = np.empty((m, m)), np.empty((m, m))
        admm_pass(copies[0], S, G, vectors, weights, limits, 1 / rho, 1.6)
        admm_rescale(copies[0], S, G, limits, 1 / rho, 1.3)
        gradfps_pass(copies[1], S.copy(), 0.9, vectors, weights, limits, step)
        soft_threshold(copies[2], limits, step)
        box_part(Z, limits, step, out)
        return [*copies, G, out, objective_terms(S, vectors, weights, limits)]

    for one, other in zip(everything(0.7), everything(same), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)
    *_, thresholded, _, clipped, terms = everything(limits)
    np.testing.assert_allclose(thresholded, soft(Z, step * limits), atol=1e-14)
    np.testing.assert_array_equal(thresholded[limits == np.inf], 0.0)
    np.testing.assert_allclose(clipped, np.clip(Z, -step * limits, step * limits), atol=1e-14)
    free = np.isfinite(limits)
    wanted = [np.sum((S * X)[free]), np.sum((limits * np.abs(X))[free]), np.sum(X[~free] ** 2)]
    np.testing.assert_allclose(terms, wanted, rtol=1e-12)
