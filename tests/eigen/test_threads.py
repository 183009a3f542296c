import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from fantope.eigen import all_blas_threads, one_blas_thread
from fantope.eigen.threads import LARGE


def counts():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_limits_and_restores():
    before = counts()
    with one_blas_thread():
        assert set(counts()) <= {1}
    assert counts() == before


def test_restores_after_an_exception():
    before = counts()
    with pytest.raises(KeyboardInterrupt), one_blas_thread():
        raise KeyboardInterrupt
    assert counts() == before


def test_large_factorisations_get_threads_back():
    before = counts()
    with one_blas_thread():
        with all_blas_threads(LARGE):
            assert max(counts()) == max(before)
        assert set(counts()) <= {1}
        with all_blas_threads(LARGE - 1):
            assert set(counts()) <= {1}
    assert counts() == before


def test_a_limit_of_the_caller_survives():
    with threadpool_limits(1, "blas"):
        with one_blas_thread():
            pass
        assert set(counts()) <= {1}
