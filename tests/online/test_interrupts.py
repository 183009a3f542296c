"""Ctrl-C while learning: a sample is learnt whole or not at all, and the rest can follow as if nothing had happened."""

import time

import numpy as np
import pytest

import fantope
from fantope.online import FollowTheLeader, OnlineP, OnlineT
from fantope.online import whole as module
from fantope.online.baselines import CandidPCA
from fantope.online.regret import RegretTracker
from fantope.online.stream import Stream
from interrupting import ctrl_c_after, interrupted, moments

pytestmark = pytest.mark.slow

Z = fantope.simulate(7, 15, sizes=(4, 3)).Z
LONG = np.tile(fantope.simulate(40, 30, sizes=(6, 5)).Z, (25, 1))


def flat(state, prefix=""):
    for name, value in state.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}/")
        else:
            yield prefix + name, np.asarray(value)


def assert_same(one, other):
    for (name, value), (_, expected) in zip(flat(one.state()), flat(other.state()), strict=True):
        np.testing.assert_array_equal(value, expected, err_msg=name)


def leader(kind):
    return FollowTheLeader(15, 2, 0.2) if kind == "ftl" else OnlineP(15, 2, 0.2)


@pytest.mark.parametrize("kind", ["ftl", "online-p"])
@pytest.mark.parametrize("tracked", [False, True])
def test_long_steps_are_undone(kind, tracked):
    def stream():
        return Stream(leader(kind), tracker=RegretTracker(2, 0.2, 1.0, every=2) if tracked else None)

    whole = stream()
    whole.update_many(Z)
    made = []

    def action():
        made.append(stream())
        made[-1].update_many(Z)

    for at in moments(action, 15):
        made.clear()
        assert isinstance(interrupted(action, at), KeyboardInterrupt)
        found = made[0] if made else stream()
        found.update_many(Z[found.n_samples :])
        assert_same(found, whole)


@pytest.mark.parametrize(
    "make", [lambda: OnlineT(30, 2, 0.2), lambda: OnlineT(30, 2, 0.2, storage="sparse"), lambda: CandidPCA(30, 2)]
)
@pytest.mark.parametrize("in_stream", [False, True])
def test_ctrl_c_waits_for_short_steps(make, in_stream, monkeypatch):
    monkeypatch.setattr(module, "ENTRIES", 30 * 30 * 50)

    def learner():
        return Stream(make()) if in_stream else make()

    learner().update_many(LONG)  # compiled
    whole = learner()
    began = time.perf_counter()
    whole.update_many(LONG)
    took = time.perf_counter() - began
    came = 0
    for share in np.random.default_rng(0).uniform(0.0, 0.8, size=6):
        found = learner()
        try:
            with ctrl_c_after(share * took):
                found.update_many(LONG)
        except KeyboardInterrupt:
            came += found.n_samples < len(LONG)
        found.update_many(LONG[found.n_samples :])
        assert_same(found, whole)
    assert came > 1
