"""Problems large enough for the active set, partial eigenpairs and Cholesky certificates."""

import numpy as np
import pytest

import fantope
from fantope.solvers import active_set
from problems import Instance, assert_certified, blocks, modules, paper, paper_difference, sample_covariance


@pytest.fixture(scope="module")
def large():
    return paper(150, 500, factor=1.0)


@pytest.mark.slow
def test_papers_model_in_one_go(large):
    sol = fantope.solve(large.S, 2, large.alpha, tol=1e-5)
    assert sol.status is fantope.Status.SOLVED
    assert sol.history[-1].n_active < 500
    assert_certified(large, sol, 1e-5)
    assert sol.verify(large.S).gap <= 1.2e-5
    admm = fantope.solve(large.S, 2, large.alpha, solver="admm", tol=1e-5)
    assert admm.status is fantope.Status.SOLVED
    assert sol.objective <= admm.dual_bound
    assert admm.objective <= sol.dual_bound
    assert sol.objective == pytest.approx(admm.objective, rel=2e-5)


@pytest.mark.slow
def test_gradfps(large):
    sol = fantope.solve(large.S, 2, large.alpha, solver="gradfps", tol=1e-4)
    assert sol.status is fantope.Status.SOLVED
    assert_certified(large, sol, 1e-4)


@pytest.mark.slow
def test_indefinite_difference():
    instance = paper_difference(150, 450)
    assert np.linalg.eigvalsh(instance.S)[0] < -1
    sol = fantope.solve(instance.S, 2, instance.alpha, tol=1e-5)
    assert sol.status is fantope.Status.SOLVED
    assert sol.history[-1].n_active < 450
    assert_certified(instance, sol, 1e-5)
    admm = fantope.solve(instance.S, 2, instance.alpha, solver="admm", tol=1e-4)
    assert sol.objective == pytest.approx(admm.objective, rel=2e-4)


@pytest.mark.slow
@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_active_set_and_whole_agree(monkeypatch, tol):
    instance = paper(100, 150, factor=1.2)
    whole = fantope.solve(instance.S, 2, instance.alpha, tol=tol)
    monkeypatch.setattr(active_set, "WHOLE_UP_TO", 20)
    sol = fantope.solve(instance.S, 2, instance.alpha, tol=tol)
    assert sol.status is fantope.Status.SOLVED
    assert_certified(instance, sol, tol)
    assert sol.objective <= whole.dual_bound and whole.objective <= sol.dual_bound
    assert whole.history[-1].n_active >= sol.history[-1].n_active


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
def test_many_blocks(monkeypatch, solver):
    """Block-diagonal S larger than what LAPACK takes: eigenvectors of one block say nothing about the others."""
    monkeypatch.setattr(active_set, "WHOLE_UP_TO", 100)
    rng = np.random.default_rng(0)
    S = blocks(*[sample_covariance(rng, 60, 60) for _ in range(4)])
    instance = Instance("four blocks", S, 3, 0.6)
    sol = fantope.solve(S, 3, 0.6, solver=solver, tol=1e-5)
    assert sol.status is fantope.Status.SOLVED
    assert_certified(instance, sol, 1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("d", [2, 4])
def test_modules_that_the_first_active_set_does_not_hold(monkeypatch, d):
    """Ten equal modules with noise: those outside of the first active set have to be found."""
    monkeypatch.setattr(active_set, "WHOLE_UP_TO", 60)
    monkeypatch.setattr(active_set, "FIRST_SIZE", 5)
    monkeypatch.setattr(active_set, "FIRST_SIZE_EACH", 5)
    instance = Instance("modules", modules(10, 20, 0.5, 0.25, seed=d), d, 0.15)
    sol = fantope.solve(instance.S, d, instance.alpha, tol=1e-4)
    assert sol.status is fantope.Status.SOLVED
    assert_certified(instance, sol, 1e-4)


@pytest.mark.slow
def test_no_penalty_on_a_large_matrix():
    """alpha = 0: the solution uses every variable, so the active set has to give up and solve whole."""
    S = paper(150, 450).S
    sol = fantope.solve(S, 2, 0.0, tol=1e-6)
    assert sol.status is fantope.Status.SOLVED
    assert sol.objective == pytest.approx(np.linalg.eigvalsh(S)[-2:].sum(), rel=1e-6)


def test_beyond_alpha_max_on_a_large_matrix(large):
    alpha = 1.01 * fantope.alpha_max(large.S, 3)
    sol = fantope.solve(large.S, 3, alpha, tol=1e-8)
    assert sol.support.tolist() == sorted(np.argsort(-large.S.diagonal())[:3].tolist())
    assert sol.objective == pytest.approx(np.sort(large.S.diagonal())[-3:].sum() - 3 * alpha)
