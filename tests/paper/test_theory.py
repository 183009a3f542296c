"""The paper's constants and bounds: formulas written out anew, and bounds that hold where they can be measured."""

import numpy as np
import pytest

import fantope
from fantope import theory

SIM = fantope.simulate(400, 40, sizes=(8, 6, 5), eigenvalues=(14, 10, 7), random_state=1)
S = SIM.Z.T @ SIM.Z / 400
S = 0.5 * (S + S.T)
DELTA = float(SIM.eigenvalues[2] - SIM.eigenvalues[3])
USED = 19


def distance(X, total=None):
    """Distance to {tr X = d} ∩ {0 ⪯ X ⪯ I}, or with ``total`` None to {0 ⪯ X ⪯ I} alone."""
    values = np.linalg.eigvalsh(X)
    if total is None:
        return float(np.linalg.norm(values - np.clip(values, 0, 1)))
    low, high = values.min() - 1, values.max()
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.clip(values - middle, 0, 1).sum() > total else (low, middle)
    return float(np.linalg.norm(values - np.clip(values - low, 0, 1)))


@pytest.mark.slow
@pytest.mark.parametrize(("p", "d"), [(7, 3), (20, 3), (20, 9), (50, 5)])
def test_the_distance_inequality_holds(p, d):
    random = np.random.default_rng(p)
    for scale in (0.1, 1.0, 10.0):
        for _ in range(50):
            A = scale * random.standard_normal((p, p))
            A = 0.5 * (A + A.T) + random.uniform(-1, 1) * np.eye(p)
            bound = theory.distance_bound(p, d, abs(np.trace(A) - d) / np.sqrt(p), distance(A))
            assert bound.holds
            assert distance(A, d) <= bound.value * (1 + 1e-9)


def test_outside_its_hypotheses_a_bound_says_so():
    bound = theory.distance_bound(10, 2, 1.0, 1.0)
    assert bound.value == pytest.approx(np.sqrt(10 / 3) + np.sqrt(10))
    assert not bound.holds
    assert bound.unmet == ("d ≥ 3 (d = 2)",)
    assert len(theory.fps_constants(5, 4, 0.1, 1.0).unmet) == 1


def test_the_exact_penalty_has_the_same_minimum():
    """Corollary 1: with its μ, leaving the Fantope never pays."""
    lam, d, p = 0.3, 3, 40
    c = theory.fps_constants(p, d, lam, float(np.linalg.norm(S)))
    optimum = fantope.solve(S, d, lam, tol=1e-6)
    random = np.random.default_rng(0)
    X = optimum.projection.toarray()
    for size in (1e-3, 1e-1, 1.0):
        A = random.standard_normal((p, p))
        Y = X + size * (A + A.T)
        Y *= min(1.0, np.sqrt(d) / np.linalg.norm(Y))
        values = np.linalg.eigvalsh(Y)
        penalty = abs(values.sum() - d) / np.sqrt(p) + c.r1 * max(values[-1] - 1, 0) + c.r2 * max(-values[0], 0)
        value = -np.sum(S * Y) + lam * np.abs(Y).sum() + c.mu * penalty
        assert value >= -optimum.dual_bound


def test_the_certified_error_bounds_the_measured_one():
    deviation = float(np.abs(S - SIM.Sigma).max())
    for factor in (1.0, 1.5):
        lam = factor * deviation
        sol = fantope.solve(S, 3, lam, tol=1e-4)
        bound = theory.certified_error(lam, USED, DELTA, sol.dual_bound - sol.objective, deviation)
        assert bound.holds
        assert np.linalg.norm(sol.projection.toarray() - SIM.projection) <= bound.value
    assert not theory.certified_error(0.5 * deviation, USED, DELTA, 0.0, deviation).holds


def test_gradfps_is_within_its_rate():
    """Theorem 3 with C₀ from a certified solution."""
    lam, d, step, T = 0.3, 3, 0.05, 40
    best = fantope.solve(S, d, lam, tol=1e-8)
    everything = np.arange(40)
    V = np.linalg.eigh(S)[1][:, -d:]
    C0 = theory.start_distance(V @ V.T, best.projection.toarray(), best.dual.block(everything, everything), step)
    C = theory.convergence_constant(40, d, lam, float(np.linalg.norm(S)), step, C0)
    average = fantope.solvers.GradFps(step_size=step, output="average")
    sol = fantope.solve(S, d, lam, solver=average, init=V @ V.T, max_iter=T, tol=1e-9)
    assert C.holds
    assert best.objective - sol.objective <= C.value / T


def test_formulas_of_the_online_theorems():
    p, d, lam, nu, alpha0 = 50, 3, 0.1, 40.0, 0.01
    C1, C2 = theory.online_t_basic(p, d, lam, nu)
    assert pytest.approx(5 + 40 * np.sqrt(2650) + 40 * np.sqrt(12.5)) == C1
    assert pytest.approx(1600 * 2650 + 50 + 10 * 40 * np.sqrt(2650) + 80 * np.sqrt(12.5) * C1) == C2
    moments = theory.SubExponential(mu1=10, sigma1=4, b1=1, mu2=200, sigma2=50, b2=20)
    c = theory.online_t_constants(p, d, lam, nu, alpha0, 20.0, moments, 0.05)
    log = np.log(60)
    assert pytest.approx(max(2 * log, 8 * np.sqrt(6 * log))) == c.D1
    assert pytest.approx(max(40 * log, 50 * np.sqrt(2 * log))) == c.D3
    assert pytest.approx(600 + c.D1 + 0.01 * (C2 + C1 * 30 + 200)) == c.C3
    assert pytest.approx(0.005 * (C1 * c.D2 + c.D3)) == c.C4
    regret = theory.online_t_regret(p, d, lam, nu, alpha0, np.array([3.0, 4.0]))
    stream = 9 + 3 * C1 + (16 + 4 * C1) / np.sqrt(2)
    assert regret.value == pytest.approx((600 + 0.01 * C2) / np.sqrt(2) + 0.01 / 4 * stream)
    errors = [theory.online_t_error(c, T, p, d, lam, 10, 3.0, nu, 20.0) for T in (10**3, 10**6)]
    assert errors[0].value > errors[1].value
    assert errors[0].holds
    assert not theory.online_t_error(c, 10, p, d, lam, 10, 3.0, 20.0, 20.0).holds
    with pytest.raises(ValueError, match="epsilon must be a probability"):
        theory.online_t_constants(p, d, lam, nu, alpha0, 20.0, moments, 1.5)


def test_formulas_of_online_p():
    r, beta = theory.online_p_parameters(100)
    log = np.log(100)
    assert r == pytest.approx(log / (log - 1))
    psi, epsilon = np.array([2.0, 3.0]), np.array([1.0, 0.7])
    found = theory.online_p_regret(100, 3, 0.1, 5.0, 4.0, psi, epsilon).value
    inexact = (2.1 + beta * 2.5 + 3.1 * 0.7 + beta * 2.5 * np.sqrt(2) * 0.49) / 2
    assert found == pytest.approx(16 / (2 * np.sqrt(2)) + inexact + (4 + 9 / np.sqrt(2)) / (4 * beta))
    assert (
        theory.online_p_error(1.0, 10, 100, 3, 2.0, 400).value > theory.online_p_error(1.0, 10, 100, 3, 2.0, 900).value
    )
    with pytest.raises(ValueError, match="p must be at least 3"):
        theory.online_p_parameters(2)


def test_estimation_error_of_corollary_2():
    bound = theory.estimation_error(sigma=2.0, s=5, p=100, n=400, delta=4.0, C=theory.Bound(8.0), T=100)
    assert bound.value == pytest.approx(4 * 2 * 5 * np.sqrt(np.log(100)) / (4 * 20) + np.sqrt(16 / 400) + 0.08)


def test_bounds_on_the_error_need_an_eigengap_and_the_hypotheses_of_their_constants():
    C = theory.convergence_constant(p=40, d=2, lam=0.1, norm_S=9.0, step_size=0.1, C0=1.0)
    outside = theory.estimation_error(sigma=1.0, s=5, p=40, n=100, delta=4.0, C=C, T=100)
    assert np.isfinite(outside.value) and outside.unmet == ("d ≥ 3 (d = 2)",)
    moments = theory.SubExponential(1.0, 1.0, 1.0, 1.0, 1.0, 1.0)
    constants = theory.online_t_constants(40, 3, 0.1, 20.0, 0.1, 9.0, moments, 0.05)
    for delta in (0.0, -1.0):
        for bound in (
            theory.estimation_error(1.0, 5, 40, 100, delta, theory.Bound(8.0), 100),
            theory.certified_error(0.1, 5, delta, 0.1),
            theory.online_t_error(constants, 100, 40, 3, 0.1, 5, delta, 20.0, 9.0),
            theory.online_p_error(1.0, 5, 40, 3, delta, 100),
        ):
            assert bound.value == np.inf and not bound.holds and "δ > 0" in bound.unmet[-1]
