"""The interior-point method by itself, against the default, and on what the default alone does not solve."""

import numpy as np
import pytest

import fantope
from fantope.penalties import L1, WeightedL1
from fantope.problem.problem import Problem
from fantope.solvers.interior import Interior, Scaled
from fantope.solvers.interior_system import PRECISIONS, Entries, System
from fantope.solvers.iterate import iterate
from fantope.solvers.result import Status


def _signs(seed, p):
    g = np.random.default_rng(seed).choice([-1.0, 1.0], (p, p))
    return np.triu(g) + np.triu(g, 1).T


@pytest.mark.parametrize("seed", range(6))
def test_agrees_with_the_default(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(4, 16))
    A = rng.standard_normal((p, p))
    S, d = 0.5 * (A + A.T), int(rng.integers(1, p))
    weights = 0.4 * np.abs(S[:1]).T @ np.abs(S[:1]) + 0.1
    free, forbidden = np.triu(rng.random((2, p, p)) < 0.2, 1)
    mixed = np.where(free | free.T, 0.0, np.where(forbidden | forbidden.T, np.inf, weights))
    for penalty in (L1(0.3), WeightedL1(1.0, weights), WeightedL1(1.0, mixed)):
        run = iterate(Interior(), Problem(S, d, penalty), tol=1e-5)
        assert run.status is Status.SOLVED
        sol = fantope.solve(S, d, penalty, tol=1e-5)
        assert run.objective <= sol.dual_bound + 1e-12
        assert sol.objective <= run.dual_bound + 1e-12


@pytest.mark.parametrize("alpha", [0.9, 0.998, 1.0 - 1e-6])
def test_signs_take_a_dozen_steps_to_any_accuracy(alpha):
    # For alpha near 1 the optimum is a thousandth of the terms it is a difference of, and less: ADMM takes 10,000
    # iterations to a gap of 2e-3.
    run = iterate(Interior(), Problem(_signs(0, 14), 4, L1(alpha)), tol=1e-7)
    assert run.status is Status.SOLVED
    assert run.n_iter <= 16


def test_the_default_turns_to_it():
    # ADMM alone stalls at a gap of 3e-4, after 9,600 iterations.
    sol = fantope.solve(_signs(0, 26), 5, 0.998)
    assert sol.status is Status.SOLVED
    assert sol.gap <= 1e-4
    assert sol.n_iter < 1000


def test_components_of_the_graph_are_solved_side_by_side():
    S = np.kron(np.eye(3), np.ones((4, 4))) * np.repeat([3.0, 2.0, 1.0], 4)
    problem = Problem(S, 2, L1(0.1))
    assert len(Interior().init(problem, None, 1e-4).entries.rows) == 3 * 10
    run = iterate(Interior(), problem, tol=1e-8)
    assert run.status is Status.SOLVED
    assert run.objective == pytest.approx(4 * (2.9 + 1.9))


def test_a_step_meets_the_equations():
    rng = np.random.default_rng(0)
    problem = Problem(np.cov(rng.standard_normal((20, 6)).T), 2, L1(0.1))
    state = Interior().init(problem, None, 1e-4)
    now = Scaled.of(state)
    found = now.direction(0.01)
    assert found.X.trace() == pytest.approx(0.0, abs=1e-14)
    for sign, X, Z, dZ in zip((1, -1), (state.X, np.eye(6) - state.X), state.Z, found.Z, strict=True):
        root = np.linalg.cholesky(now.A)[0 if sign == 1 else 1].T  # any square root of the scaling shows it
        assert np.allclose(np.linalg.inv(root).T @ Z @ np.linalg.inv(root), root @ X @ root.T)
        assert dZ == pytest.approx(dZ.T)
    products = state.parts * now.slack + state.parts * found.slack + found.parts * now.slack
    assert products == pytest.approx(0.01)
    assert found.parts[0] - found.parts[1] == pytest.approx(
        found.X[state.entries.rows, state.entries.cols][state.limited]
    )


@pytest.mark.parametrize("precision", range(len(PRECISIONS)))
def test_systems_are_solved_with_any_factor(precision):
    rng = np.random.default_rng(1)
    rows, cols = np.tril_indices(7)
    kept = np.arange(len(rows)) % 5 != 1
    kept[rows == cols] = True
    entries = Entries(rows[kept], cols[kept])
    A = np.stack([Z.T @ Z for Z in rng.standard_normal((2, 20, 7))])
    R = rng.standard_normal(len(entries.rows))
    system = System(entries, A, rng.random(len(R)), precision)
    x, theta = system.solve(R, np.zeros_like(R), 1e-9)
    assert entries.spread(x, 7).trace() == pytest.approx(0.0, abs=1e-12)
    assert system.product(x) + theta * entries.take(np.eye(7)) == pytest.approx(R, abs=1e-9)


def test_a_point_at_the_edge_ends_the_run():
    problem, solver = Problem(np.diag([3.0, 2.0, 1.0]), 1, L1(0.1)), Interior()
    state = solver.init(problem, None, 1e-4)
    state.X = np.diag([1.0, 0.0, 0.0])
    solver.step(problem, state, 1)
    assert state.exhausted


@pytest.mark.parametrize("alpha", [0.3, 0.7, 0.99])
def test_a_tolerance_below_rounding_ends_soon(alpha):
    run = iterate(Interior(), Problem(_signs(1, 12), 3, L1(alpha)), tol=1e-17)
    assert run.n_iter <= 30
    assert run.gap <= 1e-9
