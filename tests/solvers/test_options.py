"""Options of the solvers, and solver objects passed to solve."""

import numpy as np
import pytest

import fantope
from fantope.solvers import ActiveSet, Admm, GradFps, ProjectedSubgradient, Subgradient
from problems import BY_NAME, assert_certified, paper

SMALL = BY_NAME["random-8"]
MEDIUM = BY_NAME["paper-60"]


def solved(instance, solver, **options):
    sol = fantope.solve(instance.S, instance.d, instance.alpha, solver=solver, **options)
    assert_certified(instance, sol)
    assert sol.status is fantope.Status.SOLVED
    return sol


@pytest.mark.parametrize(
    "solver", [ActiveSet(), Admm(), GradFps(), Subgradient(max_iter=50), ProjectedSubgradient(max_iter=50)], ids=repr
)
def test_objects_do_what_names_do(solver):
    by_name = fantope.solve(SMALL.S, SMALL.d, SMALL.alpha, solver=solver.name, max_iter=50)
    by_object = fantope.solve(SMALL.S, SMALL.d, SMALL.alpha, solver=solver, max_iter=50)
    assert by_object.solver == solver.name
    assert (by_object.objective, by_object.dual_bound) == (by_name.objective, by_name.dual_bound)


@pytest.mark.parametrize(
    "options",
    [
        {"prox": "direct"},
        {"prox": "direct", "mu": "paper"},
        {"prox": "direct", "mu": 50.0},
        {"mu": 50.0, "form": "corollary"},
        {"output": "last"},
        {"step_size": 0.2},
    ],
    ids=str,
)
@pytest.mark.parametrize("instance", [SMALL, BY_NAME["correlation"], BY_NAME["blocks-22"]], ids=repr)
def test_gradfps_options_that_reach_the_tolerance(instance, options):
    reference = fantope.solve(instance.S, instance.d, instance.alpha, tol=1e-6)
    sol = solved(instance, GradFps(**options))
    assert sol.objective == pytest.approx(reference.objective, rel=2e-4)


@pytest.mark.slow
def test_gradfps_average_is_certified_and_slower():
    last = solved(MEDIUM, GradFps(), tol=1e-3)
    average = solved(MEDIUM, GradFps(output="average"), tol=1e-2)
    assert average.objective <= last.dual_bound
    solvers = GradFps(output="last"), GradFps(output="average")
    early = [fantope.solve(MEDIUM.S, 2, MEDIUM.alpha, solver=solver, max_iter=60) for solver in solvers]
    for sol in early:
        assert_certified(MEDIUM, sol)
    assert early[0].gap < early[1].gap


@pytest.mark.slow
@pytest.mark.parametrize("mu", [5.0, "paper"])
def test_gradfps_with_the_iterative_prox(mu):
    """Subgradient steps make the prox inexact: nothing is promised but a certificate that comes closer."""
    short, long = (
        fantope.solve(SMALL.S, SMALL.d, SMALL.alpha, solver=GradFps(prox="iterative", mu=mu, prox_iter=n), max_iter=100)
        for n in (5, 200)
    )
    for sol in (short, long):
        assert_certified(SMALL, sol)
        sol.verify(SMALL.S)
    if mu == 5.0:
        assert long.gap < 0.1


def test_gradfps_with_a_small_mu_is_still_certified():
    """With too small a penalty the method solves another problem; the bracket says so."""
    sol = fantope.solve(SMALL.S, SMALL.d, SMALL.alpha, solver=GradFps(mu=0.01), max_iter=200)
    assert_certified(SMALL, sol)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prox": "exact"}, "prox must be 'direct' or 'iterative', got 'exact'"),
        ({"form": "sum"}, "form must be 'published' or 'corollary', got 'sum'"),
        ({"output": "best"}, "output must be 'last' or 'average', got 'best'"),
        ({"prox": "iterative"}, "prox='iterative' needs a finite mu: pass a number, or mu='paper'"),
    ],
)
def test_gradfps_refuses(options, message):
    with pytest.raises(ValueError, match=message):
        GradFps(**options)


@pytest.mark.slow
@pytest.mark.parametrize("instance", [SMALL, MEDIUM, paper(80, 140, name="paper-140")], ids=repr)
def test_admm_full_and_partial_eigenpairs_agree(instance):
    partial, full = (solved(instance, Admm(eigen=eigen), tol=1e-6) for eigen in ("partial", "full"))
    assert partial.objective == pytest.approx(full.objective, rel=2e-6)
    np.testing.assert_allclose(partial.projection.toarray(), full.projection.toarray(), atol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("relax", [1.0, 1.3, 1.6, 1.8])
def test_admm_relaxation(relax):
    solved(MEDIUM, Admm(relax=relax))


@pytest.mark.parametrize("options", [{"step_size": 0.1}, {"step_size": 0.1, "adapt": True}, {"adapt": False}], ids=str)
def test_admm_step_size(options):
    solved(MEDIUM, Admm(**options), tol=1e-3)


@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps", "subgradient", "projected-subgradient"])
def test_step_size_by_name(solver):
    sol = fantope.solve(SMALL.S, SMALL.d, SMALL.alpha, solver=solver, step_size=0.05, max_iter=100)
    assert_certified(SMALL, sol)


def test_baseline_with_the_papers_mu():
    sol = fantope.solve(SMALL.S, SMALL.d, SMALL.alpha, solver=Subgradient(mu="paper"), max_iter=50)
    assert_certified(SMALL, sol)
