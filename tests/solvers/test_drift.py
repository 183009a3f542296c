"""Jumps along the line on which a run drifts: when there is one, and how far it leads."""

import numpy as np
import pytest

from fantope.solvers.drift import Drift


def run(factors, directions, blocks, drift, made=1000):
    """Let Drift see blocks of an iteration z ← z + Σ r_i d_i, r_i ← factor_i·r_i; return z and the r_i."""
    z, left = np.zeros_like(directions[0]), np.ones(len(factors))
    for n in blocks:
        begin = z.copy()
        for _ in range(n):
            z = z + np.tensordot(left, directions, 1)
            left = left * factors
        drift.see(begin, z, n, made)
    return z, left


@pytest.fixture
def directions():
    return np.tril(np.random.default_rng(0).standard_normal((2, 6, 6)))


def test_a_jump_leads_to_the_end_of_a_line(directions):
    factors, drift = np.array([0.998, 0.5]), Drift()
    z, left = run(factors, directions, (20, 10, 15), drift)
    end = z + np.tensordot(left / (1.0 - factors), directions, 1)
    jumped = z + drift.ahead * drift.move
    assert np.linalg.norm(jumped - end) < 0.03 * np.linalg.norm(z - end)


def test_no_further_than_the_run_has_come(directions):
    drift = Drift()
    run(np.array([0.998, 0.5]), directions, (20, 10), drift, made=30)
    assert drift.ahead == 60.0


def test_two_directions_are_no_line(directions):
    drift = Drift()
    run(np.array([0.99, -0.99]), directions, (1, 2), drift)
    assert drift.ahead == 0.0


def test_what_ends_by_itself_is_left_alone(directions):
    drift = Drift()
    run(np.array([0.7, 0.1]), directions, (5, 5, 5), drift)
    assert drift.ahead == 0.0


def test_after_a_jump_in_vain_the_next_one_waits(directions):
    drift, factors = Drift(), np.array([0.998, 0.5])
    drift.refuse()
    ahead = []
    for blocks in ((10,), (10,), (10,), (10,)):
        run(factors, directions, blocks, drift)
        ahead.append(drift.ahead > 0.0)
    assert ahead == [False, True, True, True]
    drift.refuse()
    assert drift.wait == 4
    assert drift.ahead == 0.0
