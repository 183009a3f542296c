"""Leading eigenvectors of a large matrix to a digit or two: to see where something is missing, no proof of anything."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from fantope.eigen.lapack import orthonormal
from fantope.typing import Array

LEAST = 3  # random vectors beside the start
MOST = 2**25  # numbers in the basis: of very many variables fewer steps are taken


class Multiplies(Protocol):
    """A symmetric matrix, or what can be multiplied like one."""

    def __len__(self) -> int: ...

    def __matmul__(self, V: Array, /) -> Array: ...


def roughly_leading(M: Multiplies, count: int, start: Array, steps: int, single: bool = False) -> tuple[Array, Array]:
    """Return about the ``count`` leading eigenvalues of M in descending order, and their eigenvectors as rows.

    ``steps`` steps of a block Krylov method from ``start``, approximate eigenvectors as rows, and random ones: the cost
    does not depend on how near eigenvalues are to each other. The values are lower bounds, up to rounding, which
    ``single`` says to be that of single precision: twice as fast.
    """
    kind = np.float32 if single else np.float64
    others = max(count // 4, LEAST, count - len(start))
    random = np.random.default_rng(1).standard_normal((others, len(M))) / np.sqrt(len(M))
    block = orthonormal(np.concatenate([start, random]).T.astype(kind))
    steps = max(min(steps, MOST // block.size), 2)
    if steps * block.shape[1] >= len(M):
        basis, images = np.eye(len(M)), M @ np.eye(len(M))
    else:
        # Every vector is multiplied once: the products make the next block, and the matrix on the basis.
        width = block.shape[1]
        basis, images = (np.empty((len(M), steps * width), kind, order="F") for _ in range(2))
        basis[:, :width], images[:, :width] = block, M @ block
        for done in range(width, steps * width, width):
            known, block = basis[:, :done], images[:, done - width : done]
            for _ in range(2):  # once is not enough where most of the block is in the basis already
                block = orthonormal(block - known @ (known.T @ block))
            basis[:, done : done + width], images[:, done : done + width] = block, M @ block
    values, C = np.linalg.eigh(basis.T @ images)
    leading = (basis @ C[:, ::-1][:, :count]).T.astype(np.float64)
    return values[::-1][:count].astype(np.float64), leading
