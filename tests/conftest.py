"""Settings shared by all tests."""

from __future__ import annotations

import os
import signal

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# A shell that starts the tests in the background has them ignore Ctrl-C, which some of them send to themselves.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Compiled kernels make the first call of each slow, so there are no deadlines; examples are the same on every run.
settings.register_profile("fantope", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("fantope")


def pytest_collection_modifyitems(items):
    if os.name != "posix":
        for item in items:
            if item.get_closest_marker("posix"):
                item.add_marker(pytest.mark.skip(reason="needs signals or permissions of Unix"))


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Run BLAS on one thread: matrices are small, and threads that compete with other work make them slow."""
    with threadpool_limits(1, "blas"):
        yield
