"""S over a dask array: the data stay on the workers, which compute moments, tiles and blocks.

Only numbers that the answer needs come back: means and variances, for each tile of a scan a spanning forest of its
pairs above alpha, and the blocks of S that a solver asks for. A Gram matrix of two groups of columns is a sum over
chunks of rows. The tasks are plain dask tasks: they run on the distributed client if there is one and on dask's
default scheduler otherwise, and a worker that dies costs the time to compute its results again.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar

import numpy as np
from dask import base
from dask.array import Array as DaskArray
from dask.delayed import delayed

from fantope.checks import first_not_finite, not_finite
from fantope.errors import require
from fantope.operators.columns import SINGLE_UP_TO, rounding
from fantope.operators.data import DataCovariance
from fantope.operators.factory import check_chunks, check_shape
from fantope.operators.tiles import Level, Needed, Tile, everything, pairs
from fantope.typing import AnyArray, Array, IntArray

T = TypeVar("T")

WIDEST, NARROWEST, WIDTH = 8192, 256, 2048  # columns of a chunk: beyond these limits chunks are made WIDTH wide
LARGEST_CHUNK = 256 * 2**20  # bytes in double precision; larger chunks are cut along the rows
WAVE = 128  # tiles that are submitted at a time
SIDE = 11  # tiles are taken in squares of about a wave, so that a wave reads few columns
STEP = 8192  # rows of a chunk that are held in double precision at a time
CHAINS = 4  # sums over chunks of rows that run beside one another for one tile


class DaskCovariance(DataCovariance):
    """Covariance or correlation matrix of a dask array, computed where its chunks are.

    The interface, the logic and, to rounding, the results are those of :class:`DataCovariance`.
    """

    columns: DaskColumns

    def _groups(self, sigma: Array, threshold: float) -> list[IntArray]:
        """Return the columns of each chunk that a pair above ``threshold`` can hold: nothing moves between chunks."""
        kept = sigma * sigma.max() > threshold
        found = [first + np.flatnonzero(kept[first:last]) for first, last in itertools.pairwise(self.columns.bounds)]
        return [group for group in found if len(group)]

    def _scan(self, reduce: Callable[[Tile, float], T], threshold: Level, needed: Needed = everything) -> Iterator[T]:
        """Yield what the workers reduce each tile to, a wave of tiles at a time."""
        sigma = self._sigma()
        groups = self._groups(sigma, threshold())
        n = self.n_samples
        precision = np.float32 if n <= SINGLE_UP_TO else np.float64
        margin = rounding(n, precision) + self._drift
        wanted = pairs(groups, sigma, threshold, needed, side=SIDE)
        while wave := list(itertools.islice(wanted, WAVE)):
            gram = self.columns.gram(self.mean, self._norm * np.sqrt(n), precision)
            tasks = []
            for a, b in wave:
                rows, cols = groups[a], groups[b]
                tile = (gram(rows, cols), rows, cols, sigma[rows], sigma[cols], margin, precision is np.float64)
                tasks.append(_task(_reduced, reduce, threshold(), *tile))
            yield from compute(tasks)


class DaskColumns:
    """Columns of a dask array, chunked over rows and columns, dense or scipy.sparse.

    It is read again for every pass: ``X.persist()`` it if it fits in the memory of the workers. They need fantope too.
    """

    def __init__(self, X: Any) -> None:
        require(isinstance(X, DaskArray), "X", "be a dask array", type(X).__name__, "use X.to_dask_array(lengths=True)")
        known = not np.isnan(np.concatenate(X.chunks)).any()
        require(known, "X", "have chunks of known sizes", remedy="call X.compute_chunk_sizes() first")
        check_shape(tuple(X.shape), X.dtype)
        for value in _sources(X):
            check_chunks(value)
        self.shape: tuple[int, int] = (int(X.shape[0]), int(X.shape[1]))
        X = _rechunked(X)
        # As it is: optimising the graph would leave out the futures of a persisted array, and the scheduler would
        # forget data that nothing refers to.
        self._blocks = X.to_delayed(optimize_graph=False)
        self.starts = np.concatenate([[0], np.cumsum(X.chunks[0])])  # rows
        self.bounds = np.concatenate([[0], np.cumsum(X.chunks[1])])  # columns

    def moments(self, names: list[str] | None = None) -> tuple[Array, Array, Array]:
        """Two passes over the chunks; what comes back is a few numbers a column and chunk."""
        n, p = self.shape
        mean, rest, square = np.zeros(p), np.zeros(p), np.zeros(p)
        places = list(np.ndindex(self._blocks.shape))
        parts = [self._column_slice(j) for _, j in places]
        found = compute([_task(_sums, self._blocks[place]) for place in places])
        for (i, _), part, (total, bad) in zip(places, parts, found, strict=True):
            if bad is not None:
                row, column, value = bad
                raise not_finite("X", value, int(self.starts[i]) + row, part.start + column, names)
            mean[part] += total
        mean /= n
        tasks = [_task(_squares, self._blocks[place], mean[part]) for place, part in zip(places, parts, strict=True)]
        for part, (total, squares) in zip(parts, compute(tasks), strict=True):
            rest[part] += total
            square[part] += squares
        rest /= n
        return mean, rest, np.maximum(square / n - rest**2, 0.0)

    def _column_slice(self, j: int) -> slice:
        return slice(int(self.bounds[j]), int(self.bounds[j + 1]))

    def times(self, V: Array) -> Array:
        """Return X V; the (n, k) result comes to the client."""
        rows, cols = self._blocks.shape
        parts = [self._column_slice(j) for j in range(cols)]
        tasks = [_task(sum, [_task(_times, self._blocks[i, j], V[parts[j]]) for j in range(cols)]) for i in range(rows)]
        return np.concatenate(compute(tasks))

    def transposed_times(self, V: Array) -> Array:
        """Return Xᵀ V."""
        rows, cols = self._blocks.shape
        slabs = [V[self.starts[i] : self.starts[i + 1]] for i in range(rows)]
        tasks = [
            _task(sum, [_task(_transposed_times, self._blocks[i, j], slabs[i]) for i in range(rows)])
            for j in range(cols)
        ]
        return np.concatenate(compute(tasks))

    def products(self, rows: IntArray, cols: IntArray | None, mean: Array) -> Array:
        """Return a block of products, put together from tiles that the workers compute."""
        other = rows if cols is None else cols
        total = np.zeros((len(rows), len(other)))
        gram = self.gram(mean, np.full(self.shape[1], np.sqrt(self.shape[0])), np.float64)
        steps = [(r, c) for r in range(0, len(rows), WIDTH) for c in range(0, len(other), WIDTH)]
        wanted = iter([(r, c) for r, c in steps if cols is not None or c >= r])
        while wave := list(itertools.islice(wanted, WAVE)):
            tasks = [gram(rows[r : r + WIDTH], other[c : c + WIDTH]) for r, c in wave]
            for (r, c), tile in zip(wave, compute(tasks), strict=True):
                total[r : r + WIDTH, c : c + WIDTH] = tile
                if cols is None and c > r:
                    total[c : c + WIDTH, r : r + WIDTH] = tile.T
        return total

    def pairs(self, rows: IntArray, cols: IntArray, mean: Array) -> Array:
        """Return the products of pairs of columns, summed over chunks of rows by the workers."""
        both, position = np.unique(np.concatenate([rows, cols]), return_inverse=True)
        left, right = position[: len(rows)], position[len(rows) :]
        tasks = [
            _task(_pair_sums, self._piece(i, both, mean, np.ones(self.shape[1]), np.float64), left, right)
            for i in range(self._blocks.shape[0])
        ]
        found: Array = np.sum(compute(tasks), axis=0) / self.shape[0]
        return found

    def gram(self, mean: Array, scale: Array, precision: type) -> Callable[[IntArray, IntArray], Any]:
        """Return a function from two groups of columns to a task that gives the products of the scaled columns."""
        pieces: dict[tuple[int, bytes], Any] = {}

        def piece(i: int, columns: IntArray) -> Any:
            key = (i, columns.tobytes())
            if key not in pieces:
                pieces[key] = self._piece(i, columns, mean, scale, precision)
            return pieces[key]

        def of(rows: IntArray, cols: IntArray) -> Any:
            n_chunks = self._blocks.shape[0]
            chains = []
            for first in range(min(CHAINS, n_chunks)):
                total = None
                for i in range(first, n_chunks, CHAINS):
                    total = _task(_add_product, total, piece(i, rows), piece(i, cols))
                chains.append(total)
            return chains[0] if len(chains) == 1 else _task(sum, chains)

        return of

    def _piece(self, i: int, columns: IntArray, mean: Array, scale: Array, precision: type) -> Any:
        """Return a task for the centred, scaled columns in the i-th chunk of rows."""
        chunk = np.searchsorted(self.bounds, columns, side="right") - 1
        used = np.unique(chunk)
        inside = [columns[chunk == j] - self.bounds[j] for j in used]
        order = np.argsort(np.concatenate([np.flatnonzero(chunk == j) for j in used]), kind="stable")
        blocks = [self._blocks[i, j] for j in used]
        return _task(_gathered, blocks, inside, order, mean[columns], scale[columns], precision)


def _rechunked(X: Any) -> Any:
    """Return X with chunks that a worker can hold several of, and that are large enough to be worth a task."""
    widths = X.chunks[1]
    if max(widths) > WIDEST or (len(widths) > 1 and np.mean(widths) < NARROWEST):
        X = X.rechunk({1: WIDTH})
    most = LARGEST_CHUNK // (8 * max(X.chunks[1]))
    return X.rechunk({0: int(most)}) if max(X.chunks[0]) > most else X


def _sources(X: Any) -> Iterator[Any]:
    """Yield the stores that a dask array reads from."""
    for value in dict(X.__dask_graph__()).values():
        for candidate in (value, getattr(value, "value", None)):
            if hasattr(candidate, "nchunks_initialized"):
                yield candidate


# The tasks. Arrays in, arrays out; a chunk may be a scipy.sparse matrix.


def _task(function: Callable[..., Any], *args: Any) -> Any:
    # The function itself stays a name in this module, so that it travels as a name and not as code.
    return delayed(function, pure=True)(*args)


def _dense(chunk: Any) -> Array:
    return np.asarray(chunk.toarray() if hasattr(chunk, "toarray") else chunk, dtype=np.float64)


def _slabs(chunk: Any) -> Iterator[tuple[int, Array]]:
    for start in range(0, chunk.shape[0], STEP):
        yield start, _dense(chunk[start : start + STEP])


def _sums(chunk: Any) -> tuple[Array, tuple[int, int, float] | None]:
    total = np.zeros(chunk.shape[1])
    for start, slab in _slabs(chunk):
        place = first_not_finite(slab)
        if place is not None:
            return total, (start + place[0], place[1], float(slab[place]))
        total += slab.sum(axis=0)
    return total, None


def _squares(chunk: Any, mean: Array) -> tuple[Array, Array]:
    total, squares = np.zeros(len(mean)), np.zeros(len(mean))
    for _, slab in _slabs(chunk):
        slab = slab - mean
        total += slab.sum(axis=0)
        squares += np.einsum("ij,ij->j", slab, slab)
    return total, squares


def _times(chunk: Any, V: Array) -> Array:
    return np.concatenate([slab @ V for _, slab in _slabs(chunk)])


def _transposed_times(chunk: Any, V: Array) -> Array:
    total = np.zeros((chunk.shape[1], *V.shape[1:]))
    for start, slab in _slabs(chunk):
        total += slab.T @ V[start : start + len(slab)]
    return total


def _gathered(
    blocks: list[Any], inside: list[IntArray], order: IntArray, mean: Array, scale: Array, precision: type
) -> AnyArray:
    found = np.concatenate([_dense(block[:, columns]) for block, columns in zip(blocks, inside, strict=True)], axis=1)
    found = found[:, order]
    found -= mean
    found /= scale
    return found.astype(precision, copy=False)


def _add_product(total: AnyArray | None, left: AnyArray, right: AnyArray) -> AnyArray:
    product: AnyArray = left.T @ right
    if total is not None:
        product += total
    return product


def _pair_sums(piece: Array, left: IntArray, right: IntArray) -> Array:
    found: Array = np.einsum("ij,ij->j", piece[:, left], piece[:, right])
    return found


def _reduced(reduce: Callable[[Tile, float], Any], threshold: float, *tile: Any) -> Any:
    return reduce(Tile(*tile), threshold)


_GONE = (
    "The dask cluster went away during the computation: start a cluster, connect a Client, make the array again and "
    "call again; nothing has been changed."
)
_KILLED = (
    "A task ended every dask worker that tried it, most likely for lack of memory: give the workers more memory or the "
    "array smaller chunks, and call again."
)
# By name: distributed, where they are defined, need not be there.
_GONE_ERRORS = {"CommClosedError", "FutureCancelledError", "FuturesCancelledError", "ClosedClientError"}


def compute(tasks: Sequence[Any]) -> tuple[Any, ...]:
    """Run tasks; say in one sentence what happened if the cluster does not live to see their end."""
    client = _client()
    try:
        return tuple(base.compute(*tasks))  # type: ignore[no-untyped-call]
    except (CancelledError, asyncio.CancelledError, TimeoutError, ConnectionError) as error:
        raise ConnectionError(_GONE) from error
    except Exception as error:
        name = type(error).__name__
        if name == "KilledWorker":
            raise ConnectionError(_KILLED) from error
        if name in _GONE_ERRORS or _lost(client, tasks):
            raise ConnectionError(_GONE) from error
        raise


def _client() -> Any | None:
    """Return the client that will run the tasks, if there is one."""
    try:
        from distributed import default_client

        return default_client()  # type: ignore[no-untyped-call]
    except (ImportError, ValueError):
        return None


def _lost(client: Any | None, tasks: Sequence[Any]) -> bool:
    """Whether the client no longer runs, or one that holds results which the tasks stand on."""
    try:
        from distributed import futures_of

        clients = [client, *(future.client for future in futures_of(list(tasks)))]  # type: ignore[no-untyped-call]
    except ImportError:
        return False
    except CancelledError:  # by a client that went away
        return True
    if any(each is not None and each.status != "running" for each in clients):
        return True
    # What a cluster held drops out of the graph with it.
    graph = {key: node for task in tasks for key, node in dict(task.__dask_graph__()).items()}
    return any(not getattr(node, "dependencies", frozenset()) <= graph.keys() for node in graph.values())
