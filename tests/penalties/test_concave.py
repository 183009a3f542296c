"""MCP and SCAD as functions: slope, height, widths, and what they refuse."""

import numpy as np
import pytest

from fantope.penalties import MCP, SCAD, WeightedL1
from fantope.testing import check_penalty

PENALTIES = [MCP(0.3), MCP(0.3, b=0.1), SCAD(0.3), SCAD(0.3, a=2.5, b=0.2)]


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_the_height_is_the_integral_of_the_slope(penalty):
    ratio = np.linspace(0.0, 1.0, 2001)
    slope = penalty.slope(ratio)
    assert slope[0] == 1.0 and slope[-1] == 0.0
    assert (np.diff(slope) <= 1e-15).all()
    integral = np.concatenate([[0.0], np.cumsum(0.5 * (slope[1:] + slope[:-1]) * np.diff(ratio))])
    np.testing.assert_allclose(penalty.height(ratio), integral, atol=1e-6)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_a_step_touches_the_penalty_from_above(penalty):
    rng = np.random.default_rng(0)
    V = np.linalg.qr(rng.standard_normal((12, 2)))[0]
    X, rows = V @ V.T, np.arange(3, 15)
    widths = penalty.widths(X, rows, 20)
    step = penalty.step(X, rows, widths)
    assert isinstance(step, WeightedL1)
    tangent = penalty.value(X, widths[rows]) - step.restrict(rows).value(X)
    for _ in range(50):
        other = X + rng.standard_normal((12, 12)) * rng.choice([1e-3, 0.05, 1.0])
        assert penalty.value(other, widths[rows]) <= tangent + step.restrict(rows).value(other) + 1e-12


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_the_public_check_accepts_them(penalty):
    check_penalty(penalty)


def test_the_public_check_refuses_a_slope_that_is_not_the_heights():
    class Steep(MCP):
        def slope(self, ratio):
            return (1.0 - ratio) ** 4

    with pytest.raises(AssertionError, match="a step lies below the penalty"):
        check_penalty(Steep(0.3))


def test_widths_follow_each_component():
    v, w = np.zeros(30), np.zeros(30)
    v[:20], w[20:24] = 20**-0.5, 0.5
    X = np.outer(v, v) + np.outer(w, w)
    widths = MCP(1.0).widths(X[:24, :24], np.arange(24), 30)
    np.testing.assert_allclose(widths[:20], 0.5 / 20)
    np.testing.assert_allclose(widths[20:24], 0.5 / 4)
    assert 0.5 / 20 < widths[29] < 0.5 / 4  # elsewhere Σℓ²/(2Σℓ)
    assert (MCP(1.0, b=0.07).widths(X, np.arange(30), 30) == 0.07).all()


def test_starts_are_small_and_grow_with_the_number_of_variables():
    starts = [MCP(2.0).start_alpha(p) for p in (10, 200, 2000, 20_000, 10**6)]
    assert starts[:2] == [0.8, 0.8]
    assert starts == sorted(starts)
    assert starts[-1] == 2.0
    assert MCP(2.0, start=0.3).start_alpha(10**6) == 0.3


def test_scaled_keeps_the_rest():
    assert SCAD(1.0, a=3.0, steps=2, b=0.1, start=0.2).scaled(0.5) == SCAD(0.5, a=3.0, steps=2, b=0.1, start=0.2)
    assert MCP(1.0) != SCAD(1.0) and MCP(1.0) != MCP(1.0, b=0.1)
    assert repr(MCP(0.5, b=0.1)) == "MCP(alpha=0.5, b=0.1, steps=3)"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: MCP(0.1, b=0), "b must be a finite number above 0, got 0.0."),
        (lambda: MCP(0.1, b=-1.0), "b must be a finite number above 0, got -1.0."),
        (lambda: MCP(0.1, b="wide"), "b must be a finite number above 0, got 'wide' (str)."),
        (lambda: MCP(-0.1), "alpha must be a finite number, 0 or larger, got -0.1."),
        (lambda: MCP(0.1, steps=0), "steps must be a whole number, 1 or larger, got 0."),
        (lambda: MCP(0.1, steps=1.5), "steps must be a whole number, 1 or larger, got 1.5."),
        (lambda: MCP(0.1, start=-1), "start must be a finite number, 0 or larger, got -1.0."),
        (lambda: SCAD(0.1, a=2), "a must be a number above 2, got 2; 3.7 is usual."),
        (lambda: SCAD(0.1, a=float("nan")), "a must be a finite number, 0 or larger, got nan."),
        (lambda: MCP(0.1).scaled(-1), "alpha must be a finite number, 0 or larger, got -1.0."),
    ],
)
def test_bad_input_is_one_sentence(make, sentence):
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == sentence
