"""Solving and verifying hold a handful of p × p arrays, S among them."""

import tracemalloc

import numpy as np
import pytest

import fantope
from problems import paper

pytestmark = pytest.mark.slow

P = 600
MOST = 6.5  # p × p arrays of float64 at the peak, S included; the half is strips of rows, small beside a larger p


@pytest.fixture(scope="module")
def instance():
    instance = paper(200, P, factor=0.8)
    # Compile, and fill whatever caches there are, before anything is measured.
    for solver in ("auto", "admm", "gradfps"):
        fantope.solve(instance.S, 2, instance.alpha, solver=solver, max_iter=20).verify(instance.S)
    return instance


def peak(work):
    """Return the most memory in use during ``work``, in p × p arrays and without what was there before."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / (8 * P * P)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "solver",
    [
        "auto",
        "admm",
        "gradfps",
    ],
)
def test_solve(instance, solver):
    used = 1 + peak(lambda: fantope.solve(instance.S, 2, instance.alpha, solver=solver, tol=1e-6))
    assert used <= MOST


@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps"])
def test_verify(instance, solver):
    sol = fantope.solve(instance.S, 2, instance.alpha, solver=solver, tol=1e-3)
    assert sol.status is fantope.Status.SOLVED
    used = 1 + peak(lambda: sol.verify(instance.S))
    assert used <= MOST


def test_a_solution_of_the_active_set_is_small(instance):
    """What stays after solving is the active rows of U, not a matrix."""
    sol = fantope.solve(instance.S, 2, instance.alpha, tol=1e-3)
    assert sol.history[-1].n_active < P
    assert sol.factors.vectors.nbytes < 0.1 * 8 * P * P
    assert not np.shares_memory(sol.components, instance.S)
