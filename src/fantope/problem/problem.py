"""The problem: max ⟨S, X⟩ − Ω(X) over the Fantope {0 ⪯ X ⪯ I, tr X = d}, Ω a penalty."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from fantope.kernels.elementwise import objective_terms
from fantope.penalties import Entrywise, Penalty
from fantope.problem.dual import ExtendedDual
from fantope.problem.projection import DENSE_UP_TO, Factors, assemble, narrowed, repair, share_of_centre, shrink, within
from fantope.problem.slack import SplitSlack
from fantope.problem.soft_graph import SoftGraph, SoftMatrix, dense_graph, soft_matrix
from fantope.typing import AnyArray, Array, IntArray

LARGEST_TABLE = 2**19  # entries up to which a table of places is up to four times as fast as two lists of them
FEW = 8  # times as few columns as S has are read as rows
SAMPLE = 64  # rows by which the share of pairs above their limits is judged
SOFT_UP_TO = 6000  # variables; half as much memory again as S has is kept while their problem is solved
NEARLY_WHOLE = 0.7  # of the variables: for as many, reading all entries is faster than gathering some
SPARSE = 0.04  # of the pairs: up to here sparse products are faster


@dataclass(frozen=True)
class Problem:
    """One instance, dense and already reduced by the exact decomposition."""

    S: Array  # (m, m), C-contiguous and symmetric
    n_components: int
    penalty: Penalty  # on the m variables
    labels: IntArray | None = None  # (m,): component of each, if there are several: S is cut between them, X must be

    @property
    def size(self) -> int:
        """Number of variables."""
        return len(self.S)

    @property
    def alpha(self) -> float:
        """The penalty's alpha."""
        return self.penalty.alpha

    @property
    def box(self) -> Entrywise:
        """The penalty, where it is one whose dual set is a box: what all solvers but Online-P's need."""
        if not isinstance(self.penalty, Entrywise):
            raise TypeError(f"this solver needs a penalty with a weight for each entry, got {self.penalty!r}.")
        return self.penalty

    @property
    def limits(self) -> float | Array:
        """The box |U_ij| ≤ limits_ij of dual points: a number, or an (m, m) array. Not to be written to."""
        return self.box.limits()

    def diagonal(self) -> Array:
        """Return the (m,) diagonal of S."""
        return np.asarray(self.S.diagonal())

    def block(self, rows: IntArray, cols: IntArray) -> Array:
        """Return S[rows][:, cols] as a new array."""
        if len(rows) > len(cols) and len(cols) * FEW <= len(self.S):
            # S is symmetric, and few of its rows are read faster than a little of each (0.6 in place of 13 ms).
            return np.ascontiguousarray(self.block(cols, rows).T)
        if len(rows) * len(cols) > LARGEST_TABLE or not self.S.flags.c_contiguous:
            return self.S[rows[:, None], cols]
        return self.S.take((rows * len(self.S))[:, None] + cols)

    def strip(self, rows: IntArray, cols: IntArray) -> Array:
        """Return S[rows][:, cols] for consecutive rows and columns; not to be written to."""
        return self.S[rows[0] : rows[-1] + 1, cols[0] : cols[-1] + 1]

    def reach(self, rows: IntArray) -> IntArray:
        """Return ``rows`` and the variables that may have an entry above its limit with one of them, ascending."""
        return np.arange(self.size)

    def slack(self, dual: ExtendedDual) -> Array | SplitSlack:
        """Return S − U as something that can be multiplied with."""
        return dual.slack(self.S)

    def rough_slack(self, dual: ExtendedDual, single: bool) -> Array | SplitSlack:
        """Return the same to look at, by parts, which may be ``single``, where these take little room."""
        pairs = self.soft if self.graph is None and single and self.size <= SOFT_UP_TO else self.graph
        if pairs is None:
            return self.slack(dual)
        return SplitSlack(self.block, self.diagonal(), pairs, dual, single)

    @cached_property
    def soft(self) -> SoftMatrix:
        """S, soft-thresholded, in single precision."""
        return soft_matrix(self.S, self.box)

    @cached_property
    def graph(self) -> SoftGraph | None:
        """The pairs above their limits, if they are few."""
        rows, cols = np.arange(0, self.size, max(self.size // SAMPLE, 1)), np.arange(self.size)
        above = np.abs(self.block(rows, cols)) > self.box.limits(rows, cols)
        return dense_graph(self.strip, self.size, self.box) if above.mean() < SPARSE else None

    def cut(self, A: Array) -> None:
        """Set A to zero between components, in place."""
        if self.labels is not None:
            A[self.labels[:, None] != self.labels] = 0.0

    def objective(self, X: Factors) -> float:
        """Return ⟨S, X⟩ − Ω(X), or a little less where Ω forbids entries.

        Factors know no zeros within a component, so rounding leaves ‖E‖ of the order of 1e-16 on the forbidden entries.
        X − E is off the Fantope by no more than that, and a mixture with the multiple of the identity that has trace d
        is in it: by concavity its objective is at least the mixture of both objectives, and that is returned.
        """
        nearly = NEARLY_WHOLE * self.size <= len(X.rows) < self.size
        if nearly and "S" in self.__dict__ and not self.forbids:  # what is formed already need not be gathered
            vectors = np.zeros((len(X.weights), self.size))
            vectors[:, X.rows] = X.vectors
            X = Factors(np.arange(self.size), vectors, X.weights)
        rows = X.rows
        whole = len(rows) == self.size
        block = self.S if whole else self.block(rows, rows)
        if not isinstance(self.penalty, Entrywise):
            return self._general_objective(block, rows, assemble(X.vectors.T, X.weights))
        limits = self.limits if whole else self.penalty.limits(rows, rows)
        inner, norm, forbidden = objective_terms(block, X.vectors, X.weights, limits)
        value = float(inner - norm)
        if forbidden == 0.0:
            return value
        error = float(np.sqrt(forbidden))
        share = share_of_centre(-error, 1.0 + error, self.n_components / len(rows))
        weights = self.penalty.diagonal(rows)
        centre = self.n_components / len(rows) * float((block.diagonal() - weights).sum())
        return (1.0 - share) * value + share * centre

    def _general_objective(self, S: Array, rows: IntArray, X: Array) -> float:
        """Return the objective of X over ``rows``, for any penalty, by the same mixture where it forbids entries."""
        own = self.penalty.restrict(rows)
        wrong = own.forbidden(X)
        if not np.any(wrong):
            return float(np.vdot(S, X)) - own.value(X)
        error = float(np.linalg.norm(X[wrong]))
        X = np.where(wrong, 0.0, X)
        centre = self.n_components / len(rows)
        share = share_of_centre(-error, 1.0 + error, centre)
        value = float(np.vdot(S, X)) - own.value(X)
        return (1.0 - share) * value + share * centre * (float(S.trace()) - own.value(np.eye(len(rows))))

    def repair(self, Y: Array, start: Array | None = None, rows: IntArray | None = None) -> Factors | None:
        """Return a point of the Fantope near ``Y`` with Y's zero rows and blocks, and zero where Ω forbids entries.

        None if Y uses too few variables. ``rows`` are the variables of Y, by default all; ``start`` are approximate
        leading eigenvectors, as rows.
        """
        rows = np.arange(self.size) if rows is None else rows
        if self.forbids:
            found = shrink(np.where(self.penalty.forbidden(Y, rows), 0.0, Y), self.n_components)
        else:
            found = repair(Y, self.n_components, lambda X: self.objective(X.lifted(rows)), start)
        return None if found is None else found.lifted(rows)

    def within(self, Y: Array, V: Array, enough: float = np.inf, almost: float = np.inf) -> Factors | None:
        """Return a point like that of ``repair``, in about the range of V, the leading eigenvectors of Y as rows.

        Or that of ``repair``, which is a little better, where this one is ``almost`` as good as ``enough``.
        """
        if self.forbids or self.size <= DENSE_UP_TO:
            return self.repair(Y)
        found = within(Y, V, self.n_components, self.objective)
        return self.repair(Y) if found is not None and almost <= self.objective(found) < enough else found

    def narrowed(self, X: Factors, used: AnyArray) -> Factors | None:
        """Return a point of the Fantope near X without rows that are not ``used``, by positions among its own."""
        if self.forbids:
            V = X.vectors[:, used]
            return self.repair((V.T * X.weights) @ V, rows=X.rows[used])
        return narrowed(X, used, self.n_components, self.objective)

    def size_of_terms(self, X: Factors) -> float:
        """Return Σ X_ii·max(|S_ii|, w_ii): the size of the terms whose difference the objective of X is."""
        return float(X.weights @ (X.vectors**2 @ self.penalty.sizes(self.diagonal()[X.rows], X.rows)))

    def subgradient(self, X: Array) -> Array:
        """Return a subgradient of Ω at X, zero on forbidden entries and between components."""
        if self.forbids:
            found: Array = np.where(np.isinf(self.limits), 0.0, self.limits) * np.sign(X)
        else:
            found = self.limits * np.sign(X)
        self.cut(found)  # or sign(X) would make rounding between components count
        return found

    @cached_property
    def forbids(self) -> bool:
        """Whether the penalty forbids entries of X."""
        if not isinstance(self.penalty, Entrywise):
            return bool(np.any(self.penalty.forbidden(np.full((1, 1), -1.0))))
        own = self.penalty.rows
        return len(own) > 0 and bool(np.isinf(self.penalty.limits(own, own)).any())
