"""Online-P: certified subproblems, agreement with the paper's scheme and a generic solver, state."""

import math

import cvxpy as cp
import numpy as np
import pytest
import scipy.linalg

from fantope.online import FollowTheLeader, OnlineP, fantope_distance
from fantope.online.online_p import theorem_tolerance
from fantope.penalties import L1
from fantope.penalties.squared_lr import L1SquaredLr, conjugate_exponent
from fantope.problem.certificate import dual_bound
from fantope.problem.problem import Problem
from fantope.problem.projection import Factors
from fantope.simulation import simulate
from fantope.solvers import Admm, Status
from fantope.solvers.iterate import iterate
from fantope.solvers.scaled_splitting import ScaledSplitting, Schedule, Warm, solve_warm
from fantope.solvers.scaled_splitting.rows import BoundForRows


def subproblem(Z, d, alpha):
    t, p = Z.shape
    return Problem(Z.T @ Z / t, d, L1SquaredLr(alpha, float(t), conjugate_exponent(p)))


def instance(p=40, t=20, alpha=0.2):
    return subproblem(simulate(t, max(p, 35)).Z[:, -p:] if p < 35 else simulate(t, p).Z, 2, alpha)


def solve_from(problem, warm, tolerance, expected=None, **options):
    expected = np.maximum(warm.Y.diagonal(), 0.0) if expected is None else expected
    return solve_warm(ScaledSplitting(warm, expected, tolerance, **options), problem, 2000)


def solve_from_cold(problem, tolerance):
    return solve_from(problem, Warm.cold(problem), tolerance)[0]


def dense(X):
    return (X.vectors.T * X.weights) @ X.vectors


def independent_bracket(problem, X, D):
    """Objective and bound written out with numpy alone."""
    alpha, r, q, root = problem.alpha, problem.penalty.r, problem.penalty.q, math.sqrt(problem.penalty.t)
    objective = (problem.S * X).sum() - alpha * np.abs(X).sum()
    objective -= (np.abs(X) ** r).sum() ** (2 / r) / (2 * root)
    W = D - np.clip(D, -alpha, alpha)
    bound = scipy.linalg.eigvalsh(problem.S - D)[-problem.n_components :].sum()
    return objective, bound + root / 2 * (np.abs(W) ** q).sum() ** (2 / q)


def test_when_S_changes_the_dual_point_stays_and_so_do_zeros():
    problem, later = instance(40, 19), instance(40, 20)
    _, warm = solve_from(problem, Warm.cold(problem), theorem_tolerance(problem.penalty))
    change, alpha = later.S - problem.S, problem.alpha
    moved, zero = warm.after(change, alpha), warm.Y == 0.0
    stays = ~zero | (np.abs(warm.D + change) < alpha)
    assert 0 < (zero & stays).sum() < zero.sum() < zero.size and np.abs(moved.D[zero]).max() == alpha
    np.testing.assert_allclose((later.S - moved.D)[stays], (problem.S - warm.D)[stays], atol=1e-14)
    assert moved.Y is warm.Y and moved.theta == warm.theta


@pytest.mark.slow
@pytest.mark.parametrize(("p", "t"), [(8, 3), (40, 1), (40, 20), (80, 60)])
def test_the_gap_is_met_and_can_be_recomputed(p, t):
    problem = instance(p, t)
    tolerance = theorem_tolerance(problem.penalty)
    found = solve_from_cold(problem, tolerance)
    assert found.status is Status.SOLVED and found.dual_bound - found.objective <= tolerance
    assert found.history[-1].objective == found.objective and found.history[-1].iteration == found.n_iter
    X = dense(found.X)
    assert fantope_distance(X, 2) < 1e-7
    objective, bound = independent_bracket(problem, X, problem.S - found.dual.M)
    assert objective == pytest.approx(found.objective, abs=1e-10 * max(1.0, abs(objective)))
    # Computed anew from X and D, the gap is met as well, and the solver's bound is on the safe side of it.
    assert -1e-9 <= bound - objective <= tolerance
    assert bound <= found.dual_bound + 1e-10 * max(1.0, abs(bound))
    D = np.clip(problem.S, -0.5, 0.5)
    _, bound = independent_bracket(problem, X, D)
    assert dual_bound(problem.S - D, 2) + problem.penalty.dual_value(D) == pytest.approx(bound, rel=1e-8)
    assert bound >= found.objective


@pytest.mark.slow
@pytest.mark.parametrize(("d", "alpha"), [(1, 0.0), (1, 3.0), (3, 0.5), (5, 2.0)])
def test_from_dense_to_a_handful_of_non_zeros(d, alpha):
    problem = subproblem(simulate(30, 120).Z, d, alpha)
    tolerance = 10 * theorem_tolerance(problem.penalty)
    found = solve_from_cold(problem, tolerance)
    assert found.status is Status.SOLVED
    objective, bound = independent_bracket(problem, dense(found.X), problem.S - found.dual.M)
    assert -1e-9 <= bound - objective <= tolerance


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:pnorm with p=")  # by second-order cones: older versions of cvxpy have nothing else
def test_a_generic_solver_agrees():
    p, problem = 9, instance(9, 6, 0.3)
    found = solve_from_cold(problem, 1e-7)
    assert found.status is Status.SOLVED
    X = cp.Variable((p, p), symmetric=True)
    value = cp.trace(problem.S @ X) - 0.3 * cp.sum(cp.abs(X))
    value -= cp.square(cp.pnorm(cp.vec(X, order="C"), problem.penalty.r)) / (2 * math.sqrt(6))
    exact = cp.Problem(cp.Maximize(value), [X >> 0, np.eye(p) - X >> 0, cp.trace(X) == 2]).solve(
        solver=cp.SCS, eps=1e-7
    )
    assert found.objective == pytest.approx(exact, abs=1e-3)


def test_a_solver_says_which_penalty_it_needs():
    problem = instance()
    with pytest.raises(TypeError, match="needs a penalty with a weight for each entry"):
        iterate(Admm(), problem, tol=1e-3)
    with pytest.raises(TypeError, match="needs the penalty L1SquaredLr"):
        Warm.cold(Problem(problem.S, 2, L1(0.2)))


def test_the_tolerance_is_the_theorems():
    penalty = instance(60, 25).penalty
    beta = math.exp(-4) / (math.log(60) - 1)
    assert penalty.strong_convexity == pytest.approx(beta)
    # β√t ε²/2 with ε = 1/√t, divided by t.
    assert theorem_tolerance(penalty) == pytest.approx(beta * math.sqrt(25) / 25 / 2 / 25)


@pytest.mark.slow
def test_records_show_every_tolerance_and_loosening_is_reported():
    Z = simulate(12, 40).Z
    strict, loose = OnlineP(40, 2, 0.2), OnlineP(40, 2, 0.2, loosen=1e3)
    strict.update_many(Z)
    loose.update_many(Z)
    assert len(strict.records) == 12 and all(record.met for record in strict.records) and strict.n_unmet == 0
    assert sum(r.n_iter for r in loose.records) < sum(r.n_iter for r in strict.records)
    for a, b in zip(strict.records, loose.records, strict=True):
        assert b.tolerance == pytest.approx(1e3 * a.tolerance)
    # ‖X_t − W_t‖₁ ≤ ε: what the tolerance means.
    epsilon = math.sqrt(1e3 / 12) + math.sqrt(1 / 12)
    assert np.abs(strict.iterate() - loose.iterate()).sum() <= epsilon
    hopeless = OnlineP(40, 2, 0.2, max_iter=3)
    hopeless.update_many(Z[:2])
    assert hopeless.n_unmet == 2 and not hopeless.records[-1].met
    with pytest.raises(ValueError, match="loosen must be"):
        OnlineP(40, 2, 0.2, loosen=0.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["online-p", "ftl"])
def test_blocks_equal_rows_and_saved_state_equals_both(kind):
    def new():
        return OnlineP(40, 2, 0.2, loosen=100.0) if kind == "online-p" else FollowTheLeader(40, 2, 0.2)

    Z = simulate(14, 40).Z
    whole, single = new(), new()
    whole.update_many(Z)
    for k, z in enumerate(Z):
        single.update_many(z[None])
        if k == 6:
            state = {key: np.array(v) if isinstance(v, np.ndarray) else v for key, v in single.state().items()}
            single = new()
            single.restore(state)
            assert kind == "ftl" or vars(single.warm).keys() == vars(whole.warm).keys()
    for key, value in whole.state().items():
        np.testing.assert_array_equal(value, single.state()[key], err_msg=key)


@pytest.mark.slow
def test_ftl_is_the_batch_solution():
    import fantope

    sim = simulate(60, 50)
    learner = FollowTheLeader(50, 2, 0.3, tol=1e-4)
    learner.update_many(sim.Z)
    batch = fantope.solve(sim.Z.T @ sim.Z / 60, 2, 0.3, tol=1e-5)
    assert learner.gap <= 1e-4 and learner.n_unmet == 0
    np.testing.assert_allclose(learner.iterate(), batch.projection.toarray(), atol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("schedule", [Schedule(give_up=0), Schedule(lost=0.0)])
def test_what_the_metric_does_not_solve_the_plain_splitting_does(schedule):
    problem = instance(40, 20)
    tolerance = theorem_tolerance(problem.penalty)
    usual = solve_from_cold(problem, tolerance)
    found, warm = solve_from(problem, Warm.cold(problem), tolerance, schedule=schedule)
    assert found.status is Status.SOLVED and found.objective == pytest.approx(usual.objective, abs=2 * tolerance)
    assert warm.plain == schedule.rest
    # The next one begins in the plain metric, where the last one ended.
    again, later = solve_from(problem, warm, tolerance, schedule=schedule)
    assert again.status is Status.SOLVED and again.n_iter < found.n_iter and later.plain == schedule.rest - 1


@pytest.mark.slow
def test_a_warm_start_saves_iterations_and_its_metric_may_be_wrong():
    problem = instance(60, 30)
    tolerance, start = theorem_tolerance(problem.penalty), Warm.cold(problem)
    expected = np.maximum(start.Y.diagonal(), 0.0)
    cold, warm = solve_from(problem, start, tolerance)
    again, _ = solve_from(problem, warm, tolerance)
    assert again.n_iter < cold.n_iter / 2
    misled, _ = solve_from(problem, start, tolerance, expected[::-1].copy())
    assert misled.status is Status.SOLVED and misled.objective == pytest.approx(cold.objective, abs=2 * tolerance)


@pytest.mark.slow
def test_a_restored_state_remembers_that_the_plain_splitting_had_to_help():
    Z = simulate(8, 40).Z
    whole, restored = OnlineP(40, 2, 0.2, loosen=100.0), OnlineP(40, 2, 0.2, loosen=100.0)
    whole.schedule = restored.schedule = Schedule(give_up=0)
    whole.update_many(Z[:5])
    assert whole.warm.plain > 0
    restored.restore({key: np.array(v) if isinstance(v, np.ndarray) else v for key, v in whole.state().items()})
    whole.update_many(Z[5:])
    restored.update_many(Z[5:])
    for key, value in whole.state().items():
        np.testing.assert_array_equal(value, restored.state()[key], err_msg=key)


@pytest.mark.slow
def test_a_larger_step_where_the_dual_point_lags():
    Z = simulate(40, 40, random_state=2).Z
    alpha = 1.2 * np.sqrt(np.log(40) / 40)
    least, iterations, steps = Schedule.least_step, [], []
    for schedule in (Schedule(most_step=least), Schedule()):
        learner = OnlineP(40, 2, alpha)
        learner.schedule = schedule
        for z in Z:
            learner.update_many(z[None])
            steps.append(learner.warm.step)
        assert learner.n_unmet == 0
        iterations.append(sum(record.n_iter for record in learner.records))
    assert steps[:40] == [least] * 40 and max(steps) > 2 * least
    assert iterations[1] < 0.8 * iterations[0]


def test_a_dual_point_far_from_the_objective_is_no_start():
    problem = instance()
    X = Factors(np.arange(2), np.eye(2), np.ones(2))
    for objective, far in ((problem.objective(X), False), (-1e9, True)):
        bound = BoundForRows(Warm.cold(problem), X, objective, 1.0, Schedule())
        run = iterate(bound, problem, tol=0.0, absolute=1e-3, max_iter=20)
        assert run.state.dual is not None and (bound.leave(problem, run.state) is bound.warm) is far


@pytest.mark.slow
def test_where_few_rows_are_used_X_is_found_on_these():
    Z = simulate(50, 80).Z
    alpha = 1.1 * np.sqrt(np.log(80) / 50)
    iterations = []
    for schedule in (Schedule(most_rows=0.0), Schedule()):
        learner = OnlineP(80, 2, alpha)
        learner.schedule = schedule
        learner.update_many(Z)
        assert learner.n_unmet == 0
        iterations.append(sum(record.n_iter for record in learner.records))
        last = learner.iterate()
    learner.warm.step = 1000.0
    learner.resolve()
    assert learner.warm.step < 1000.0  # balanced on the rows too
    assert last.shape == (80, 80) and (last.diagonal() > 1e-7).mean() < Schedule.most_rows
    assert iterations[1] < 0.6 * iterations[0]
