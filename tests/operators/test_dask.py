"""The same results from a dask array: on threads, and on a real cluster of two worker processes."""

import itertools
import os
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
import psutil
import pytest
import scipy.sparse
import zarr
from distributed import Client, LocalCluster

import fantope
from fantope.operators import dask as backend
from fantope.testing import check_covariance

RNG = np.random.default_rng(0)
N, P = 60, 700
X = RNG.standard_normal((N, P)) * RNG.uniform(0.5, 2, P) + RNG.uniform(-3, 3, P)
for block in range(4):
    X[:, 40 * block : 40 * block + 20] += 2 * RNG.standard_normal((N, 1))
X.flags.writeable = False


def assert_equal_operators(op, expected, alphas):
    near = {"rtol": 0, "atol": 1e-12 * float(np.abs(expected.diagonal()).max())}
    np.testing.assert_allclose(op.mean, expected.mean, **near)
    np.testing.assert_allclose(op.scale, expected.scale, **near)
    np.testing.assert_allclose(op.diagonal(), expected.diagonal(), **near)
    p = expected.size
    picks = [np.arange(0, p, 3), np.array([p - 1, 0, 13, 2]), np.arange(5)]
    for rows, cols in itertools.product(picks, picks):
        block = op.block(rows, cols)
        np.testing.assert_allclose(block, expected.block(rows, cols), **near)
        if rows is cols:
            np.testing.assert_array_equal(block, block.T)
    V = np.random.default_rng(1).standard_normal((p, 2))
    np.testing.assert_allclose(op.matmul(V), expected.matmul(V), rtol=1e-9, atol=1e-9)
    assert op.largest_off_diagonal() == pytest.approx(expected.largest_off_diagonal(), rel=1e-12)
    check_covariance(op)
    graph = op.graph(alphas[0])
    for alpha in alphas:
        labels = expected.component_labels(alpha)
        np.testing.assert_array_equal(op.component_labels(alpha), labels)
        np.testing.assert_array_equal(graph.component_labels(alpha), labels)


@pytest.fixture(params=["threads", "sync"])
def local(request):
    with dask.config.set(scheduler="threads" if request.param == "threads" else "synchronous"):
        yield


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "center"), [("covariance", True), ("correlation", True), ("covariance", False)])
@pytest.mark.parametrize("chunks", [(60, 700), (17, 300), (N, 64)], ids=str)
def test_equals_memory(chunks, kind, center, local):
    op = fantope.covariance(da.from_array(X, chunks=chunks), kind=kind, center=center)
    expected = fantope.covariance(X, kind=kind, center=center)
    largest = expected.largest_off_diagonal()
    assert_equal_operators(op, expected, [0.3 * largest, 0.6 * largest])


@pytest.mark.slow
def test_sparse_chunks_and_single_precision():
    counts = np.random.default_rng(2).poisson(0.5, (50, 400)).astype(np.float32)
    counts[0] += 1
    sparse = da.from_array(counts, chunks=(20, 300)).map_blocks(scipy.sparse.csr_matrix)
    op = fantope.covariance(sparse, kind="correlation")
    assert_equal_operators(op, fantope.covariance(counts, kind="correlation"), [0.35, 0.5])


@pytest.mark.slow
def test_limits_change_no_result(monkeypatch):
    expected = fantope.covariance(X, kind="correlation")
    for name, value in (("WIDEST", 100), ("WIDTH", 90), ("WAVE", 3), ("SIDE", 2), ("STEP", 7), ("LARGEST_CHUNK", 9000)):
        monkeypatch.setattr(backend, name, value)
    op = fantope.covariance(da.from_array(X, chunks=(33, 350)), kind="correlation")
    assert len(op.columns.bounds) == 9
    assert_equal_operators(op, expected, [0.5])


@pytest.mark.slow
def test_long_columns_are_scanned_in_double_precision(monkeypatch):
    monkeypatch.setattr(backend, "SINGLE_UP_TO", 10)
    op = fantope.covariance(da.from_array(X, chunks=(20, 300)), kind="correlation")
    assert_equal_operators(op, fantope.covariance(X, kind="correlation"), [0.5])


@pytest.mark.slow
def test_solutions_are_equal():
    op = fantope.covariance(da.from_array(X, chunks=(20, 300)), kind="correlation")
    expected = fantope.solve_path(fantope.covariance(X, kind="correlation"), 2, [0.7, 0.6])
    path = fantope.solve_path(op, 2, [0.7, 0.6])
    for found, solution in zip(path, expected, strict=True):
        np.testing.assert_array_equal(found.support, solution.support)
        assert found.objective == pytest.approx(solution.objective, rel=1e-9)
        assert found.verify().gap <= 1e-3


def test_names_and_places():
    bad = X.copy()
    bad[41, 333] = np.nan
    with pytest.raises(ValueError, match=r"X must be finite, got nan in row 41, column 333; remove or impute"):
        fantope.covariance(da.from_array(bad, chunks=(20, 300)))
    bad[:, 333] = 1.0
    with pytest.raises(ValueError, match=r"no constant columns .* got 1: column 333"):
        fantope.covariance(da.from_array(bad, chunks=(20, 300)), kind="correlation")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: da.ones(5, chunks=2), r"two-dimensional"),
        (lambda: da.ones((1, 5)), r"at least 2 rows"),
        (lambda: da.from_array(np.array([["a", "b"], ["c", "d"]])), r"X must hold numbers, got dtype <U1"),
        (lambda: (x := da.from_array(X, chunks=(9, 100)))[x[:, 0] > 0], r"known sizes; call X\.compute_chunk_sizes"),
        (lambda: dask.delayed(X), r"X must be a dask array, got Delayed"),
    ],
)
def test_arrays_that_cannot_be_used(make, message):
    with pytest.raises(ValueError, match=message):
        fantope.covariance(make())


@pytest.mark.slow
def test_a_missing_chunk_of_the_store_behind_it(tmp_path):
    array = zarr.create_array(store=tmp_path / "X.zarr", shape=X.shape, chunks=(30, 350), dtype="f8")
    array[:] = X
    source = da.from_zarr(str(tmp_path / "X.zarr"))
    expected = fantope.covariance(X)
    assert_equal_operators(fantope.covariance(source), expected, [2.0])
    (tmp_path / "X.zarr" / "c" / "1" / "0").unlink()
    with pytest.raises(ValueError, match=r"X lacks 1 of its 4 chunks in the zarr store"):
        fantope.covariance(da.from_zarr(str(tmp_path / "X.zarr")) + 1.0)


def test_other_errors_pass_through():
    def broken(block):
        raise ZeroDivisionError("of the user's own function")

    with pytest.raises(ZeroDivisionError, match="own function"):
        fantope.covariance(da.from_array(X, chunks=(20, 300)).map_blocks(broken, meta=X[:0, :0], dtype=float))


# A cluster. Workers are processes; starting them takes seconds, so that one cluster serves all but the last test.


def start():
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    return cluster, Client(cluster)


@pytest.fixture(scope="module")
def client():
    cluster, client = start()
    yield client
    client.close()
    cluster.close()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["covariance", "correlation"])
def test_cluster_equals_memory(client, kind):
    # Chunks this narrow are merged; nothing but the operator keeps the data on the workers.
    op = fantope.covariance(da.from_array(X, chunks=(20, 90)).persist(), kind=kind)
    expected = fantope.covariance(X, kind=kind)
    largest = expected.largest_off_diagonal()
    assert_equal_operators(op, expected, [0.5 * largest])
    solution = fantope.solve(op, 2, 0.7 * largest)
    assert solution.objective == pytest.approx(fantope.solve(expected, 2, 0.7 * largest).objective, rel=1e-6)
    assert solution.verify(expected).gap <= 1e-4


def slow(tile, alpha):
    """Connections of a tile, slowly enough to be killed meanwhile."""
    time.sleep(0.1)
    return backend_connections(tile, alpha)


backend_connections = fantope.operators.data.connections


@pytest.mark.posix
@pytest.mark.slow
def test_a_worker_killed_in_the_middle_of_a_scan_changes_nothing(client, monkeypatch):
    client.wait_for_workers(2, timeout=60)
    monkeypatch.setattr(backend, "NARROWEST", 10)
    op = fantope.covariance(da.from_array(X, chunks=(20, 100)).persist(), kind="correlation")
    expected = fantope.covariance(X, kind="correlation").component_labels(0.5)
    before = client.run(os.getpid)
    monkeypatch.setattr("fantope.operators.data.connections", slow)
    victim = next(iter(before.values()))
    killer = threading.Timer(0.7, os.kill, (victim, signal.SIGKILL))
    killer.start()
    began = time.perf_counter()
    labels = op.component_labels(0.5)
    lasted = time.perf_counter() - began
    killer.join()
    assert lasted > 0.7, "the scan was over before the worker died"
    np.testing.assert_array_equal(labels, expected)
    client.wait_for_workers(2, timeout=60)
    assert victim not in client.run(os.getpid).values()


def generated(block_info=None):
    """One chunk of a factor model, made on the worker."""
    (first_row, last_row), (first, last) = block_info[None]["array-location"]
    rng = np.random.default_rng([first_row, first])
    values = rng.standard_normal((last_row - first_row, last - first)).astype(np.float32)
    if first == 0:
        values[:, :15] += 3 * np.random.default_rng(first_row).standard_normal((last_row - first_row, 1))
    return values


@pytest.mark.slow
def test_the_client_holds_no_more_than_the_active_problem(client):
    """46 MB of data and 288 MB of S are on the workers, or nowhere; here are a few numbers a variable."""
    n, p = 1900, 6000
    source = da.map_blocks(generated, dtype=np.float32, chunks=((950,) * 2, (2000,) * 3))
    process = psutil.Process()
    fantope.solve(fantope.covariance(X, kind="correlation"), 1, 0.7)  # kernels are compiled, buffers there
    peak, done = [0], threading.Event()

    def watch():
        while not done.wait(0.01):
            peak[0] = max(peak[0], process.memory_info().rss)

    before = process.memory_info().rss
    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        op = fantope.covariance(source, kind="correlation")
        solution = fantope.solve(op, 1, 0.5)
    finally:
        done.set()
        watcher.join()
    assert (op.n_samples, op.size) == (n, p)
    assert solution.support.tolist() == list(range(15))
    assert peak[0] - before < 30e6


@pytest.mark.slow
def test_a_cluster_that_goes_away():
    cluster, client = start()
    try:
        op = fantope.covariance(da.from_array(X, chunks=(20, 100)).persist(), kind="correlation")
        closer = threading.Timer(0.3, cluster.close)
        closer.start()
        message = r"The dask cluster went away during the computation: start a cluster"
        with pytest.raises(ConnectionError, match=message):
            for _ in range(1000):
                op.component_labels(0.5)
        closer.join()
        with pytest.raises(ConnectionError, match=message):
            op.component_labels(0.5)
    finally:
        client.close()
        cluster.close()
    with pytest.raises(ConnectionError, match=message):
        op.component_labels(0.5)


def fatal(tile, alpha):
    """End the worker, as a system that is out of memory does."""
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.posix
@pytest.mark.slow
def test_a_task_that_no_worker_survives(monkeypatch):
    with dask.config.set({"distributed.scheduler.allowed-failures": 0}):
        cluster, client = start()
        try:
            op = fantope.covariance(da.from_array(X[:, :50]), kind="correlation")
            monkeypatch.setattr("fantope.operators.data.connections", fatal)
            with pytest.raises(ConnectionError, match=r"A task ended every dask worker that tried it, most likely for"):
                op.component_labels(0.5)
        finally:
            client.close()
            cluster.close()
