"""Brackets of the best value of k variables, against brute force over all supports."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import fantope
from fantope.cardinality.bracket import common_budget
from fantope.errors import InputError
from problems import correlation, equicorrelated, sample_covariance, spectrum

CLASSICS = Path(__file__).parents[3] / "shared" / "data" / "spca_classics.npz"
PITPROPS = [1.9540, 2.4753, 2.9375, 3.4062, 3.7710, 3.9962, 4.0686, 4.1386, 4.1726]  # k = 2 … 10, by brute force


def brute_force(S, k, d):
    supports = combinations(range(len(S)), k)
    return max(np.linalg.eigvalsh(S[np.ix_(B, B)])[-d:].sum() for B in map(list, supports))


def matrices():
    rng = np.random.default_rng(0)
    yield "covariance", sample_covariance(rng, 20, 8)
    yield "correlation", correlation(sample_covariance(rng, 15, 8))
    yield "indefinite", spectrum(rng, rng.standard_normal(8))
    yield "ties", equicorrelated(7, 0.4)
    yield "diagonal", np.diag(rng.uniform(0.5, 2.0, 7))
    yield "negative", -sample_covariance(rng, 20, 7)
    yield "isolated", np.block([[sample_covariance(rng, 20, 4), np.zeros((4, 4))], [np.zeros((4, 4)), 3 * np.eye(4)]])


def cases():
    slow = {"covariance", "correlation", "indefinite", "negative"}
    return [pytest.param(*each, marks=[pytest.mark.slow] if each[0] in slow else []) for each in matrices()]


@pytest.mark.parametrize("d", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("name", "S"), cases(), ids=lambda value: value if isinstance(value, str) else "")
def test_the_optimum_lies_inside_and_branch_and_bound_finds_it(name, S, d):
    sizes = [d, 3, 4, len(S) - 1]
    curve = fantope.cardinality_bracket(S, sizes, n_components=d)
    exact = fantope.cardinality_bracket(S, sizes, n_components=d, tol=0)
    for b, e in zip(curve, exact, strict=True):
        optimum = brute_force(S, b.k, d)
        scale = np.abs(S).max()
        for found in (b, e):
            assert found.lower <= optimum + 1e-13 * scale
            assert found.upper >= optimum - 1e-13 * scale
            assert len(found.support) == b.k or S[np.ix_(found.support, found.support)].any()
            V = found.components
            np.testing.assert_allclose(V @ V.T, np.eye(d), atol=1e-12)
            assert np.count_nonzero(V.any(axis=0)) <= b.k
            assert np.trace(V @ S @ V.T) == pytest.approx(found.lower, abs=1e-11 * scale)
        assert e.lower == pytest.approx(optimum, abs=1e-9 * scale)
        assert e.upper - e.lower <= 1e-8 * scale


@pytest.mark.slow
def test_limits_end_branch_and_bound_early_with_a_valid_bracket():
    S = correlation(sample_covariance(np.random.default_rng(3), 12, 14))
    optimum = brute_force(S, 5, 1)
    none = fantope.cardinality_bracket(S, 5, tol=0, max_nodes=0)
    one = fantope.cardinality_bracket(S, 5, tol=0, max_nodes=1)
    soon = fantope.cardinality_bracket(S, 5, tol=0, time_limit=0)
    assert (none.n_nodes, one.n_nodes, soon.n_nodes) == (0, 1, 0)
    for b in (none, one, soon):
        assert b.lower <= optimum + 1e-12 <= b.upper + 2e-12
    assert one.upper <= none.upper
    wide = fantope.cardinality_bracket(S, 5, tol=0.5)
    assert wide.n_nodes == 0
    assert wide.gap < 0.5


@pytest.mark.slow
def test_supports_of_their_own():
    rng = np.random.default_rng(1)
    S = sample_covariance(rng, 30, 8)
    b = fantope.cardinality_bracket(S, (2, 3), 2, support="separate")
    V = b.components
    np.testing.assert_allclose(V @ V.T, np.eye(2), atol=1e-12)
    assert np.count_nonzero(V, axis=1).tolist() == [2, 3]
    assert b.lower == pytest.approx(np.trace(V @ S @ V.T))
    best = 0.0  # supports that do not overlap are part of what is allowed
    for one in map(list, combinations(range(8), 2)):
        for two in map(list, combinations(sorted(set(range(8)) - set(one)), 3)):
            total = sum(np.linalg.eigvalsh(S[np.ix_(B, B)])[-1] for B in (one, two))
            best = max(best, total)
    assert b.lower >= 0.98 * best
    assert b.upper >= best
    both = fantope.cardinality_bracket(S, [2, 4], 2, support="separate")
    assert both.k.tolist() == [4, 8]
    assert (both.lower <= both.upper).all()


@pytest.mark.slow
def test_one_path_serves_every_k_and_an_operator_gives_what_its_matrix_gives():
    X = fantope.simulate(100, 80, random_state=2).Z
    op = fantope.covariance(X)
    S = op.block(np.arange(80), np.arange(80))
    path = fantope.solve_path(op, 1, tol=1e-4)
    for k in (3, 12):
        of_path = fantope.cardinality_bracket(op, k, path=path)
        of_matrix = fantope.cardinality_bracket(S, k)
        assert of_path.lower == pytest.approx(of_matrix.lower, rel=1e-9)
        assert of_path.upper == pytest.approx(of_matrix.upper, rel=2e-3)
        assert of_path.support.tolist() == of_matrix.support.tolist()


@pytest.mark.slow
@pytest.mark.skipif(not CLASSICS.exists(), reason="the classical matrices are not here")
def test_pitprops_is_solved_exactly_for_every_k():
    S = np.load(CLASSICS)["pitprops"]
    curve = fantope.cardinality_bracket(S, tol=0)
    assert (curve.gap < 2e-9).all()
    np.testing.assert_allclose(curve.lower[1:10], PITPROPS, atol=6e-5)


@pytest.mark.slow
@pytest.mark.skipif(not CLASSICS.exists(), reason="the classical matrices are not here")
@pytest.mark.parametrize(
    ("name", "widest"),
    [
        ("ionosphere", (1.1, 2.5, 2.4)),
        ("lung", (2.9, 2.8, 1.9)),
        ("geography", (0.05, 0.05, 0.8)),
        ("communities", (0.3, 0.9, 3.0)),
        ("miniBoone", (0.05, 0.05, 0.05)),
    ],
)
def test_classics_are_no_wider_than_seen_before(name, widest):
    gaps = 100 * fantope.cardinality_bracket(np.load(CLASSICS)[name], [5, 10, 20]).gap
    assert (gaps <= widest).all(), gaps


def test_the_budget_is_attained_by_no_projection():
    rng = np.random.default_rng(0)
    for k, d in ((4, 2), (6, 3), (5, 1), (3, 3)):
        for _ in range(50):
            V = np.linalg.qr(rng.standard_normal((k, d)))[0]
            assert np.abs(V @ V.T).sum() <= common_budget(k, d) + 1e-12
        assert common_budget(k, d) <= k * np.sqrt(d) + 1e-12


S5 = equicorrelated(5, 0.3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k must be a whole number of variables from 1 to 5, got 0"),
        ({"k": 6}, "k must be a whole number of variables from 1 to 5, got 6"),
        ({"k": 2.5}, "got 2.5"),
        ({"k": True}, "got True"),
        ({"k": []}, "got none"),
        ({"k": 1, "n_components": 2}, r"from 2 \(n_components\) to 5, got 1"),
        ({"k": (2, 3, 4), "n_components": 2, "support": "separate"}, "one number for each of the 2 components"),
        ({"k": 2, "support": "rows"}, "support must be 'common' or 'separate', got 'rows'"),
        ({"k": 3, "n_components": 2, "support": "separate", "tol": 0.1}, "no branch and bound"),
        ({"k": 2, "max_nodes": 3}, "tol must be given with max_nodes"),
        ({"k": 2, "tol": -1.0}, "tol must be"),
        ({"k": 2, "tol": 0.0, "max_nodes": -1}, "max_nodes must be"),
        ({"k": 2, "path": fantope.solve_path(S5, 2, [0.1])}, "path must be solutions with n_components = 1"),
        ({"k": 2, "path": fantope.solve_path(2 * S5, 1, [0.1])}, "path must be a path of the same S"),
    ],
)
def test_bad_input_is_one_sentence(arguments, message):
    with pytest.raises(InputError, match=message) as error:
        fantope.cardinality_bracket(S5, **arguments)
    assert "\n" not in str(error.value)


@pytest.mark.slow
def test_without_k_every_number_of_variables_has_a_bracket():
    curve = fantope.cardinality_bracket(S5, n_components=2)
    assert curve.k.tolist() == [2, 3, 4, 5]
    assert curve.to_frame().shape == (4, 5)
    assert (np.diff(curve.lower) > 0).all()


def test_a_curve_is_drawn_as_a_band():
    curve = fantope.cardinality_bracket(S5, [3, 1, 2])
    ax = fantope.plotting.plot_cardinality(curve, total=2.2)
    total, upper, lower = ax.lines
    assert total.get_ydata()[0] == 2.2
    assert list(lower.get_xdata()) == [1, 2, 3]
    assert (np.asarray(upper.get_ydata()) >= np.asarray(lower.get_ydata())).all()
    assert fantope.plotting.plot_cardinality(curve, ax=ax) is ax
