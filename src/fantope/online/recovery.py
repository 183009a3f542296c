"""An answer from the iterates of a splitting: a point of the Fantope, a dual point, and the proof of their gap.

A splitting holds two matrices that agree at the end: X, positive semidefinite, and Y, with exact zeros. An X whose
entries are e_ij where they should be zero loses about λ|e_ij| by each, linear in the error, while the dual point loses
only its square: without more, most iterations would go into zeros of X. What Y lacks is known to first order: on the
null space V of X it should vanish. So the least E (in a weighted norm) that has Y's zeros and V'(Y + E)V = 0 is added,

    E = W∘(VΛV'),   V'(W∘(VΛV'))V = V'(X − Y)V,

where W is zero where Y is: a few steps of conjugate gradients for Λ.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import scipy.linalg

from fantope.kernels.first_order import masked_congruence
from fantope.kernels.online_p import dual_matrix, loss_on_zeros, root_slopes
from fantope.kernels.triangle import unpack
from fantope.online.scaled_splitting import Splitting
from fantope.online.subproblem import SLACK, Certified
from fantope.problem.certificate import claimed_bound, dual_bound
from fantope.typing import AnyArray, Array

FULL = 0.01  # of the tolerance: where the multiplier of X ⪯ I is above it, X gets an eigenvalue of 1
STEPS = 30  # of conjugate gradients, at most, …
ACCURACY = 0.05  # … or until the residual is this part of the right-hand side
RIDGE = 0.003  # on the operator: directions that hardly anything but zeros could change are left to the rounding


class Recovery:
    """What an answer from the present iterates would be worth, and the answer; X must come from a decomposition.

    The dual point is M = S − D = θI − ρG₋ + PPᵀ. X, scaled to trace d, is on its leading face, but for what P asks of
    it: all that X loses is in the norms.

    Attributes
    ----------
    loss : float
        What X loses against the dual point.
    off_zeros : float
        The part of it where Y is not zero.
    claim : float
        What the optimum cannot exceed, up to rounding.
    """

    def __init__(self, run: Splitting) -> None:
        problem, self.run = run.problem, run
        self.M = np.empty_like(run.G)
        dual_matrix(run.G, run.X, run.units, run.rho, run.rho * run.shift, run.lift, self.M)
        self.penalty = problem.penalty(self.M)
        X = run.X * run.units
        trace = float(X.trace())
        X *= problem.n_components / trace if trace > 0.0 else 1.0
        self.loss = self.penalty + float(np.vdot(self.M, X)) - problem.objective(X)
        c = run.norm ** (2.0 - problem.r) / math.sqrt(problem.t)
        zeros = loss_on_zeros(X, run.Y, problem.S - self.M, problem.alpha, c, problem.r)
        self.off_zeros = max(self.loss - float(zeros), 1e-300)
        self.claim = problem.n_components * run.level + float((run.cap**2).sum()) + self.penalty

    def feasible(self, tolerance: float, complete: bool) -> Certified:
        """Return a point of the Fantope, from X or from Y completed, with no bound yet."""
        run, problem, X = self.run, self.run.problem, self.run.X
        if complete:
            weights = np.empty(X.shape, np.float32)
            m = 1.0 / (problem.r - 1.0)
            root_slopes(run.scale, run.z, run.Y, problem.alpha / run.rho, run.shift, m, weights)
            X = completed(unpack(run.Y, len(X)), X, run.null, weights)
        n_full = int(np.count_nonzero(np.linalg.svd(run.cap, compute_uv=False) ** 2 > FULL * tolerance))
        return Certified.of(problem, *rounded(X * run.units, problem.n_components, n_full), tolerance)

    def proven(self, found: Certified) -> Certified:
        """Return ``found`` with the bound that M gives."""
        slack, problem = SLACK * found.tolerance, self.run.problem
        bound = claimed_bound(self.M, self.run.level, self.run.cap, slack)
        if bound is None:
            bound = dual_bound(self.M, problem.n_components, slack=slack, below=found.objective)
        return replace(found, bound=bound + self.penalty, dual=problem.S - self.M)


def completed(Y: Array, X: Array, null: AnyArray, weights: AnyArray) -> Array:
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
    enough = (ACCURACY**2) * size
    for _ in range(STEPS):
        if size <= enough:
            break
        image = masked_congruence(E, V, W, step)
        image += RIDGE * step
        length = size / float(np.vdot(step, image))
        found, right = found + length * step, right - length * image
        size, before = float(np.vdot(right, right)), size
        step = right + (size / before) * step
    masked_congruence(E, V, W, found)
    return Y + 0.5 * (E + E.T)[:p, :p]


def rounded(X: Array, n_components: int, n_full: int) -> tuple[Array, Array]:
    """Return eigenvectors (rows) and weights of a point of the Fantope near X.

    Negative eigenvalues go, the ``n_full`` largest become 1, and the rest is scaled to the trace that is left: unlike
    the nearest point, which may add to all eigenvalues alike, this one keeps the null space of X.

    Raises
    ------
    FloatingPointError
        If ``X`` is not finite.
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
    return np.ascontiguousarray(V[:, ::-1][:, :used].T), weights[:used]
