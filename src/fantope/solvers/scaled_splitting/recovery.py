"""An answer from the iterates of a splitting: a point of the Fantope, a dual point, and the proof of their gap.

A splitting holds two matrices that agree at the end: X, positive semidefinite, and Y, with exact zeros. An X whose
entries are e_ij where they should be zero loses about λ|e_ij| by each, linear in the error, while the dual point loses
only its square: without more, most iterations would go into zeros of X. So what Y lacks is
added where Y is not zero (:mod:`completion`), and only what is left then is rounded.
"""

from __future__ import annotations

import numpy as np

from fantope.eigen.halves import eigh_in_halves
from fantope.kernels.triangle import unpack
from fantope.problem.dual import PenalisedDual
from fantope.problem.projection import Factors
from fantope.solvers.scaled_splitting.completion import completed
from fantope.solvers.scaled_splitting.iteration import Splitting
from fantope.typing import Array


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
        own, on_zeros = run.losses(M)
        self.loss = value + own
        self.off_zeros = max(self.loss - on_zeros, 1e-300)
        self.dual = PenalisedDual(M, value, (run.level, run.lift))
        self.claim = d * run.level + float((run.lift**2).sum()) + value

    def feasible(self, tolerance: float, complete: bool) -> Factors:
        """Return a point of the Fantope, from X or from Y completed."""
        run, X = self._run, self._run.X
        if complete:
            lowest = run.lowest(run.schedule.completion_reach * run.size)
            X = completed(unpack(run.Y, len(X)), X, *lowest, run.slopes(), run.schedule)
        excess = np.linalg.svd(run.lift, compute_uv=False) ** 2
        n_full = int(np.count_nonzero(excess > run.schedule.full * tolerance))
        return rounded(X * run.metric.units, run.problem.n_components, n_full)


def rounded(X: Array, n_components: int, n_full: int) -> Factors:
    """Return a point of the Fantope near X.

    Negative eigenvalues go, the ``n_full`` largest become 1, and the rest is scaled to the trace that is left: unlike
    the nearest point, which may add to all eigenvalues alike, this one keeps the null space of X. Raises
    FloatingPointError if ``X`` is not finite.
    """
    if not np.isfinite(X).all():
        raise FloatingPointError("the matrix to round is not finite")
    values, V = eigh_in_halves(X)
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
