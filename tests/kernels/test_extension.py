import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, lsq_linear

from fantope.kernels.extension import extend_dual


def extend(S_rows, V, alpha, ridge=1e-8):
    U = np.full_like(S_rows, np.nan)
    coupling = extend_dual(S_rows, V, alpha, ridge, U)
    return U, coupling


def instance(seed, n=12, m=9, k=2):
    rng = np.random.default_rng(seed)
    V = np.linalg.qr(rng.standard_normal((m, k)))[0]
    if seed % 2:  # sparse vectors, as sparse PCA gives
        V = np.where(np.abs(V) > 0.3, V, 0.0)
    return rng.standard_normal((n, m)), np.ascontiguousarray(V)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("alpha", [0.05, 0.5, 1.5])
@pytest.mark.parametrize("ridge", [1e-1, 1e-3, 1e-8])
def test_minimises_the_stated_quadratic(seed, alpha, ridge):
    S_rows, V = instance(seed)
    U, coupling = extend(S_rows, V, alpha, ridge)
    assert np.abs(U).max() <= alpha + 1e-12
    for s, u, c in zip(S_rows, U, coupling, strict=True):
        nearest = np.clip(s, -alpha, alpha)
        matrix = np.vstack([np.eye(len(s)), V.T / np.sqrt(ridge)])
        target = np.concatenate([nearest, V.T @ s / np.sqrt(ridge)])
        best = lsq_linear(matrix, target, (-alpha, alpha), method="bvls", tol=1e-14).x

        # Of u itself, and of the value: with a tiny ridge the two terms differ by eight orders.
        def value(x, matrix=matrix, target=target):
            return float(np.sum((matrix @ x - target) ** 2))

        assert value(u) <= value(best) * (1 + 1e-6) + 1e-9
        np.testing.assert_allclose(c, np.linalg.norm(V.T @ (s - u)), atol=1e-9)


@pytest.mark.slow
@given(seed=st.integers(0, 10**6), alpha=st.floats(0.01, 2.0), k=st.integers(1, 4))
def test_coupling_is_zero_exactly_where_a_row_is_feasible(seed, alpha, k):
    S_rows, V = instance(seed, k=k)
    U, coupling = extend(S_rows, V, alpha)
    for s, u, c in zip(S_rows, U, coupling, strict=True):
        # The smallest worst violation of Vᵀu = Vᵀs over the box, by a linear programme.
        m = len(s)
        A = np.block([[V.T, -np.ones((k, 1))], [-V.T, -np.ones((k, 1))]])
        b = np.concatenate([V.T @ s, -V.T @ s])
        found = linprog(np.r_[np.zeros(m), 1.0], A_ub=A, b_ub=b, bounds=[(-alpha, alpha)] * m + [(0, None)])
        if found.fun > 1e-4:
            assert c >= found.fun * (1 - 1e-6)
        if c < 1e-5:
            assert found.fun < 1e-5
        if found.fun < 1e-9:
            assert c < 1e-5 * (1 + np.linalg.norm(s))
        assert np.abs(u).max() <= alpha * (1 + 1e-12) + 1e-12


@given(seed=st.integers(0, 10**6), alpha=st.floats(0.01, 1.5))
def test_closed_form_for_one_component(seed, alpha):
    S_rows, V = instance(seed, n=30, k=1)
    _, coupling = extend(S_rows, V, alpha)
    v = V[:, 0]
    short = np.abs(S_rows @ v) - alpha * np.abs(v).sum()
    feasible = short <= 0
    assert (coupling[short < -1e-3] < 1e-6).all()
    # An infeasible row misses by exactly |vᵀs| − alpha‖v‖₁: its best u is at the corner of the box.
    np.testing.assert_allclose(coupling[~feasible], short[~feasible], atol=1e-6)


def test_a_row_inside_the_box_is_kept():
    S_rows, V = instance(0)
    U, coupling = extend(0.1 * S_rows / np.abs(S_rows).max(), V, 0.1)
    np.testing.assert_allclose(U, 0.1 * S_rows / np.abs(S_rows).max(), atol=1e-15)
    assert coupling.max() < 1e-14


def test_alpha_zero_leaves_everything_coupled():
    S_rows, V = instance(1)
    U, coupling = extend(S_rows, V, 0.0)
    assert not U.any()
    np.testing.assert_allclose(coupling, np.linalg.norm(S_rows @ V, axis=1), rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_box_for_every_entry(seed):
    S_rows, V = instance(seed)
    limits = np.random.default_rng(seed).uniform(0.1, 1.0, S_rows.shape)
    limits[:, 0], limits[:, 1] = 0.0, np.inf
    U, _ = extend(S_rows, V, limits, 1e-2)
    assert (np.abs(U) <= limits + 1e-12).all()
    for s, u, limit in zip(S_rows, U, limits, strict=True):
        matrix = np.vstack([np.eye(len(s)), V.T / 0.1])
        target = np.concatenate([np.clip(s, -limit, limit), V.T @ s / 0.1])
        bounds = (-limit - 1e-15, limit + 1e-15)  # a box without width is none to the reference
        best = lsq_linear(matrix, target, bounds, method="bvls", tol=1e-14).x
        assert np.sum((matrix @ u - target) ** 2) <= np.sum((matrix @ best - target) ** 2) * (1 + 1e-6) + 1e-9
    same, others = extend(S_rows, V, np.full_like(S_rows, 0.5)), extend(S_rows, V, 0.5)
    np.testing.assert_allclose(same[0], others[0], atol=1e-12)
