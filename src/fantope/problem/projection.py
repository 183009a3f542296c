"""Points of the Fantope in factored form, and the repair that makes one out of any symmetric matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse

from fantope.eigen import Eigenspace, all_blas_threads
from fantope.eigen.lapack import orthonormal
from fantope.kernels.scan import component_labels
from fantope.problem.simplex import capped_simplex, capped_simplex_shift
from fantope.typing import AnyArray, Array, IntArray

# Blocks up to this size are decomposed in full; above it only the eigenpairs that get a positive weight are.
DENSE_UP_TO = 200

ROUNDING = 1e-14  # an eigenvalue below this is zero: its eigenvector must not put variables into the support


@dataclass(frozen=True)
class Factors:
    """X = Σ_a weights_a v_a v_aᵀ with orthonormal v_a supported on ``rows``, 0 < weights ≤ 1, Σ weights = d.

    Being factored, X is in the Fantope by construction, up to rounding.
    """

    rows: IntArray  # (r,) variables in use, ascending
    vectors: Array  # (k, r) orthonormal rows, by descending weight
    weights: Array  # (k,)

    def lifted(self, rows: IntArray) -> Factors:
        """Return the same X with variable i renamed to ``rows[i]``."""
        return Factors(rows[self.rows], self.vectors, self.weights)

    def over(self, rows: IntArray) -> Array:
        """Return X[rows][:, rows] for some of the variables in use, as an array."""
        V = self.vectors[:, np.searchsorted(self.rows, rows)]
        return assemble(V.T, self.weights)

    def matrix(
        self, size: int, forbidden: Callable[[Array], AnyArray | bool] = lambda X: False
    ) -> scipy.sparse.csr_array:
        """Return X as a sparse (size, size) array, exact zeros where no eigenvector reaches or X may not be."""
        block = (self.vectors.T * self.weights) @ self.vectors
        block[np.broadcast_to(forbidden(block), block.shape)] = 0.0
        # Eigenvectors of separate components do not overlap, so a zero entry of |V|ᵀ|V| is a structural one.
        block[(np.abs(self.vectors).T @ np.abs(self.vectors)) == 0.0] = 0.0
        sparse = scipy.sparse.coo_array(0.5 * (block + block.T))
        row, column = self.rows[sparse.coords[0]], self.rows[sparse.coords[1]]
        return scipy.sparse.csr_array((sparse.data, (row, column)), shape=(size, size))


def assemble(V: AnyArray, weights: Array) -> Array:
    """Return Σ weights_a v_a v_aᵀ for columns v_a; a matrix times its own transpose is symmetric to the last bit."""
    half = V * np.sqrt(weights).astype(V.dtype)
    return np.asarray(half @ half.T, dtype=np.float64)


def weigh(values: Array, total: float) -> int:
    """Count the leading eigenvalues (in descending order) that get a positive weight in a Fantope projection."""
    if len(values) <= total:
        return len(values)
    return int(np.count_nonzero(values > capped_simplex_shift(values, total)))


def project(G: Array, n_components: int, space: Eigenspace, tol: float) -> tuple[Array, Array]:
    """Project ``G`` on the Fantope: return the eigenvectors (rows) and weights of the result.

    Only eigenpairs with a positive weight are computed, warm-started from ``space``. Raises FloatingPointError if ``G``
    is not finite.
    """
    values, vectors = space.leading(G, lambda found: weigh(found, n_components), tol)
    if len(values) == 0 or not np.isfinite(values).all():
        raise FloatingPointError("the matrix to project is not finite")
    return vectors, capped_simplex(values, n_components)


def repair(
    Y: Array, n_components: int, objective: Callable[[Factors], float], start: Array | None = None
) -> Factors | None:
    """Return a point of the Fantope near the symmetric ``Y`` with Y's zero rows and blocks.

    The nearest one, or the nearest projection of rank d if ``objective`` prefers that. A projection keeps
    block-diagonal structure, so connected components of Y's pattern are decomposed one by one and exact zeros stay
    exact. Returns None when Y uses too few variables to carry trace d.
    """
    rows = np.flatnonzero(Y.any(axis=1))
    if len(rows) < n_components:
        return None
    Y = _part(Y, rows)
    values, vectors, where = _by_component(
        component_labels(Y, 0.0), lambda block: _leading(_part(Y, block), n_components, rows[block], start)
    )
    every = np.concatenate(values)
    shift = capped_simplex_shift(every, n_components)
    nearest = _assemble(rows, values, vectors, where, shift)
    descending = np.sort(every)[::-1]
    if len(every) <= n_components:
        return nearest
    last, next_one = descending[n_components - 1 : n_components + 1]
    # Eigenvalues that differ by rounding alone single out no projection of rank d: no shift lies between them.
    if last - next_one <= 4 * ROUNDING * max(1.0, abs(last)):
        return nearest
    # Far from the optimum the nearest point spreads what is missing in the trace over tiny eigenvalues, and the
    # nearest projection, of rank d, is better. But an optimal X may have eigenvalues 0.8 and 0.2: compare.
    shift = 0.5 * (last + next_one)
    rounded = _assemble(rows, [np.where(found > shift, shift + 1.0, found) for found in values], vectors, where, shift)
    return rounded if objective(rounded) > objective(nearest) else nearest


def narrowed(X: Factors, used: AnyArray, n_components: int, objective: Callable[[Factors], float]) -> Factors | None:
    """Return a point of the Fantope with the range that X has on the rows ``used``, by positions among its own.

    Without its other rows X has less than trace d. The nearest point of the Fantope would spread what is missing over
    all eigenvalues, zeros too; here those above zero grow in proportion, up to 1, and nothing larger than X's rank is
    decomposed. Or the leading d eigenvectors, if ``objective`` prefers their projection. None if there are not as many.
    """
    half = X.vectors[:, used] * np.sqrt(X.weights)[:, None]
    gram = half @ half.T

    def decompose(block: IntArray) -> tuple[Array, Array]:
        # Eigenvectors of separate components are decomposed apart: exact zeros stay exact.
        reached = np.flatnonzero(np.abs(half[block]).max(axis=0) > 0.0)
        part = half[np.ix_(block, reached)]
        Q = orthonormal(part.T) if len(block) <= len(reached) else np.eye(len(reached))
        R = part @ Q
        found, turn = np.linalg.eigh(R.T @ R)
        basis = np.zeros((len(found), half.shape[1]))
        basis[:, reached] = turn.T @ Q.T
        return found, basis

    values, bases, _ = _by_component(component_labels(gram, 0.0), decompose)
    return _of_that_rank(X.rows[used], values, bases, n_components, objective)


def within(Y: Array, V: Array, n_components: int, objective: Callable[[Factors], float]) -> Factors | None:
    """Return a point of the Fantope like that of :func:`repair`, of no more than the rank of V in each component.

    The rows of V are about the leading eigenvectors of Y. One product with them takes the place of a decomposition, and
    X is short of the optimum by a tenth more (kidney normals, 480 to 1,273 variables: 4 to 16 ms, not 40 to 300).
    """
    rows = np.flatnonzero(Y.any(axis=1))
    Y, V = _part(Y, rows), V[:, rows]

    def decompose(block: IntArray) -> tuple[Array, Array]:
        part = _part(Y, block)
        Q = orthonormal(part @ V[:, block].T) if len(V) < len(block) else np.eye(len(block))
        found, turn = np.linalg.eigh(Q.T @ part @ Q)
        basis = np.zeros((len(found), len(rows)))
        basis[:, block] = (Q @ turn).T
        return found, basis

    values, bases, _ = _by_component(component_labels(Y, 0.0), decompose)
    return _of_that_rank(rows, values, bases, n_components, objective)


def _of_that_rank(
    rows: IntArray, values: list[Array], bases: list[Array], n_components: int, objective: Callable[[Factors], float]
) -> Factors | None:
    """Return X with these eigenvectors, the eigenvalues above zero grown to trace d; or the projection on d of them."""
    if not values:
        return None
    every = np.concatenate(values)
    order = np.argsort(-every, kind="stable")[: int(np.count_nonzero(every > ROUNDING))]
    if len(order) < n_components:
        return None
    vectors = np.vstack(bases)[order]
    found = compress(Factors(rows, vectors, _grown(every[order], n_components)))
    if len(order) == n_components:
        return found
    rounded = compress(Factors(rows, vectors[:n_components], np.ones(n_components)))
    return rounded if objective(rounded) > objective(found) else found


def _grown(values: Array, total: int) -> Array:
    """Return min(c·values, 1), for values above zero in descending order, with the c that makes the sum ``total``."""
    left = np.cumsum(values[::-1])[::-1]
    # As many are at 1 as would go beyond it; with all but one of ``total`` there, the next one does not.
    capped = int(np.argmax(np.arange(total, 0, -1) * values[:total] <= left[:total]))
    return np.asarray(np.minimum(values * ((total - capped) / left[capped]), 1.0))


def share_of_centre(lowest: float, highest: float, centre: float) -> float:
    """Return the least t for which (1 − t)·values + t·centre lie in [0, 1], given the extremes of the values."""
    share = 0.0
    if highest > 1.0:
        share = (highest - 1.0) / (highest - centre) if highest > centre else 1.0
    if lowest < 0.0:
        share = max(share, -lowest / (centre - lowest))
    return min(share, 1.0)


def shrink(Y: Array, n_components: int) -> Factors | None:
    """Return a point of the Fantope that is zero wherever the symmetric ``Y`` is, off the diagonal.

    That is Y scaled to trace d, moved towards the multiple of the identity with that trace just as far as eigenvalues
    outside [0, 1] ask for. None if Y uses too few variables, or its trace is not positive.
    """
    rows = np.flatnonzero(Y.any(axis=1))
    trace = float(Y.trace())
    if len(rows) < n_components or not trace > 0.0:
        return None
    block = _part(Y, rows)
    values, vectors, where = _by_component(
        component_labels(block, 0.0), lambda own: _leading(_part(block, own), n_components, rows[own], None)
    )
    values = [found * (n_components / trace) for found in values]
    centre = n_components / len(rows)
    share = share_of_centre(min(float(v[-1]) for v in values), max(float(v[0]) for v in values), centre)
    return _assemble(rows, [(1.0 - share) * v + share * centre for v in values], vectors, where, 0.0)


def _by_component(
    labels: IntArray, decompose: Callable[[IntArray], tuple[Array, Array]]
) -> tuple[list[Array], list[Array], list[IntArray]]:
    """Return eigenvalues, eigenvectors as rows, and members of each component, by ascending label."""
    where = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    found = [decompose(block) for block in where]
    return [values for values, _ in found], [vectors for _, vectors in found], where


def _part(Y: Array, rows: IntArray) -> Array:
    """Return Y[rows][:, rows]; Y itself, not a copy, if that is all of it."""
    return Y if len(rows) == len(Y) else Y[rows[:, None], rows]


def _assemble(
    rows: IntArray, values: list[Array], vectors: list[Array], where: list[IntArray], shift: float
) -> Factors:
    """Return X with eigenvalues clip(values − shift, 0, 1), the eigenpairs of each block given one after the other."""
    least = shift + ROUNDING * max(1.0, abs(shift))
    rank = sum(int(np.count_nonzero(found > least)) for found in values)
    result = np.zeros((rank, len(rows)))
    weights = np.empty(rank)
    filled = 0
    for found, basis, block in zip(values, vectors, where, strict=True):
        used = int(np.count_nonzero(found > least))
        result[filled : filled + used, block] = basis[:used]
        weights[filled : filled + used] = np.clip(found[:used] - shift, 0.0, 1.0)
        filled += used
    order = np.argsort(-weights, kind="stable")
    return compress(Factors(rows, result[order], weights[order]))


def _leading(block: Array, n_components: int, rows: IntArray, start: Array | None) -> tuple[Array, Array]:
    """Return the eigenpairs of a block that may get a positive weight, descending."""
    size = len(block)
    if size <= DENSE_UP_TO or start is None:
        with all_blas_threads(size):
            values, basis = scipy.linalg.eigh(block, driver="evd", check_finite=False)
        return values[::-1], basis.T[::-1]
    space = Eigenspace(np.ascontiguousarray(start[:, rows]))
    scale = float(np.abs(block).sum(axis=1).max())
    return space.leading(block, lambda found: weigh(found, n_components), 1e-12 * scale)


def compress(X: Factors) -> Factors:
    """Drop rows that no eigenvector reaches."""
    used = np.abs(X.vectors).max(axis=0) > 0.0
    if used.all():
        return X
    return Factors(X.rows[used], np.ascontiguousarray(X.vectors[:, used]), X.weights)


def pinch(X: Factors, labels: IntArray | None) -> Factors:
    """Set X to zero between components: it stays in the Fantope, and a problem cut there does not see the difference.

    Solvers that do not threshold let rounding grow between components, or mix equal eigenvalues of two of them.
    """
    if labels is None:
        return X
    own = labels[X.rows]
    lowest = np.where(X.vectors != 0.0, own, own.max(initial=0)).min(axis=1, initial=own.max(initial=0))
    highest = np.where(X.vectors != 0.0, own, 0).max(axis=1, initial=0)
    if (lowest >= highest).all():
        return X

    def decompose(block: IntArray) -> tuple[Array, Array]:
        V = X.vectors[:, block]
        found, basis = np.linalg.eigh((V.T * X.weights) @ V)
        return found[::-1], basis.T[::-1]

    return _assemble(X.rows, *_by_component(own, decompose), 0.0)


def principal_axes(V: Array, S: Array) -> tuple[Array, Array]:
    """Return the rows of V, turned so that V S Vᵀ is diagonal, by descending variance, and the variances.

    The entry of largest magnitude of each row is positive.
    """
    variances, rotation = np.linalg.eigh(V @ S @ V.T)
    rows = rotation.T[::-1] @ V
    # Directions of separate blocks mix only where they explain the same variance: keep their exact zeros.
    rows[np.abs(rows) < 1e-14] = 0.0
    rows *= np.sign(rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)])[:, None]
    return rows, variances[::-1]
