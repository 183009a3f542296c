"""The prox of the squared ℓ_{r,r} norm against coordinate descent and a generic solver."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq

from fantope.kernels.triangle import pack, unpack
from fantope.penalties.squared_lr import L1SquaredLr, conjugate_exponent, lr_norm, prox_squared_lr, solve_norm


def coordinate_descent(V, weight, r, threshold=0.0, sweeps=400):
    """Minimise over one entry at a time, each by a root of its own optimality condition."""
    y = np.zeros(V.size)
    v = np.abs(V.ravel())
    for _ in range(sweeps):
        before = y.copy()
        for i in range(y.size):
            others = np.sum(np.delete(y, i) ** r)

            def slope(u, i=i, others=others):
                norm = (others + u**r) ** (1 / r)
                pull = weight * norm ** (2 - r) * u ** (r - 1) if u > 0 else 0.0
                return u + pull + threshold - v[i]

            y[i] = brentq(slope, 0.0, v[i], xtol=1e-15) if slope(0.0) < 0 else 0.0
        if np.abs(y - before).max() < 1e-13:
            break
    return (np.sign(V.ravel()) * y).reshape(V.shape)


def exponent(p):
    return L1SquaredLr(0.0, 1.0, conjugate_exponent(p)).r


def symmetric(rng, p):
    V = rng.standard_normal((p, p))
    return V + V.T


@pytest.mark.parametrize("p", [3, 9, 60])
@pytest.mark.parametrize("weight", [1e-2, 1.0, 30.0])
@pytest.mark.parametrize("threshold", [0.0, 0.4])
def test_entries_satisfy_their_equation(p, weight, threshold):
    V, r = symmetric(np.random.default_rng(p), p), exponent(p)
    found = prox_squared_lr(V, weight, r, threshold=threshold)
    Y, N = found.Y, lr_norm(found.Y, r)
    assert found.norm == pytest.approx(N, rel=1e-13)
    used = np.abs(V) > threshold
    residual = np.abs(Y) + weight * N ** (2 - r) * np.abs(Y) ** (r - 1) + threshold - np.abs(V)
    assert np.abs(residual[used]).max() < 1e-12 * (1 + np.abs(V).max())
    assert not Y[~used].any() and (Y == Y.T).all() and (Y * V >= 0).all()
    guessed = prox_squared_lr(V, weight, r, threshold=threshold, start=1.7 * N)
    np.testing.assert_allclose(guessed.Y, Y, atol=1e-12)


@pytest.mark.parametrize("r", [1.01, 1.04, 1.06])
def test_sharp_exponents_satisfy_their_equation(r):
    V = symmetric(np.random.default_rng(0), 20)
    found = prox_squared_lr(V, 0.5, r)
    Y, N = np.abs(found.Y), found.norm
    used = Y > 0
    residual = Y + 0.5 * N ** (2 - r) * Y ** (r - 1) - np.abs(V)
    assert np.abs(residual[used]).max() < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_against_coordinate_descent(threshold):
    V = symmetric(np.random.default_rng(1), 4)
    for r in (1.2, 1.6, 2.0):
        expected = coordinate_descent(V, 0.7, r, threshold)
        np.testing.assert_allclose(prox_squared_lr(V, 0.7, r, threshold=threshold).Y, expected, atol=1e-9)


@pytest.mark.slow
def test_against_a_generic_solver():
    V, r = symmetric(np.random.default_rng(2), 4), 1.25
    X = cp.Variable(V.shape)
    penalty = 0.3 * cp.sum(cp.abs(X)) + 0.5 * 0.8 * cp.square(cp.pnorm(cp.vec(X, order="C"), r))
    cp.Problem(cp.Minimize(penalty + 0.5 * cp.sum_squares(X - V))).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(prox_squared_lr(V, 0.8, r, threshold=0.3).Y, X.value, atol=1e-5)


@pytest.mark.slow
@given(
    scale=st.sampled_from([1e-300, 1e-150, 1e-20, 1e20, 1e100, 1e200]),
    weight=st.floats(1e-6, 1e6),
    p=st.integers(2, 12),
)
@settings(max_examples=40, deadline=None)
def test_tiny_and_huge_inputs_scale_along(scale, weight, p):
    V, r = symmetric(np.random.default_rng(p), p), exponent(max(p, 30))
    small = prox_squared_lr(V, weight, r).Y
    np.testing.assert_allclose(prox_squared_lr(V * scale, weight, r).Y / scale, small, rtol=1e-9, atol=1e-12)


def test_entries_that_differ_by_hundreds_of_orders():
    V = np.diag([1e100, 1.0, 1e-100])
    Y = prox_squared_lr(V, 1.0, 1.2).Y
    assert np.isfinite(Y).all() and Y[0, 0] > 0 and Y[2, 2] >= 0


def test_nothing_left_and_not_finite():
    assert not prox_squared_lr(np.full((3, 3), 0.2), 1.0, 1.3, threshold=0.2).Y.any()
    with pytest.raises(ValueError, match="V must be finite"):
        prox_squared_lr(np.full((2, 2), np.nan), 1.0, 1.3)


@pytest.mark.parametrize("p", [5, 12, 60])
def test_in_a_metric_with_a_trace_the_result_is_stationary(p):
    rng = np.random.default_rng(p)
    r, weight, threshold, trace = exponent(p), 0.3, 0.2, 1.7
    V = rng.standard_normal((p, p))
    V, scale, packed = V + V.T, np.exp(rng.standard_normal(p)), np.empty(p * (p + 1) // 2)
    norm, shift, _ = solve_norm(
        pack(V), packed, scale, weight=weight, r=r, threshold=threshold, start=1.0, tol=1e-14, trace=trace
    )
    Y = unpack(packed, p)
    units = np.outer(scale, scale)
    X = Y * units
    assert X.trace() == pytest.approx(trace, rel=1e-9)
    assert norm == pytest.approx((np.abs(X) ** r).sum() ** (1 / r), rel=1e-9)
    # threshold‖X‖₁ + weight·‖X‖²_r/2 + ½Σ(x/s − v)² + shift·tr X: its gradient, and its subgradient at zero.
    smooth = (Y - V) / units + shift * np.eye(p)
    used = X != 0.0
    slope = weight * norm ** (2 - r) * np.abs(X) ** (r - 1) + threshold
    np.testing.assert_allclose((smooth + slope * np.sign(X))[used], 0.0, atol=1e-8 * np.abs(V / units).max())
    assert (np.abs(smooth[~used]) <= threshold * (1 + 1e-9)).all()


@pytest.mark.parametrize("p", [5, 12, 60])
@pytest.mark.parametrize("off", [0.995, 1.005])
def test_from_a_guess_that_is_nearly_right_one_sweep_is_enough(p, off):
    rng = np.random.default_rng(p)
    V, scale, Y, found = symmetric(rng, p), np.exp(0.3 * rng.standard_normal(p)), *np.empty((2, p * (p + 1) // 2))
    given = {"weight": 0.3, "r": exponent(p), "threshold": 0.2, "trace": 1.7}
    norm, shift, _ = solve_norm(pack(V), Y, scale, start=1.0, tol=1e-14, **given)
    near, near_shift, rounds = solve_norm(pack(V), found, scale, start=off * norm, tol=1e-3, shift=shift, **given)
    assert rounds == 1 and near == pytest.approx(norm, rel=1e-4) and near_shift == pytest.approx(shift, abs=1e-4)
    assert np.abs(found - Y).max() < 1e-4 * np.abs(Y).max() and (np.sign(found) == np.sign(Y)).all()


@pytest.mark.parametrize("p", [5, 40])
@pytest.mark.parametrize("step", [0.05, 2.0])
def test_value_prox_and_dual_value_belong_together(p, step):
    rng = np.random.default_rng(p)
    penalty, A = L1SquaredLr(0.3, 7.0, conjugate_exponent(p)), symmetric(rng, p)
    X = penalty.prox(A, step)
    D = (A - X) / step
    # D is a subgradient at X: Fenchel's inequality is an equality there, and nowhere else.
    assert penalty.value(X) + penalty.dual_value(D) == pytest.approx((D * X).sum(), rel=1e-9)
    for other in (symmetric(rng, p), 0.5 * X):
        assert penalty.value(other) + penalty.dual_value(D) > (D * other).sum()
    assert penalty.scaled(0.1).value(X) < penalty.value(X) == penalty.restrict(np.arange(p)).value(X)
    assert penalty.excess(D) < 0.0 and penalty.clip(D) is D and not penalty.excess(np.full((2, 2), np.nan)) <= 0.0
