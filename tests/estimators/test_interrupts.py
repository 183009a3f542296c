"""Ctrl-C in estimators and selection rules raises: nobody gets scores or frequencies of interrupted solves."""

import os
import signal
import subprocess
import sys

import pytest

import fantope
from fantope.path import walk
from fantope.selection import cross_validate, stability_selection
from interrupting import interrupted, moments

X = fantope.simulate(60, 30, sizes=(6, 5)).Z
ALPHAS = [0.8, 0.5]


def _stability():
    return stability_selection(X, 2, 0.5, n_subsamples=4)


def _fitted():
    return fantope.SparsePCA(2, alpha=0.5).fit(X)


def _validated():
    return fantope.SparsePCACV(2, alphas=ALPHAS, cv=2).fit(X)


def _cross_validated():
    S = X.T @ X / len(X)
    return cross_validate([(S, lambda V: float(V.sum()))] * 2, 2, ALPHAS)


@pytest.mark.slow
@pytest.mark.parametrize("action", [_stability, _fitted, _validated, _cross_validated])
def test_an_interrupt_at_any_moment_is_raised(action):
    for at in moments(action, 40):
        assert isinstance(interrupted(action, at), KeyboardInterrupt)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_error_in_a_fold_stays_what_it_is(monkeypatch, n_jobs, error):
    from joblib import parallel_config

    decompose, count = walk.decompose, 0

    def fails(*arguments):
        nonlocal count
        count += 1
        if count >= 2:  # more than once: a thread of the test before may still be at work
            raise error("alpha must be larger")
        return decompose(*arguments)

    monkeypatch.setattr(walk, "decompose", fails)
    with parallel_config(backend="threading"), pytest.raises(error) as raised:
        fantope.SparsePCACV(2, alphas=ALPHAS, cv=2, n_jobs=n_jobs).fit(X)
    assert type(raised.value) is error


# A process in the background of a shell ignores Ctrl-C.
SCRIPT = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np, fantope
X = fantope.simulate(400, 300).Z
fantope.SparsePCACV(2, alphas=[0.3], cv=2).fit(X[:, :40])
print("ready", flush=True)
try:
    fantope.SparsePCACV(2, alphas=np.geomspace(0.3, 0.01, 60), cv=5, n_jobs=2).fit(X)
except KeyboardInterrupt:
    print("raised", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="sends SIGINT to a process group")
@pytest.mark.parametrize("seconds", [0.3, 2.0])
def test_ctrl_c_with_folds_in_processes(seconds):
    """A terminal sends Ctrl-C to the workers as well."""
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(seconds)
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30)[0] == "raised\n"
    assert process.returncode == 0
