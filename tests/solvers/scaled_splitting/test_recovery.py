"""From the iterates of a splitting to an answer: completion, rounding, and the bound that is claimed."""

import numba
import numpy as np
import pytest

from fantope.kernels.build import TWO_CORES
from fantope.kernels.scaled_splitting.acceleration import combine, remember
from fantope.kernels.scaled_splitting.cap import lift_step
from fantope.kernels.scaled_splitting.products import masked_congruence
from fantope.kernels.squared_lr import entry_table, lr_sweep_in_two
from fantope.kernels.triangle import unpack
from fantope.online import OnlineP, fantope_distance
from fantope.online.online_p import theorem_tolerance
from fantope.penalties.squared_lr import L1SquaredLr, conjugate_exponent
from fantope.problem.certificate import certify, claimed_bound, dual_bound
from fantope.problem.problem import Problem
from fantope.simulation import simulate
from fantope.solvers.scaled_splitting import ScaledSplitting, Schedule, Warm, solve_warm
from fantope.solvers.scaled_splitting.anderson import Anderson
from fantope.solvers.scaled_splitting.completion import completed
from fantope.solvers.scaled_splitting.iteration import PlainSplitting, Splitting
from fantope.solvers.scaled_splitting.metric import Metric
from fantope.solvers.scaled_splitting.recovery import Recovery, rounded


def sparse_and_low_rank(p=60, rank=20, weak=1.0):
    """A semidefinite X with many zeros, and the eigenvalues and eigenvectors of X − Z, Z on the null space of X.

    Half of the eigenvalues of X are ``weak`` times what they would be.
    """
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((p, rank)) * (rng.random((p, rank)) < 0.2)
    factor[:, rank // 2 :] *= np.sqrt(weak)
    X = factor @ factor.T
    X = 0.5 * (X + X.T)
    values, V = np.linalg.eigh(X)
    values[: p - rank] = -1e-2
    return X, values, V.astype(np.float32)


def disturbed(X):
    noise = 1e-4 * np.random.default_rng(1).standard_normal(X.shape)
    return np.where(X == 0.0, 0.0, X + (noise + noise.T)), np.where(X == 0.0, 0.0, 1.0).astype(np.float32)


@pytest.mark.parametrize("p", [60, 61])
def test_completion_keeps_zeros_and_removes_what_is_not_semidefinite(p):
    X, values, V = sparse_and_low_rank(p)
    null = V[:, values < 0.0]
    Y, weights = disturbed(X)
    fixed = completed(Y, X, values, V, weights, Schedule())
    zero = weights == 0.0
    assert (fixed[zero] == 0.0).all() and zero.mean() > 0.3
    np.testing.assert_array_equal(fixed, fixed.T)
    assert np.linalg.norm(null.T @ fixed @ null) < 0.2 * np.linalg.norm(null.T @ Y @ null)
    assert np.linalg.eigvalsh(fixed)[0] > 0.15 * np.linalg.eigvalsh(Y)[0]
    assert np.linalg.norm(fixed - X) < 3 * np.linalg.norm(Y - X)


def test_completion_heeds_eigenvalues_next_to_zero():
    X, values, V = sparse_and_low_rank(weak=1e-4)
    Y, weights = disturbed(X)

    def negative(n):
        found = np.linalg.eigvalsh(completed(Y, X, values[:n], V[:, :n], weights, Schedule()))
        return -found[found < 0.0].sum()

    assert negative(60) < 0.5 * negative(40)  # 40 is the null space alone


def test_what_is_right_already_is_left_alone():
    X, values, V = sparse_and_low_rank()
    ones = np.ones(X.shape, np.float32)
    np.testing.assert_array_equal(completed(X, X, values, V, ones, Schedule()), X)
    np.testing.assert_array_equal(completed(X, X + 0.1, values[40:], V[:, 40:], ones, Schedule()), X)


@pytest.mark.parametrize("p", [41, 230])  # the second one runs on two cores, where there are
def test_masked_congruence(p):
    rng = np.random.default_rng(0)
    n, k = 30, 12
    W, B, middle = (rng.standard_normal(shape).astype(np.float32) for shape in ((p, p), (p, n), (n, k)))
    W, masked = W + W.T, np.empty((p, p), np.float32)
    found = masked_congruence(W, B, k, middle, masked)
    M = B @ middle @ B[:, :k].T
    np.testing.assert_allclose(masked, W * (M + M.T), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(found, B.T @ masked @ B[:, :k], rtol=1e-4, atol=1e-5 * p**2)


@pytest.mark.parametrize(
    ("values", "d", "n_full", "expected"),
    [
        ([0.9, 0.6, 0.5], 2, 0, [0.9, 0.6, 0.5]),
        ([0.45, 0.3, 0.25], 2, 0, [0.9, 0.6, 0.5]),
        ([0.99, 0.6, 0.3], 2, 1, [1.0, 2 / 3, 1 / 3]),
        ([3.0, 0.5, 0.5], 2, 0, [1.0, 0.5, 0.5]),  # what is too large is cut off
        ([3.0, 2.0, 0.0], 2, 0, [1.0, 1.0]),
        ([1.0, -0.2, 0.0], 1, 1, [1.0]),
        ([1.0, 0.0, 0.0], 2, 0, [1.0, 1.0]),  # nothing is left to scale
    ],
)
def test_rounding(values, d, n_full, expected):
    p = len(values)
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((p, p)))[0]
    X = rounded((Q * values) @ Q.T, d, n_full)
    np.testing.assert_allclose(X.weights[X.weights > 1e-12], expected, atol=1e-12)
    assert fantope_distance((X.vectors.T * X.weights) @ X.vectors, d) < 1e-12
    with pytest.raises(FloatingPointError, match="not finite"):
        rounded(np.full((2, 2), np.nan), 1, 0)


def test_a_claim_is_proven_or_refused():
    rng = np.random.default_rng(3)
    lift = np.zeros((300, 2))
    lift[:, 0] = rng.standard_normal(300) / 10
    A = rng.standard_normal((300, 250))
    M = 2.0 * np.eye(300) + lift @ lift.T - A @ A.T / 100
    bound = claimed_bound(M, 2.0, lift, 1e-8)
    exact = np.linalg.eigvalsh(M)[-2:].sum()
    assert exact <= bound <= 4.0 + (lift**2).sum() + 2e-8
    assert bound >= dual_bound(M, 2) - 1e-6
    # One eigenvalue of M is above the claim by 1e-6, whatever the lift says.
    v = np.linalg.eigh(M)[1][:, -3]
    assert claimed_bound(M + (2.0 + 1e-6 - v @ M @ v) * np.outer(v, v), 2.0 - 1e-6, lift, 1e-8) is None


@pytest.mark.slow
@pytest.mark.parametrize("plain", [False, True])
def test_a_completed_answer_is_better_where_zeros_are_what_is_missing(plain):
    Z = simulate(60, 80).Z
    problem = Problem(Z.T @ Z / 60, 2, L1SquaredLr(0.35, 60.0, conjugate_exponent(80)))
    tolerance, cold, schedule = theorem_tolerance(problem.penalty), Warm.cold(problem), Schedule()
    exact, _ = solve_warm(ScaledSplitting(cold, cold.Y.diagonal(), 1e-8), problem, 2000)
    assert exact.dual_bound - exact.objective <= 1e-8
    _, warm = solve_warm(ScaledSplitting(cold, cold.Y.diagonal(), 100 * tolerance), problem)
    if plain:
        run = PlainSplitting(problem, warm, Metric.plain(problem, schedule), schedule)
    else:
        metric = Metric.following(problem, warm, np.maximum(warm.Y.diagonal(), 0.0), schedule)
        run = Splitting(problem, warm, metric, schedule)
    for _ in range(0 if plain else 15):  # in the plain metric the two come close to each other sooner
        run.evaluate(True)
        run.advance()
    run.evaluate(True)
    here = Recovery(run)
    simple, whole = here.feasible(tolerance, False), here.feasible(tolerance, True)
    assert (run.Y == 0.0).mean() > 0.3
    assert exact.objective - 1e-9 <= here.claim
    lost, lost_simple = (exact.objective - problem.objective(each) for each in (whole, simple))
    assert -1e-8 <= lost < 0.7 * lost_simple
    for found in (simple, whole):
        assert fantope_distance((found.vectors.T * found.weights) @ found.vectors, 2) < 1e-10
        certificate = certify(problem, found, here.dual, 0.0, tolerance)
        assert certificate.dual_bound == pytest.approx(here.claim, abs=0.1 * tolerance)


@pytest.mark.slow
def test_the_number_of_threads_changes_no_bit():
    Z = simulate(4, 210).Z  # enough variables for the parallel kernels
    states, before = [], numba.get_num_threads()
    try:
        for n_threads in {1, before}:
            numba.set_num_threads(n_threads)
            learner = OnlineP(210, 2, 0.2, loosen=100.0)
            learner.update_many(Z)
            states.append(learner.state())
    finally:
        numba.set_num_threads(before)
    for key, value in states[0].items():
        np.testing.assert_array_equal(value, states[-1][key], err_msg=key)


@pytest.mark.slow
def test_where_arrays_lie_changes_no_bit():
    p, rng = 40, np.random.default_rng(0)
    n = p * (p + 1) // 2
    z, residual, last_z, last_residual = rng.standard_normal((4, n))
    scale, lift, rows = np.exp(0.2 * rng.standard_normal(p)), rng.standard_normal((p, 2)), rng.standard_normal((3, p))
    seen = [set(), set(), set()]

    table = entry_table(2.69)
    kept = []  # memory that is not used again: every array lies somewhere else, next to another one

    def placed(array):
        kept.append(np.empty(array.size + 64, array.dtype))
        at = int(rng.integers(0, 16))
        copy = kept[-1][at : at + array.size].reshape(array.shape)
        copy[...] = array
        return copy

    for _ in range(200):
        mixer = Anderson(4)
        for point, step in ((z, residual), (last_z, last_residual), (residual, z)):
            mixed = mixer.next(placed(point), placed(step), np.linalg.norm(step))
        seen[0].add(mixed.tobytes() + mixer.gram[:2, :2].tobytes())
        Y = placed(z)
        sums = lr_sweep_in_two(placed(scale), placed(residual), Y, 0.1, 0.2, 0.3, 2.69, table)
        seen[1].add(Y.tobytes() + np.array(sums).tobytes())
        new, leading, _ = lift_step(placed(scale), placed(z), placed(residual), placed(lift), 0.4, placed(rows), 2)
        seen[2].add(new.tobytes() + leading.tobytes())
    assert [len(each) for each in seen] == [1, 1, 1]


@pytest.mark.parametrize("n", [50, 30_000])
def test_acceleration_finds_the_fixed_point_of_a_linear_map_in_few_steps(n):
    rng = np.random.default_rng(0)
    rates, target = rng.choice([0.95, 0.9, 0.5, -0.8], n), rng.standard_normal(n)
    plain, z, mixer = np.zeros(n), np.zeros(n), Anderson(8)
    for _ in range(9):  # later ones only stir digits that single precision does not have
        plain = plain + (rates - 1.0) * (plain - target)
        step = (rates - 1.0) * (z - target)
        z = mixer.next(z, step, np.linalg.norm(step))
    assert np.linalg.norm(z - target) < 1e-5 * np.linalg.norm(target)
    assert np.linalg.norm(plain - target) > 0.1 * np.linalg.norm(target)
    still = Anderson(0)
    np.testing.assert_array_equal(still.next(z, target, np.linalg.norm(target)), z + target)


@pytest.mark.parametrize("seed", range(6))
def test_a_difference_between_two_models_of_the_map_is_not_remembered(seed):
    rng = np.random.default_rng(seed)
    rates, shifts = rng.uniform(0.0, 0.98, 200), rng.standard_normal((40, 200)) / np.sqrt(200)

    def left(told):
        """Return the residual after 40 steps, with another constant term after each fifth of them."""
        z, constant, mixer = np.zeros(200), np.ones(200), Anderson(6)
        for k, shift in enumerate(shifts):
            step = constant - (1.0 - rates) * z
            anew = k % 5 == 4
            if anew:
                constant = constant + 0.5 * np.linalg.norm(step) * shift
                step = constant - (1.0 - rates) * z
            z = mixer.next(z, step, np.linalg.norm(step), anew and told)
        return np.linalg.norm(step)

    assert left(True) < 0.95 * left(False)  # 0.38 to 0.92


@pytest.mark.parametrize("n", [50, 30_001])
@pytest.mark.parametrize("held", [1, 2, 5])
def test_the_passes_over_the_memory(n, held):
    rng = np.random.default_rng(0)
    z, residual, last_z, last_residual = rng.standard_normal((4, n))
    images, changes = rng.standard_normal((2, 6, n)).astype(np.float32)
    kept = changes[:held].copy()
    *row, inner = remember(z, residual, last_z, last_residual, 0.5, images, changes, held - 1, held)
    np.testing.assert_allclose(inner, residual @ last_residual)
    kept[held - 1] = (residual - last_residual) / 0.5
    np.testing.assert_allclose(changes[:held], kept, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(images[held - 1], (z - last_z + residual - last_residual) / 0.5, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(row, kept.astype(np.float64) @ kept[held - 1], rtol=1e-4, atol=1e-3)
    weights, out = rng.standard_normal(held).astype(np.float32), np.empty(n)
    combine(z, residual, weights, images, out)
    np.testing.assert_allclose(out, z + residual - weights @ images[:held], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("p", [40, TWO_CORES + 1])
def test_what_x_loses(p):
    """Against the norms' own values and the sum over zeros written out."""
    sim = simulate(20, p)
    problem = Problem(sim.Z.T @ sim.Z / 20, 2, L1SquaredLr(0.5, 20.0, conjugate_exponent(p)))
    warm = Warm.cold(problem)
    run = Splitting(problem, warm, Metric.following(problem, warm, warm.Y.diagonal(), Schedule()), Schedule())
    run.evaluate(True)
    for _ in range(5):
        run.advance()
        run.evaluate(True)
    M, norms = run.dual_point(), problem.penalty
    X = run.X * run.metric.units
    X *= 2.0 / X.trace()
    D, zero = problem.S - M, unpack(run.Y, p) == 0.0
    c = run.norm ** (2.0 - norms.r) / np.sqrt(norms.t)
    on_zeros = (norms.alpha * np.abs(X) + c / norms.r * np.abs(X) ** norms.r - D * X)[zero].sum()
    assert 0.0 < zero.mean() < 1.0
    np.testing.assert_allclose(run.losses(M), (norms.value(X) - np.vdot(D, X), on_zeros), rtol=1e-9)
