"""Some of the largest eigenpairs by LAPACK, whatever the spectrum."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dgeqrf, dorgqr, sgeqrf, sorgqr

from fantope.typing import AnyArray, Array


def largest_eigenvalues(G: Array, count: int) -> Array:
    """Return the ``count`` largest eigenvalues of ``G`` in descending order."""
    m = len(G)
    try:
        values = scipy.linalg.eigh(G, eigvals_only=True, subset_by_index=(m - count, m - 1), check_finite=False)
    except np.linalg.LinAlgError:  # LAPACK's evr gives up on some matrices with many equal eigenvalues
        values = scipy.linalg.eigh(G, eigvals_only=True, driver="ev", check_finite=False)[m - count :]
    result: Array = values[::-1]
    return result


def largest_eigenpairs(G: Array, count: int) -> tuple[Array, Array]:
    """Return the ``count`` largest eigenvalues of ``G`` in descending order, and their eigenvectors as rows.

    Examples
    --------
    >>> values, rows = largest_eigenpairs(np.diag([1.0, 3.0, 2.0]), 2)
    >>> values.tolist(), np.abs(rows).tolist()
    ([3.0, 2.0], [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    """
    m = len(G)
    if count < m:
        try:
            top = (m - count, m - 1)
            values, vectors = scipy.linalg.eigh(G, driver="evr", subset_by_index=top, check_finite=False)
            return values[::-1], vectors.T[::-1]
        except np.linalg.LinAlgError:
            pass
    values, vectors = scipy.linalg.eigh(G, driver="evd", check_finite=False)
    return values[::-1][:count], vectors.T[::-1][:count]


def orthonormal(block: AnyArray) -> AnyArray:
    """Return an orthonormal basis of the columns of ``block``, no more than its rows, in its precision.

    ``numpy.linalg.qr`` computes in double precision, row after row: 13,000 × 25 took 12 ms in place of 1.5 or 3.

    Examples
    --------
    >>> np.abs(orthonormal(np.array([[3.0], [4.0]]))).round(12).tolist()
    [[0.6], [0.8]]
    """
    factor, generate = (sgeqrf, sorgqr) if block.dtype == np.float32 else (dgeqrf, dorgqr)
    reflectors, scales, _, _ = factor(block)
    Q: AnyArray = generate(reflectors[:, : len(scales)], scales, overwrite_a=True)[0]
    return Q
