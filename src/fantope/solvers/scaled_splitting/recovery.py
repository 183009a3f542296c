"""An answer from the iterates of a splitting: a point of the Fantope, a dual point, and the proof of their gap.

A splitting holds two matrices that agree at the end: X, positive semidefinite, and Y, with exact zeros. An X whose
entries are e_ij where they should be zero loses about λ|e_ij| by each, linear in the error, while the dual point loses
only its square: without more, most iterations would go into zeros of X. What Y lacks is known to first order: on the
null space V of X it should vanish. So the least E (in a weighted norm) that has Y's zeros and V'(Y + E)V = 0 is added,

    E = W∘(VΛV'),   V'(W∘(VΛV'))V = V'(X − Y)V,

where W is zero where Y is: a few steps of conjugate gradients for Λ.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from fantope.kernels.scaled_splitting.products import masked_congruence
from fantope.kernels.triangle import unpack
from fantope.problem.dual import PenalisedDual
from fantope.problem.projection import Factors
from fantope.solvers.scaled_splitting.iteration import Splitting
from fantope.solvers.scaled_splitting.schedule import Schedule
from fantope.typing import AnyArray, Array


class Recovery:
    """What an answer from the present iterates would be worth, and the answer; X must come from a decomposition.

    X, scaled to trace d, is on the leading face of the dual point M, but for what P asks of it: all that X loses is in
    the norms.

    Attributes
    ----------
    loss : float
        What X loses against the dual point.
    off_zeros : float
        The part of it where Y is not zero.
    claim : float
        What the optimum cannot exceed, up to rounding.
    dual : PenalisedDual
        The dual point, with the claim.
    """

    def __init__(self, run: Splitting) -> None:
        problem, d, self._run = run.problem, run.problem.n_components, run
        M = run.dual_point()
        value = run.norms.dual_value_of(problem.S, M)
        X = run.X * run.metric.units
        trace = float(X.trace())
        X *= d / trace if trace > 0.0 else 1.0
        self.loss = value + float(np.vdot(M, X)) - (float(np.vdot(problem.S, X)) - run.norms.value(X))
        self.off_zeros = max(self.loss - run.loss_on_zeros(X, problem.S - M), 1e-300)
        self.dual = PenalisedDual(M, value, (run.level, run.lift))
        self.claim = d * run.level + float((run.lift**2).sum()) + value

    def feasible(self, tolerance: float, complete: bool) -> Factors:
        """Return a point of the Fantope, from X or from Y completed."""
        run, X = self._run, self._run.X
        if complete:
            X = completed(unpack(run.Y, len(X)), X, run.null, run.root_slopes(), run.schedule)
        excess = np.linalg.svd(run.lift, compute_uv=False) ** 2
        n_full = int(np.count_nonzero(excess > run.schedule.full * tolerance))
        return rounded(X * run.metric.units, run.problem.n_components, n_full)


def completed(Y: Array, X: Array, null: AnyArray, weights: AnyArray, schedule: Schedule) -> Array:
    """Return Y + E, with the zeros of ``weights``; ``null`` are the vectors of V, as columns, in single precision.

    Single precision is enough for a correction that is as small as X − Y.
    """
    if null.shape[1] == 0:
        return Y
    p, even = len(Y), len(Y) + len(Y) % 2  # in two halves, one for each core
    V, W = np.zeros((2, even // 2, null.shape[1]), np.float32), np.zeros((even, even), np.float32)
    V.reshape(even, -1)[:p], W[:p, :p] = null, weights
    E = np.empty_like(W)
    right = null.T @ (X - Y).astype(np.float32) @ null
    found, step, size = np.zeros_like(right), right, float(np.vdot(right, right))
    enough = (schedule.completion_accuracy**2) * size
    for _ in range(schedule.completion_steps):
        if size <= enough:
            break
        image = masked_congruence(E, V, W, step)
        image += schedule.completion_ridge * step
        length = size / float(np.vdot(step, image))
        found, right = found + length * step, right - length * image
        size, before = float(np.vdot(right, right)), size
        step = right + (size / before) * step
    masked_congruence(E, V, W, found)
    return Y + 0.5 * (E + E.T)[:p, :p]


def rounded(X: Array, n_components: int, n_full: int) -> Factors:
    """Return a point of the Fantope near X.

    Negative eigenvalues go, the ``n_full`` largest become 1, and the rest is scaled to the trace that is left: unlike
    the nearest point, which may add to all eigenvalues alike, this one keeps the null space of X. Raises
    FloatingPointError if ``X`` is not finite.
    """
    if not np.isfinite(X).all():
        raise FloatingPointError("the matrix to round is not finite")
    values, V = scipy.linalg.eigh(X, driver="evd", lower=False, check_finite=False)
    values = np.maximum(values[::-1], 0.0)
    weights = np.ones_like(values)
    while n_full < n_components:
        left = float(values[n_full:].sum())
        if left > 0.0 and values[n_full] * (n_components - n_full) <= left:
            weights[n_full:] = values[n_full:] * ((n_components - n_full) / left)
            break
        n_full += 1
    else:
        weights[n_full:] = 0.0
    used = int(np.count_nonzero(weights))
    return Factors(np.arange(len(X)), np.ascontiguousarray(V[:, ::-1][:, :used].T), weights[:used])
