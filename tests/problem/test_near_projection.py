"""Projections of a slowly changing matrix."""

from __future__ import annotations

import numpy as np
import pytest

from fantope.problem.near_projection import NearProjection
from fantope.problem.simplex import capped_simplex
from fantope.typing import Array

TRACE = 5


@pytest.fixture
def G() -> Array:
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((300, 300)))[0]
    return (Q * np.concatenate([1.2 - 0.08 * np.arange(15), -rng.random(285)])) @ Q.T


def small_change(seed: int, size: float) -> Array:
    A = np.random.default_rng(seed).standard_normal((300, 300))
    return size * (A + A.T) / np.linalg.norm(A + A.T, 2)


def whole(lower: Array) -> Array:
    return np.tril(lower) + np.tril(lower, -1).T


def projected(G: Array) -> Array:
    values, V = np.linalg.eigh(G)
    return (V * capped_simplex(values, TRACE)) @ V.T


def without_decompositions(monkeypatch: pytest.MonkeyPatch) -> None:
    def exact(self: NearProjection, G: Array, single: bool) -> Array:
        raise AssertionError("all eigenvectors were computed again")

    monkeypatch.setattr(NearProjection, "exact", exact)


@pytest.mark.parametrize("single", [False, True])
def test_leading_eigenvectors_are_enough(G: Array, single: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    projection = NearProjection(TRACE)
    projection.renewed(np.tril(G), single, 1e-3)
    without_decompositions(monkeypatch)
    for seed in range(3):
        G += small_change(seed, 0.02)
        X = projection.renewed(np.tril(G), single, 1e-3)
        np.testing.assert_allclose(whole(X), projected(G), atol=1e-3)
        assert projection.weights.sum() == pytest.approx(TRACE, rel=1e-5)


def test_derivative_after_a_renewal(G: Array, monkeypatch: pytest.MonkeyPatch) -> None:
    projection = NearProjection(TRACE)
    projection.exact(np.tril(G), single=False)
    without_decompositions(monkeypatch)
    G += small_change(0, 0.02)
    projection.renewed(np.tril(G), False, 1e-4)
    change = small_change(1, 0.02)
    off = np.linalg.norm(whole(projection.near(np.tril(change))) - projected(G + change))
    assert off < 0.2 * np.linalg.norm(projected(G + change) - projected(G))


@pytest.mark.parametrize("capped", [0, 2])
@pytest.mark.parametrize("single", [False, True])
def test_derivative_where_most_weights_are_fractional(single: bool, capped: int) -> None:
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((300, 300)))[0]
    weights = rng.uniform(0.5, 1.5, 200)
    values = np.concatenate(
        [1.5 + rng.random(capped), weights * ((TRACE - capped) / weights.sum()), -rng.random(100 - capped)]
    )
    G = (Q * values) @ Q.T
    projection, change = NearProjection(TRACE), small_change(0, 1e-3)
    before = whole(projection.exact(np.tril(G), single))
    found, after = whole(projection.near(np.tril(change).astype(before.dtype))), projected(G + change)
    assert np.linalg.norm(found - after) < 0.02 * np.linalg.norm(before - after)
    assert np.trace(found) == pytest.approx(TRACE, rel=1e-5)


def test_another_matrix_is_decomposed(G: Array) -> None:
    projection = NearProjection(TRACE)
    projection.exact(np.tril(G), single=False)
    other = small_change(2, 3.0)
    X = projection.renewed(np.tril(other), False, 1e-6)
    np.testing.assert_allclose(whole(X), projected(other), atol=1e-9)


def test_a_common_slope_of_what_is_far_below(G: Array) -> None:
    projection = NearProjection(TRACE)
    before = whole(projection.exact(np.tril(G), single=True))
    change = small_change(0, 0.02)
    after = projected(G + change)
    off = np.linalg.norm(whole(projection.near(np.tril(change).astype(np.float32))) - after)
    assert off < 0.2 * np.linalg.norm(before - after)
