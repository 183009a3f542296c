import numpy as np
import pytest

import fantope
from fantope.solvers import active_set
from problems import BY_NAME

INSTANCES = [BY_NAME[name] for name in ("paper-60", "blocks-22", "random-30-d4", "negative-definite")]


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["auto", "admm", "gradfps", "projected-subgradient"])
@pytest.mark.parametrize("instance", INSTANCES, ids=repr)
def test_history(instance, solver, monkeypatch):
    monkeypatch.setattr(active_set, "WHOLE_UP_TO", 12)
    seen = []
    sol = fantope.solve(
        instance.S, instance.d, instance.alpha, solver=solver, callback=seen.append, max_iter=300, tol=1e-7
    )
    assert tuple(seen) == sol.history
    assert all(isinstance(record, fantope.Record) for record in seen)
    objective, bound, gap, time, iteration = (
        np.array([getattr(record, name) for record in seen])
        for name in ("objective", "dual_bound", "gap", "time", "iteration")
    )
    assert (np.diff(objective) >= 0).all()
    assert (np.diff(bound) <= 0).all()
    assert (np.diff(gap) <= 0).all()
    assert (np.diff(time) > 0).all() and time[0] > 0
    assert (np.diff(iteration) > 0).all()
    assert (sol.dual_bound, sol.n_iter) == (bound[-1], iteration[-1])
    if sol.status is fantope.Status.SOLVED:  # X may have been made sparser within the tolerance
        assert sol.gap <= 1e-7 and gap[-1] <= 1e-7
    else:
        assert (sol.objective, sol.gap) == (objective[-1], gap[-1])
    assert all(0 < record.n_active <= len(instance.S) for record in seen)


@pytest.mark.slow
def test_a_start_is_recorded_before_the_first_iteration():
    instance = BY_NAME["paper-60"]
    init = fantope.solve(instance.S, 2, instance.alpha, tol=1e-3)
    seen = []
    fantope.solve(instance.S, 2, instance.alpha, solver="admm", tol=1e-6, init=init, callback=seen.append)
    assert seen[0].iteration == 0
    assert seen[0].gap <= init.gap * (1 + 1e-9) + 1e-12


def test_what_the_callback_returns_is_ignored():
    instance = BY_NAME["paper-60"]
    plain = fantope.solve(instance.S, 2, instance.alpha)
    other = fantope.solve(instance.S, 2, instance.alpha, callback=lambda _: True)
    assert plain.objective == other.objective
