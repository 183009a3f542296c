"""Leading eigenpairs of a symmetric matrix that falls apart into blocks, found block by block.

A Krylov method on the whole matrix can overlook a block on which its start vanishes; LAPACK on each block cannot.
"""

from __future__ import annotations

import numpy as np

from fantope.eigen.lapack import largest_eigenpairs
from fantope.eigen.partial import BUFFER, Eigenspace
from fantope.kernels.graph import component_labels
from fantope.typing import Array

DENSE_UP_TO = 600  # variables in a block; larger ones go to the warm-started block method


def leading_of_blocks(M: Array, count: int, start: Array) -> tuple[Array, Array]:
    """Return the ``count`` leading eigenvalues of ``M`` in descending order, and their eigenvectors as rows.

    ``start`` holds approximate eigenvectors as rows, for blocks too large for LAPACK; three digits are asked for there.
    """
    labels = component_labels(M, 0.0)
    sizes = np.bincount(labels)
    alone = np.flatnonzero(sizes[labels] == 1)
    alone = alone[np.argsort(-M.diagonal()[alone], kind="stable")[:count]]
    values = [M.diagonal()[alone]]
    rows = [np.zeros((len(alone), len(M)))]
    rows[0][np.arange(len(alone)), alone] = 1.0
    for label in np.flatnonzero(sizes > 1):
        block = np.flatnonzero(labels == label)
        found, vectors = _of_block(M[block[:, None], block], count, start[:, block])
        values.append(found)
        rows.append(np.zeros((len(found), len(M))))
        rows[-1][:, block] = vectors
    every = np.concatenate(values)
    order = np.argsort(-every, kind="stable")[:count]
    return every[order], np.concatenate(rows)[order]


def _of_block(block: Array, count: int, start: Array) -> tuple[Array, Array]:
    m = len(block)
    count = min(count, m)
    if m <= DENSE_UP_TO:
        return largest_eigenpairs(block, count)
    # Asking for more than ``count`` makes the search find what the start misses.
    random = np.random.default_rng(1).standard_normal((count + BUFFER, m)) / np.sqrt(m)
    space = Eigenspace(np.concatenate([start[np.linalg.norm(start, axis=1) > 1e-3], random]))
    values, vectors = space.leading(block, lambda _: count + BUFFER, relative=1e-3)
    return values[:count], vectors[:count]
