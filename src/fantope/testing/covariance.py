"""Whether an operator is a covariance: everything it says agrees with the matrix it stands for."""

from __future__ import annotations

import numpy as np
import scipy.sparse.csgraph

from fantope.operators import Covariance
from fantope.testing.expect import expect, expect_close
from fantope.typing import Array, IntArray


def check_covariance(S: Covariance, random_state: int = 0) -> None:
    """Check a covariance operator against the dense matrix that its own blocks give.

    That matrix is formed: use a small instance, of at most a few hundred variables.

    Parameters
    ----------
    S : Covariance
    random_state : int

    Examples
    --------
    >>> import fantope
    >>> check_covariance(fantope.covariance(fantope.simulate(50, 40).Z))
    """
    rng = np.random.default_rng(random_state)
    p = S.size
    everything = np.arange(p)
    dense = S.block(everything, everything)
    scale = float(np.abs(dense).max()) or 1.0
    expect(dense.shape == (p, p) and np.isfinite(dense).all(), f"block must return finite numbers of shape ({p}, {p}).")
    expect(np.array_equal(dense, dense.T), "block must be exactly symmetric where rows and cols are the same.")
    expect_close(S.diagonal(), dense.diagonal(), "diagonal must be that of the matrix", scale)
    for _ in range(3):
        rows, cols = rng.permutation(p)[: p // 2 + 1], rng.permutation(p)[: p // 3 + 1]
        block = S.block(rows, cols)
        expect_close(block, dense[np.ix_(rows, cols)], "block(rows, cols) must agree with the whole matrix", scale)
        block[:] = np.nan
        expect_close(S.block(rows, cols), dense[np.ix_(rows, cols)], "block must be the caller's to overwrite", scale)
    for V in (rng.standard_normal(p), rng.standard_normal((p, 3))):
        expect_close(S.matmul(V), dense @ V, "matmul must be the product with the matrix", scale * p)
    apart = np.sort(rng.permutation(p)[: p // 3])
    for without in (None, apart):
        _check_pairs(S, dense, without, scale)


def _check_pairs(S: Covariance, dense: Array, apart: IntArray | None, scale: float) -> None:
    size = np.abs(dense)
    np.fill_diagonal(size, 0.0)
    if apart is not None:
        size[np.ix_(apart, apart)] = 0.0
    largest = S.largest_off_diagonal() if apart is None else S.largest_off_diagonal(apart=apart)
    expect_close(largest, size.max(), "largest_off_diagonal must be the largest |S_ij|, i ≠ j", scale)
    # Between values that differ by more than rounding in single precision: a pair within it may count as above alpha.
    values = np.unique(size)
    middles = (0.5 * (values[1:] + values[:-1]))[np.diff(values) > 1e-3 * scale]
    if not len(middles):
        return
    alphas = np.quantile(middles, [0.0, 0.5, 0.9, 1.0], method="nearest")
    graph = S.graph(float(alphas[0])) if apart is None else S.graph(float(alphas[0]), apart=apart)
    for alpha in alphas:
        wanted = scipy.sparse.csgraph.connected_components(size > alpha, directed=False)[1].astype(np.intp)
        expect(
            _same_parts(graph.component_labels(float(alpha)), wanted),
            f"graph must connect exactly what the pairs with |S_ij| > {alpha:g} connect, at every larger alpha too.",
        )
        if apart is None:
            expect(
                _same_parts(S.component_labels(float(alpha)), wanted),
                f"component_labels must be the connected components of |S_ij| > {alpha:g}, i ≠ j.",
            )


def _same_parts(one: IntArray, other: IntArray) -> bool:
    pairs = len(np.unique(np.stack([one, other]), axis=1).T)
    return pairs == len(np.unique(one)) == len(np.unique(other))
