"""Settings shared by all tests."""

from __future__ import annotations

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

# Compiled kernels make the first call of each slow, so there are no deadlines; examples are the same on every run.
settings.register_profile("fantope", deadline=None, derandomize=True, max_examples=30)
settings.load_profile("fantope")


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Run BLAS on one thread: matrices are small, and threads that compete with other work make them slow."""
    with threadpool_limits(1, "blas"):
        yield
