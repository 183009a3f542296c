"""The lower side: supports of exactly k variables, improved by truncated power steps and by swaps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from fantope.problem.bounds import UNIT
from fantope.typing import Array, IntArray

MAX_STEPS = 50  # of either kind; they nearly always end after a few
ALL_SWAPS = 400  # pairs: up to here every swap is tried, beyond it the most promising ones
LEAVING, ENTERING = 5, 8  # variables of the most promising swaps


class Blocks(Protocol):
    """As much of a covariance as a search asks for."""

    @property
    def size(self) -> int:
        """Number of variables."""

    def diagonal(self) -> Array:
        """Return the diagonal."""

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return S[rows][:, cols] as a new array."""


def value(S: Blocks, support: IntArray, n_components: int) -> float:
    """Return φ_d of the block of S on ``support``, rounded downwards."""
    block = S.block(support, support)
    return float(np.linalg.eigvalsh(block)[-n_components:].sum()) - n_components * _error(block)


def value_above(S: Blocks, support: IntArray, n_components: int) -> float:
    """Return φ_d of the block of S on ``support``, rounded upwards."""
    block = S.block(support, support)
    return float(np.linalg.eigvalsh(block)[-n_components:].sum()) + n_components * _error(block)


def _error(block: Array) -> float:
    """LAPACK's eigenvalues are exact for a matrix within a small multiple of k·u·‖S‖ of the block."""
    return 20 * len(block) * UNIT * float(np.linalg.norm(block))


def leading(S: Blocks, support: IntArray, n_components: int) -> tuple[Array, Array]:
    """Return the d largest eigenvalues of a block, ascending, and their eigenvectors as columns."""
    values, vectors = np.linalg.eigh(S.block(support, support))
    return values[-n_components:], vectors[:, -n_components:]


def largest(scores: Array, k: int, kept: IntArray | None = None) -> IntArray:
    """Return the k variables with the largest scores, ascending; those of ``kept`` are among them."""
    if kept is not None and len(kept):
        scores = scores.copy()
        scores[kept] = np.inf
    return np.sort(np.argsort(-scores, kind="stable")[:k])


def search(S: Blocks, k: int, n_components: int, starts: Iterable[IntArray]) -> IntArray:
    """Return the best support of k variables that local search finds from any of the starts."""
    best, found, seen = -np.inf, np.arange(k), set[bytes]()
    improved = []
    for start in starts:
        support = _power(S, start, n_components)
        if support.tobytes() not in seen:
            seen.add(support.tobytes())
            improved.append((value(S, support, n_components), support))
    # Swaps are the expensive part: from the best two.
    for _, support in sorted(improved, key=lambda pair: -pair[0])[:2]:
        support = _swap(S, support, n_components)
        now = value(S, support, n_components)
        if now > best:
            best, found = now, support
    return found


def _power(S: Blocks, support: IntArray, n_components: int) -> IntArray:
    """Repeat: multiply the eigenvectors of the block by S, keep the k largest rows; as long as the value grows."""
    everything, best, before = np.arange(S.size), -np.inf, support
    for _ in range(MAX_STEPS):
        values, vectors = leading(S, support, n_components)
        now = float(values.sum())
        if now <= best + 4 * UNIT * abs(best):
            break
        best, before = now, support
        support = largest(np.linalg.norm(S.block(everything, support) @ vectors, axis=1), len(support))
    return before


def _swap(S: Blocks, support: IntArray, n_components: int) -> IntArray:
    """Exchange one variable for another as long as that increases the value."""
    everything = np.arange(S.size)
    if len(support) == S.size:
        return support
    diagonal = S.diagonal()
    for _ in range(MAX_STEPS):
        values, vectors = leading(S, support, n_components)
        outside = np.setdiff1d(everything, support)
        coupling = S.block(outside, support)
        leaving, entering = np.arange(len(support)), np.arange(len(outside))
        if len(leaving) * len(entering) > ALL_SWAPS:
            leaving = np.argsort((vectors**2 @ np.abs(values)), kind="stable")[:LEAVING]
            low = 0.5 * (diagonal[outside][:, None] - values)
            gain = (low + np.hypot(low, coupling @ vectors)).sum(axis=1)  # of eigenvalues of 2 × 2 matrices
            entering = np.argsort(-gain, kind="stable")[:ENTERING]
        pairs = [(i, j) for i in leaving for j in entering]
        blocks = np.repeat(S.block(support, support)[None], len(pairs), axis=0)
        for at, (i, j) in enumerate(pairs):
            blocks[at, i, :] = blocks[at, :, i] = coupling[j]
            blocks[at, i, i] = diagonal[outside[j]]
        totals = np.linalg.eigvalsh(blocks)[:, -n_components:].sum(axis=1)
        best = int(np.argmax(totals))
        if totals[best] <= float(values.sum()) + 1e-12 * abs(float(values.sum())):
            return support
        i, j = pairs[best]
        support = np.sort(np.append(np.delete(support, i), outside[j]))
    return support
