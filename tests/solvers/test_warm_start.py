"""Where a run starts from changes how long it takes, never what is certified."""

import numpy as np
import pytest
import scipy.sparse

import fantope
from problems import BY_NAME, assert_certified, paper

INSTANCE = BY_NAME["paper-60"]
SOLVERS = ["auto", "admm", "gradfps"]


def solve(alpha=INSTANCE.alpha, **options):
    return fantope.solve(INSTANCE.S, 2, alpha, **options)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_solution_as_init_is_done_at_once(solver):
    cold = solve(solver=solver, tol=1e-5)
    warm = solve(solver=solver, tol=1e-5, init=cold)
    assert warm.status is fantope.Status.SOLVED
    assert warm.n_iter == 0
    assert warm.gap <= 1e-5
    assert_certified(INSTANCE, warm)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_rough_solution_as_init_saves_iterations(solver):
    cold = solve(solver=solver, tol=1e-6)
    rough = solve(solver=solver, tol=1e-4)
    warm = solve(solver=solver, tol=1e-6, init=rough)
    assert warm.status is fantope.Status.SOLVED
    assert warm.n_iter < cold.n_iter


@pytest.mark.slow
@pytest.mark.parametrize("solver", [*SOLVERS, "subgradient", "projected-subgradient"])
@pytest.mark.parametrize("factor", [0.5, 0.95, 1.2, 3.0])
def test_solution_of_another_alpha(solver, factor):
    other = solve(alpha=factor * INSTANCE.alpha)
    sol = solve(solver=solver, init=other, max_iter=2000 if solver in SOLVERS else 30)
    assert_certified(INSTANCE, sol)
    if solver in SOLVERS:
        assert sol.status is fantope.Status.SOLVED


@pytest.mark.slow
def test_solution_without_penalty_as_init():
    assert_certified(INSTANCE, solve(init=solve(alpha=0.0)))
    free = solve(alpha=0.0, init=solve())
    assert free.objective == pytest.approx(np.linalg.eigvalsh(INSTANCE.S)[-2:].sum(), rel=1e-4)


BASELINES = [pytest.param(name, marks=pytest.mark.slow) for name in ("subgradient", "projected-subgradient")]


@pytest.mark.slow
@pytest.mark.parametrize("solver", [*SOLVERS, *BASELINES])
@pytest.mark.parametrize("kind", ["solution", "zeros", "identity", "random", "negative", "asymmetric", "sparse"])
def test_array_as_init(solver, kind):
    rng = np.random.default_rng(0)
    good = solve().projection
    X = {
        "solution": good.toarray(),
        "zeros": np.zeros((60, 60)),
        "identity": np.eye(60),
        "random": (lambda A: A + A.T)(rng.standard_normal((60, 60))),
        "negative": -5 * np.eye(60),
        "asymmetric": rng.standard_normal((60, 60)),
        "sparse": scipy.sparse.csr_array(good),
    }[kind]
    sol = solve(solver=solver, init=X, max_iter=2000 if solver in SOLVERS else 30)
    assert_certified(INSTANCE, sol)
    if solver in SOLVERS:
        assert sol.status is fantope.Status.SOLVED


@pytest.mark.slow
def test_init_is_left_unchanged():
    X = solve().projection.toarray()
    before = X.copy()
    for solver in (*SOLVERS, "subgradient", "projected-subgradient"):
        solve(solver=solver, init=X, max_iter=20)
        np.testing.assert_array_equal(X, before)


@pytest.mark.slow
def test_init_of_another_number_of_components():
    other = fantope.solve(INSTANCE.S, 4, INSTANCE.alpha)
    sol = solve(init=other)
    assert sol.status is fantope.Status.SOLVED
    assert_certified(INSTANCE, sol)


@pytest.mark.slow
def test_init_of_another_matrix():
    other = paper(70, 60, seed=5)
    sol = solve(init=fantope.solve(other.S, 2, other.alpha))
    assert sol.status is fantope.Status.SOLVED
    assert_certified(INSTANCE, sol)


def test_init_across_a_decomposition():
    """An init with entries between components of the new problem, and on variables that it drops."""
    dense = solve(alpha=0.0)
    alpha = 0.95 * fantope.alpha_max(INSTANCE.S, 2)
    sol = solve(alpha=alpha, init=dense, tol=1e-7)
    assert sol.objective == pytest.approx(solve(alpha=alpha, tol=1e-7).objective, rel=1e-6)
    sol.verify(INSTANCE.S)
