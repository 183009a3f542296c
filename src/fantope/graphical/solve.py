"""The graphical lasso: split into connected components exactly, solve each, certify all together."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse

from fantope.checks import check_finite, check_nonnegative, check_whole
from fantope.eigen import one_blas_thread
from fantope.errors import require
from fantope.graphical.certificate import Weights, bound_below, log_det_below, objective_above
from fantope.graphical.exact_penalty import solve_block
from fantope.graphical.inputs import as_covariance, as_numbers
from fantope.graphical.problem import Block
from fantope.graphical.result import PrecisionSolution
from fantope.kernels.scan import component_labels
from fantope.solvers.result import Status
from fantope.typing import Array


def graphical_lasso(
    S: Any, alpha: float, *, diagonal: bool = False, tol: float = 1e-4, max_iter: int = 2000, init: Any = None
) -> PrecisionSolution:
    """Find the sparse precision matrix that minimises −log det Θ + ⟨S, Θ⟩ + alpha·Σ|Θ_ij|, with a certified gap.

    Variables i and j with |S_ij| ≤ alpha for every path between them are independent in the optimum: the problem splits
    exactly into the connected components of |S_ij| > alpha, which are solved one by one.

    Parameters
    ----------
    S : (p, p) array
        Covariance or correlation matrix, symmetric, with a positive diagonal; it may be singular if alpha is above 0.
    alpha : float
        Penalty, 0 or larger.
    diagonal : bool, default False
        Whether the diagonal of Θ is penalised too. It is not in scikit-learn.
    tol : float, default 1e-4
        Certified gap, in nats, at which to stop; shared out among components by their size.
    max_iter : int, default 2000
        Iterations after which a component is given up on; the status then says so.
    init : (p, p) array or sparse array, optional
        A positive definite Θ to start from.

    Returns
    -------
    PrecisionSolution

    Examples
    --------
    >>> import fantope
    >>> found = fantope.graphical_lasso([[1.0, 0.5, 0.1], [0.5, 1.0, 0.1], [0.1, 0.1, 1.0]], 0.2, tol=1e-8)
    >>> found.n_edges, found.gap < 1e-8, str(found.status)[:6]
    (1, True, 'solved')
    >>> found.precision.toarray().round(3) + 0.0
    array([[ 1.099, -0.33 ,  0.   ],
           [-0.33 ,  1.099,  0.   ],
           [ 0.   ,  0.   ,  1.   ]])
    """
    S = as_covariance(S)
    weights = Weights(check_nonnegative("alpha", alpha), bool(diagonal))
    tol = check_nonnegative("tol", tol, positive=True)
    max_iter = check_whole("max_iter", max_iter, 1)
    require(weights.alpha > 0.0 or log_det_below(S) > -math.inf, "alpha", "be above 0 where S is singular", "0")
    start = _start(init, len(S))
    labels = component_labels(S, weights.alpha)
    members = [np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1)]
    Theta, W, steps = np.zeros_like(S), weights.into_box(np.zeros_like(S), S), 0
    for rows in members:
        place = np.ix_(rows, rows)
        block = Block(np.ascontiguousarray(S[place]), weights, None if start is None else start[place])
        if len(rows) > 1:
            with one_blas_thread():
                steps = max(steps, solve_block(block, 0.9 * tol * len(rows) / len(S), max_iter))
        Theta[place], W[place] = block.best, block.dual
    # Between components S is within alpha of zero: W may vanish there, and its determinant is the product of theirs.
    for rows in members:
        W[np.ix_(rows, np.flatnonzero(labels != labels[rows[0]]))] = 0.0
    objective, bound = objective_above(S, Theta, weights), bound_below(W)
    status = Status.SOLVED if objective - bound <= tol else Status.MAX_ITER
    sparse = scipy.sparse.csr_array(Theta)
    return PrecisionSolution(sparse, W, objective, bound, status, steps, weights, labels)


def _start(init: Any, p: int) -> Array | None:
    if init is None:
        return None
    found = as_numbers(init, "init")
    require(found.shape == (p, p), "init", f"be a matrix of shape ({p}, {p})", f"shape {found.shape}")
    check_finite(found, "init", remedy="leave it out")
    return np.asarray(0.5 * (found + found.T))
