"""The certificate: two numbers that bracket the optimum, computed from X and U by code that solves nothing.

For any X in the Fantope and any U in the dual set of the penalty Ω (⟨U, X⟩ ≤ Ω(X) for all X),

    ⟨S, X⟩ − Ω(X)  ≤  optimum  ≤  φ_d(S − U),

where φ_d is the sum of the d largest eigenvalues: ⟨S, X⟩ − Ω(X) ≤ ⟨S − U, X⟩ ≤ φ_d(S − U). Where a penalty has no such
set but a finite dual value everywhere, as Online-P's, φ_d(S − D) + Ω*(D) takes the place of the bound for any D.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from fantope.eigen.rough import roughly_leading
from fantope.kernels.scan import component_labels as pattern_labels
from fantope.operators.base import Covariance
from fantope.penalties import Entrywise, Structured
from fantope.problem.bounds import (
    DENSE_UP_TO,
    UNIT,
    bounds_within,
    claimed_eigenvalue_bounds,
    leading_eigenvalue_bounds,
)
from fantope.problem.decomposition import component_labels, wide_problem
from fantope.problem.dominance import RITZ_STEPS, dominated_bounds, spread
from fantope.problem.dual import ExtendedDual, LiftedDual, PenalisedDual, ReducedDual, StructuredDual
from fantope.problem.level import levelled_bounds
from fantope.problem.problem import SOFT_UP_TO, Problem
from fantope.problem.projection import Factors, share_of_centre
from fantope.problem.simplex import capped_simplex
from fantope.problem.slack import SplitSlack
from fantope.problem.wide import WideProblem
from fantope.typing import Array, BoolArray, IntArray

SLACK = 0.02  # of an absolute tolerance: what proving the bound may cost
ACCEPTED = 0.95  # of the tolerance: a bound within it ends the run, and need not be any tighter
ENOUGH = 20  # eigenvectors of X beyond d from which those of S − U are looked for
LARGEST_SHARE = 0.5  # of the variables in the active set; beyond it a factorisation of all costs about as much
FROM_LEVEL = 1000  # variables from which a factor in single precision pays
LARGEST_CORE = 4000  # variables in the matrix that bounds all others, where these are too many for a factorisation
FEASIBLE = 1e-9  # distance to the Fantope that counts as rounding
ABOUT_ZERO = 1e-2  # of the size of the terms whose difference the optimum is: a smaller one is measured by that
ROUNDING = 1e-10  # of the same: what double precision can tell from zero
STRIP = 512  # rows compared at a time, so that checking needs no further p × p array


class CertificateError(ArithmeticError):
    """A stored certificate does not hold for the matrix it was checked against."""


@dataclass(frozen=True)
class Certificate:
    """A bracket of the optimal value.

    Attributes
    ----------
    objective : float
        Value of a feasible X: the optimum is at least this.
    dual_bound : float
        φ_d(S − U), rounded upwards: the optimum is at most this.
    """

    objective: float
    dual_bound: float

    @property
    def gap(self) -> float:
        """Relative duality gap, (dual_bound − objective) / max(|objective|, |dual_bound|)."""
        return relative_gap(self.objective, self.dual_bound)


def relative_gap(objective: float, dual_bound: float) -> float:
    """Return (dual_bound − objective) / max(|objective|, |dual_bound|); infinite if either is not finite."""
    if not (np.isfinite(objective) and np.isfinite(dual_bound)):
        return float("inf")
    scale = max(abs(objective), abs(dual_bound))
    return max(dual_bound - objective, 0.0) / scale if scale > 0.0 else 0.0


def width_about_zero(tol: float, terms: float) -> float:
    """Return how narrow a bracket must be to count as solved whatever the optimum is.

    The optimum is a difference of ``terms``, ⟨S, X⟩ and Ω(X), whose size is taken to be Σ X_ii·max(|S_ii|, w_ii). Where
    it is less than ABOUT_ZERO of that, the tolerance is one of ABOUT_ZERO of that, and no tighter than double precision
    can tell from zero.
    """
    return max(ABOUT_ZERO * tol, ROUNDING) * terms


def size_of_terms(S: Covariance, X: scipy.sparse.csr_array, penalty: Entrywise | Structured) -> float:
    """Return Σ X_ii·max(|S_ii|, w_ii); a penalty that couples entries has no w."""
    leverage = X.diagonal()
    rows = np.flatnonzero(leverage)
    return float(leverage[rows] @ penalty.sizes(S.diagonal()[rows], rows))


def compare_brackets(found: Certificate, reported: Certificate, scale: float) -> str:
    """Return what of a reported bracket does not hold beside the one recomputed from X and U; empty if all does.

    Both brackets are safe, but computed along different routes: of the bound a fiftieth of the width, of which the
    recomputed one may use half, and of both the rounding of ``scale``, the largest variance or alpha, are allowed for.
    """
    width, rounding = max(reported.dual_bound - reported.objective, 0.0), 1e-9 * max(scale, abs(found.objective))
    allowed = 0.02 * width + rounding
    wider = not found.dual_bound - found.objective <= width + allowed
    if wider or not found.dual_bound <= reported.dual_bound + allowed:
        what = "bracket is wider than"
    elif not abs(found.objective - reported.objective) <= rounding:
        what = "objective is not"
    else:
        return ""
    return (
        f"the recomputed {what} the one reported ([{found.objective:.10g}, {found.dual_bound:.10g}] against "
        f"[{reported.objective:.10g}, {reported.dual_bound:.10g}])"
    )


def verify_reported(
    S: Covariance, X: scipy.sparse.csr_array, dual: LiftedDual, n_components: int, reported: Certificate
) -> tuple[Certificate, str]:
    """Recompute a bracket from S, X and U, and return it with what differs from the one reported, if anything does."""
    width = max(reported.dual_bound - reported.objective, 0.0)
    found = verify(S, X, dual, n_components, slack=0.01 * width, accepted=reported.dual_bound + 0.01 * width)
    return found, compare_brackets(found, reported, max(float(np.abs(S.diagonal()).max()), dual.alpha))


def certify(
    problem: Problem, X: Factors, dual: ReducedDual, tol: float, absolute: float = 0.0, leading: Array | None = None
) -> Certificate:
    """Return the bracket that X and U give.

    The bound is as tight as a comparison with ``tol``, relative, or with ``absolute`` needs. ``leading``, approximate
    leading eigenvectors of S − U as rows, can make it faster.
    """
    objective = feasible_objective(problem, X)
    slack = max(0.1 * tol * abs(objective), SLACK * absolute)
    if isinstance(dual, PenalisedDual):
        d = problem.n_components
        bound = None if dual.claim is None else claimed_bound(dual.M, *dual.claim, slack)
        if bound is None:
            bound = dual_bound(dual.M, d, slack=slack, below=objective - dual.value)
        return Certificate(objective, bound + dual.value)
    if leading is None:  # the range of X is nearly the leading eigenspace of S − U
        heaviest = np.argsort(-X.weights, kind="stable")[: problem.n_components + ENOUGH]
        leading = np.zeros((len(heaviest), problem.size))
        leading[:, X.rows] = X.vectors[heaviest]
    accepted = objective + ACCEPTED * tol * abs(objective)
    if isinstance(problem, WideProblem):
        assert isinstance(dual, ExtendedDual)
        wide = wide_bounds(problem, dual, X, slack, objective, accepted)
        return Certificate(objective, _sum_of_largest(wide, problem.n_components))
    few = isinstance(dual, ExtendedDual) and problem.n_components <= len(dual.active) <= LARGEST_SHARE * problem.size
    if few and problem.size > DENSE_UP_TO and problem.graph is not None:  # else they pull too hard to be dominated
        assert isinstance(dual, ExtendedDual)
        split = SplitSlack(problem.block, problem.diagonal(), problem.graph, dual)
        largest = min(2 * len(dual.active), int(LARGEST_SHARE * problem.size))
        found = dominated_bounds(split, X, problem.n_components, slack, objective, accepted, largest)
        if found is not None:
            bound = _sum_of_largest(found, problem.n_components)
            # Ritz values are below φ_d(S − U): where they are beyond what is accepted, a factorisation is in vain.
            if bound <= accepted or _rough_sum(split, problem.n_components, X) > accepted:
                return Certificate(objective, bound)
    if few and FROM_LEVEL <= problem.size <= SOFT_UP_TO and problem.graph is None:
        assert isinstance(dual, ExtendedDual)
        split = SplitSlack(problem.block, problem.diagonal(), problem.soft, dual)
        found = levelled_bounds(split, X, problem.n_components, slack, objective, accepted)
        if found is not None:
            return Certificate(objective, _sum_of_largest(found, problem.n_components))
    M = dual.slack(problem.S)

    def refill(M: Array) -> None:
        dual.slack(problem.S, out=M)

    if problem.size > DENSE_UP_TO:
        values = bounds_within(M, problem.n_components, leading, slack, objective, accepted, refill)
        if values is not None:
            return Certificate(objective, _sum_of_largest(values, problem.n_components))
    # Random rows stand for what they may have missed.
    missed = 1e-3 * np.random.default_rng(0).standard_normal((3, problem.size))
    start = np.vstack([leading, missed])
    values = spectrum_bounds(M, problem.n_components, start, slack, objective, refill)
    return Certificate(objective, _sum_of_largest(values, problem.n_components))


def feasible_objective(problem: Problem, X: Factors) -> float:
    """Return the objective of X, which costs little beside a bound.

    Raises FloatingPointError if X is not in the Fantope, which no solver offers unless its numbers have gone wrong.
    """
    off = max(
        abs(float(X.weights.sum()) - problem.n_components),
        float(np.abs(X.weights - np.clip(X.weights, 0.0, 1.0)).max(initial=0.0)),
        float(np.linalg.norm(X.vectors @ X.vectors.T - np.eye(len(X.weights)))),
    )
    if not off <= FEASIBLE * problem.n_components:
        raise FloatingPointError(f"X is {off:.3g} away from the Fantope")
    return problem.objective(X)


def wide_bounds(
    problem: WideProblem, dual: ExtendedDual, X: Factors, slack: float, below: float, accepted: float
) -> Array:
    """Return bounds of the d largest eigenvalues of S − U from a core of variables; rough ones if that fails."""
    M, d = problem.slack(dual), problem.n_components
    found = dominated_bounds(M, X, d, slack, below, accepted, LARGEST_CORE)
    rough = row_sums(M)
    return rough if found is None or _sum_of_largest(rough, d) < _sum_of_largest(found, d) else found


def row_sums(M: SplitSlack) -> Array:
    """Return r_i ≥ M_ii + Σ_{j≠i} |M_ij|: diag(r) − M is diagonally dominant, hence M ⪯ diag(r)."""
    sums = M.row_sums()
    return np.asarray(M.diagonal + sums + 4 * len(M) * UNIT * (sums + np.abs(M.diagonal)))


def row_sum_bound(problem: Problem, dual: ReducedDual) -> float:
    """Return a rough upper bound of φ_d(S − U) that costs one pass over S and no factorisation."""
    if isinstance(problem, WideProblem):
        assert isinstance(dual, ExtendedDual)
        return _sum_of_largest(row_sums(problem.slack(dual)), problem.n_components)
    m = problem.size
    every, r = np.arange(m), np.empty(m)
    for i in range(0, m, STRIP):
        rows = every[i : i + STRIP]
        M = problem.S[rows]
        M -= dual.over(M.copy(), rows, every)
        diagonal, total = M[np.arange(len(rows)), rows], np.abs(M).sum(axis=1)
        r[rows] = total + diagonal - np.abs(diagonal) + 4 * m * UNIT * total  # the last: rounding
    return _sum_of_largest(r, problem.n_components)


def dual_bound(
    M: Array, n_components: int, start: Array | None = None, slack: float = 0.0, below: float = -np.inf
) -> float:
    """Return an upper bound of φ_d(M), d the number of components, safe against rounding."""
    return _sum_of_largest(spectrum_bounds(M, n_components, start, slack, below), n_components)


def claimed_bound(M: Array, level: float, lift: Array, slack: float) -> float | None:
    """Return an upper bound of φ_d(M) if M ⪯ level·I + lift·liftᵀ + slack·I/d can be shown, d the columns of ``lift``.

    One factorisation; safe against rounding. None says that the claim was too low, or too close to tell.
    """
    d = lift.shape[1]
    V, root, _ = np.linalg.svd(lift, full_matrices=False)
    bounds = claimed_eigenvalue_bounds(M, level + root**2, np.ascontiguousarray(V.T), slack / d)
    return None if bounds is None else _sum_of_largest(bounds, d)


def _rough_sum(M: SplitSlack, n_components: int, X: Factors) -> float:
    """Return a lower bound of φ_d(M), to rounding."""
    return float(roughly_leading(M, n_components, spread(X, np.arange(len(M))), RITZ_STEPS)[0].sum())


def _sum_of_largest(values: Array, n_components: int) -> float:
    leading = np.sort(values)[::-1][:n_components]
    return float(leading.sum() + 4 * n_components * UNIT * np.abs(leading).sum())


def spectrum_bounds(
    M: Array,
    n_components: int,
    start: Array | None = None,
    slack: float = 0.0,
    below: float = -np.inf,
    refill: Callable[[Array], object] | None = None,
) -> Array:
    """Return upper bounds of eigenvalues of M among which those of its d largest are.

    M is cut into the connected components of its pattern first: its spectrum is the union of theirs. ``refill`` as in
    :func:`leading_eigenvalue_bounds`.
    """
    labels = pattern_labels(M, 0.0)
    sizes = np.bincount(labels)
    if len(sizes) == 1:
        return leading_eigenvalue_bounds(M, n_components, start, slack, below, refill)
    parts = [M.diagonal()[sizes[labels] == 1]]
    for label in np.flatnonzero(sizes > 1):
        block = np.flatnonzero(labels == label)
        inside = None
        if start is not None:
            inside = np.ascontiguousarray(start[:, block])
            inside = inside[np.linalg.norm(inside, axis=1) > 1e-4]
        # The blocks share the slack; how far each is from its part of the optimum is not known.
        parts.append(leading_eigenvalue_bounds(M[block[:, None], block], n_components, inside, slack))
    return np.concatenate(parts)


def verify(
    S: Covariance,
    X: scipy.sparse.csr_array,
    dual: LiftedDual,
    n_components: int,
    slack: float = 0.0,
    accepted: float = -np.inf,
) -> Certificate:
    """Recompute the bracket from S, X and U alone.

    Between the components that U names, |S_ij| ≤ w_ij is checked anew by a scan of S, so that U_ij = S_ij is in the
    box and S − U vanishes there. Inside them U is read, checked and its bound computed block by block: nothing
    larger than the largest component is ever formed. Variables that the penalty forbids have no part in the problem.

    X may be off the Fantope by rounding. Scaled to trace d and mixed with a multiple of the identity it is in it, its
    zeros kept, and by concavity the mixture's objective is at least the mixture of both objectives: that is reported.
    The bound may exceed φ_d(S − U) by ``slack`` where that saves time; of components too large for an array it need not
    be better than ``accepted``.

    Raises
    ------
    CertificateError
        If X is not a feasible point, or U is not an admissible dual point for S.
    """
    penalty, labels = dual.penalty, dual.labels
    if X.shape != (S.size, S.size) or len(labels) != S.size:
        raise CertificateError(f"S has {S.size} variables, but X is {X.shape} and U has {len(labels)} variables.")
    objective = _verified_objective(S, X, n_components, penalty)
    if not isinstance(penalty, Entrywise):
        return Certificate(objective, _structured_bound(S, dual, n_components, slack))
    found = component_labels(S, penalty)
    if len(np.unique(np.stack([found, labels]), axis=1).T) > found.max() + 1:
        raise CertificateError("S has entries above the penalty's between components that the dual point keeps apart.")
    sizes = np.bincount(labels)
    gain = S.diagonal() - penalty.diagonal(np.arange(S.size))
    wide = _verified_wide(S, dual, gain > -np.inf, n_components)
    if wide is not None:
        bounds = wide_bounds(*wide, _factors(X, dual.position), slack, objective, accepted)
        return Certificate(objective, _sum_of_largest(np.append(bounds, gain[dual.position < 0]), n_components))
    parts = [gain[sizes[labels] == 1]]
    for label in np.flatnonzero(sizes > 1):
        block = np.flatnonzero((labels == label) & (gain > -np.inf))
        U = dual.block(block, block)
        S_block = S.block(block, block)
        _check_box(U, penalty, block, max(float(S_block.max()), -float(S_block.min())))
        np.subtract(S_block, U, out=U)
        parts.append(spectrum_bounds(U, n_components, slack=slack))
    return Certificate(objective, _sum_of_largest(np.concatenate(parts), n_components))


def _verified_wide(
    S: Covariance, dual: LiftedDual, allowed: BoolArray, n_components: int
) -> tuple[WideProblem, ExtendedDual] | None:
    """Return the problem over the variables that U keeps, and U, checked; None where blocks of S can be formed."""
    own, penalty, connected = dual.reduced, dual.penalty, np.bincount(dual.labels)[dual.labels] > 1
    if not isinstance(own, ExtendedDual) or not isinstance(penalty, Entrywise):
        return None
    kept = np.flatnonzero(dual.position >= 0)
    problem = wide_problem(S, kept, dual.labels, n_components, penalty)
    if problem is None:
        return None
    if not dual.position[connected & allowed].min(initial=0) >= 0 or not allowed[kept].all():
        raise CertificateError("the dual point does not know all variables of a component.")
    if not problem.box.excess(own.U, own.active, own.stored) <= 8 * UNIT * penalty.alpha:
        raise CertificateError("the dual point leaves the box |U| ≤ w of the penalty.")
    return problem, own


def _factors(X: scipy.sparse.csr_array, position: IntArray) -> Factors:
    """Return X's eigenvectors over the kept variables: where to look for those of S − U."""
    rows = np.flatnonzero(np.diff(X.indptr))
    values, vectors = np.linalg.eigh(X[rows][:, rows].toarray())
    used = values > 1e-6
    return Factors(position[rows], np.ascontiguousarray(vectors.T[used]), values[used])


def _structured_bound(S: Covariance, dual: LiftedDual, n_components: int, slack: float) -> float:
    """Return φ_d(S − U) for a U that is joined from parts anew, each of which is in its dual set."""
    penalty, reduced = dual.penalty, dual.reduced
    if not isinstance(reduced, StructuredDual) or not isinstance(penalty, Structured):
        raise CertificateError("the dual point has no parts, which a penalty that couples entries needs.")
    shapes = [P.shape for P in penalty.parts(np.zeros((S.size, S.size)))]
    if [P.shape for P in reduced.parts] != shapes or not all(np.isfinite(P).all() for P in reduced.parts):
        raise CertificateError("the parts of the dual point are not finite, or not as many as the penalty has.")
    excess = penalty.outside(reduced.parts)
    if not excess <= 1e-9 * penalty.alpha:
        raise CertificateError(f"the dual point leaves the dual set of the penalty by {excess:.3g}.")
    every = np.arange(S.size)
    return dual_bound(S.block(every, every) - reduced.U, n_components, slack=slack)


def _verified_objective(
    S: Covariance, X: scipy.sparse.csr_array, n_components: int, penalty: Entrywise | Structured
) -> float:
    rows = np.flatnonzero(np.diff(X.indptr))
    block = X[rows][:, rows].toarray()
    if not np.isfinite(block).all():
        raise CertificateError("X is not finite.")
    if len(rows) < n_components or float(np.abs(block - block.T).max()) > 1e-10:
        raise CertificateError("X is not a symmetric matrix with enough rows in use.")
    values = np.asarray(scipy.linalg.eigvalsh(block), dtype=np.float64)
    distance = float(np.linalg.norm(values - capped_simplex(values, n_components)))
    if not distance <= FEASIBLE * n_components:
        raise CertificateError(f"X is {distance:.3g} away from the Fantope.")
    own = penalty.restrict(rows)
    cost = own.value(block)
    if not np.isfinite(cost):
        raise CertificateError("X has entries that the penalty forbids.")
    S_block = S.block(rows, rows)
    scale, centre = n_components / float(block.trace()), n_components / len(rows)
    error = len(rows) * UNIT  # of eigenvalues between 0 and 1, and relative to them that of the objective
    share = share_of_centre(scale * float(values[0]) - error, scale * float(values[-1]) + error, centre)
    mixture = (1.0 - share) * scale * (float((S_block * block).sum()) - cost)
    if isinstance(own, Entrywise):
        mixture += share * centre * float((S_block.diagonal() - own.diagonal(np.arange(len(rows)))).sum())
    else:
        mixture += share * centre * (float(S_block.trace()) - own.value(np.eye(len(rows))))
    return mixture - error * (float(np.linalg.norm(S_block)) + cost)


def _check_box(U: Array, penalty: Entrywise, block: IntArray, largest: float) -> None:
    """Raise unless U is in the box and symmetric up to the rounding of S, whose largest magnitude is given."""
    excess = penalty.excess(U, block, block)
    if not excess <= 8 * UNIT * penalty.alpha:
        raise CertificateError(f"the dual point leaves the box |U| ≤ w of the penalty by {excess:.3g}.")
    # Bounds read one triangle, which with its mirror image is a dual point; this catches a damaged file.
    strips = range(0, len(U), STRIP)
    allowed = 1e-8 * max(penalty.alpha, float(np.abs(U).max())) + 8 * len(U) * UNIT * largest
    if any(np.abs(U[i : i + STRIP] - U[:, i : i + STRIP].T).max() > allowed for i in strips):
        raise CertificateError("the dual point is not symmetric.")
