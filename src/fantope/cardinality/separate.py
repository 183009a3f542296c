"""Orthonormal components with supports of their own: one at a time, the others held."""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fantope.cardinality.supports import Blocks, largest, search
from fantope.operators import Covariance
from fantope.problem.bounds import UNIT
from fantope.typing import Array, IntArray

SWEEPS = 20


def separate_components(S: Covariance, sizes: IntArray, starts: list[Array]) -> Array:
    """Return (d, p) orthonormal components with ``sizes`` non-zero entries that explain much variance.

    The largest entries of ``starts``, other components, are tried beside disjoint supports found one after the other.
    """
    orders = [np.argsort(-sizes, kind="stable"), np.argsort(sizes, kind="stable")]
    candidates = [_disjoint(S, sizes, order) for order in orders]
    candidates += [_truncated(S, V[order], sizes) for V in starts for order in orders]
    found = [_improved(S, V, sizes) for V in candidates]
    return max(found, key=lambda V: explained(S, V))


def explained(S: Covariance, V: Array) -> float:
    """Return tr(V S Vᵀ), rounded downwards."""
    rows = np.flatnonzero(V.any(axis=0))
    block = S.block(rows, rows)
    W = V[:, rows]
    return float(np.vdot(W @ block, W)) - 20 * len(rows) * len(V) * UNIT * float(np.linalg.norm(block))


def _disjoint(S: Covariance, sizes: IntArray, order: IntArray) -> Array:
    """Return components on disjoint supports, found in the order given; the last may lack variables."""
    V = np.zeros((len(sizes), S.size))
    left = np.arange(S.size)
    for i in order:
        others = len(sizes) - 1 - int(np.count_nonzero(V.any(axis=1)))
        k = min(int(sizes[i]), len(left) - others)
        part = _Part(S, left)
        support = search(part, k, 1, [largest(part.diagonal(), k), _from_largest_entry(part, k)])
        _, vectors = np.linalg.eigh(part.block(support, support))
        V[i, left[support]] = vectors[:, -1]
        left = np.delete(left, support)
    return V


def _from_largest_entry(S: Blocks, k: int) -> IntArray:
    """Return the k variables with the largest entries in the row of S with the largest sum of k of them."""
    rows = np.argsort(-S.diagonal(), kind="stable")[:200]
    block = np.abs(S.block(rows, np.arange(S.size)))
    best = int(np.argmax(np.sort(block, axis=1)[:, -k:].sum(axis=1)))
    return largest(block[best], k)


class _Part:
    """S on some of its variables: as much of it as a search asks for."""

    def __init__(self, S: Covariance, rows: IntArray) -> None:
        self.S, self.rows = S, rows

    @property
    def size(self) -> int:
        return len(self.rows)

    def diagonal(self) -> Array:
        return self.S.diagonal()[self.rows]

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        return self.S.block(self.rows[rows], self.rows[cols])


def _truncated(S: Covariance, start: Array, sizes: IntArray) -> Array:
    """Return orthonormal components on the largest entries of each row of ``start``."""
    V = np.zeros_like(start)
    for i, k in enumerate(sizes):
        best = _constrained(S, largest(np.abs(start[i]), int(k)), V[:i])
        if best is None:
            return _disjoint(S, sizes, np.arange(len(sizes)))
        V[i] = best
    return V


def _improved(S: Covariance, V: Array, sizes: IntArray) -> Array:
    """Sweep over the components: truncated power steps for each, orthogonal to the others, while variance grows."""
    V = V.copy()
    for _ in range(SWEEPS):
        before = explained(S, V)
        for i, k in enumerate(sizes):
            others = np.delete(V, i, axis=0)
            product = S.matmul(V[i])
            product -= others.T @ (others @ product)
            tried = _constrained(S, largest(np.abs(product), int(k)), others)
            if tried is not None and explained(S, tried[None]) > explained(S, V[i][None]):
                V[i] = tried
        if explained(S, V) <= before * (1 + 1e-12):
            break
    return V


def _constrained(S: Covariance, support: IntArray, others: Array) -> Array | None:
    """Return the unit vector on ``support``, orthogonal to the rows of ``others``, with the largest variance."""
    basis = scipy.linalg.null_space(others[:, support]) if len(others) else np.eye(len(support))
    if basis.shape[1] == 0:
        return None
    _, vectors = np.linalg.eigh(basis.T @ S.block(support, support) @ basis)
    result = np.zeros(S.size)
    result[support] = basis @ vectors[:, -1]
    return result
