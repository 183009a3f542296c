"""Statistics of two groups and of random groups of the same samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fantope.coexpression.analysis.correlation import Correlation, rewrite
from fantope.coexpression.analysis.two_sample import leading_difference, penalty
from fantope.eigen.threads import one_blas_thread
from fantope.io.fingerprint import code_fingerprint, fingerprint
from fantope.typing import Array, IntArray

LEADING = 200  # permutations of the leading eigenvalue at most: each is a problem to solve, the rest are products
# Of these reach the observed value: then p is clear enough, a tenth at the least, and no more problems are solved.
CLEAR = 20
SOLVE = 240  # times the products of a permutation, so long takes its problem (285 genes, 48 and 17 samples)
TAIL = 0.1  # share of the samples at either end that do not count for the scale of a gene
TIE = 1e-12  # statistics closer than this are equal: rounding must not decide a p-value


@dataclass(frozen=True, eq=False)
class Statistics:
    """What is compared with its permutations: means in the first and in the second group."""

    genes: Array  # (m, 2): mean correlation of each gene with its partners
    modules: Array  # (k, 2): mean correlation within each module

    @property
    def changes(self) -> tuple[Array, Array]:
        """Absolute changes of genes and of modules, which are compared with those of permutations."""
        genes, modules = (np.abs(means[:, 1] - means[:, 0]) for means in (self.genes, self.modules))
        return genes, modules


class PermutationTest:
    """Correlations in two groups against those in random groups of the same samples.

    The rows of each group are rewritten (:func:`fantope.coexpression.rewrite`) by themselves, so that means and
    scales of the groups, which may well differ, do not count; then samples are exchanged between the groups, and
    both correlation matrices computed anew. Where covariates were regressed out, they are regressed out again each
    time: otherwise the exchanged samples would have degrees of freedom that the groups have lost, and vary less.

    The partners of a gene are the other members of its modules (one in each group at most); of a gene without any,
    all other tested genes. A mean over all tested genes would be mostly over pairs that have nothing to do with each
    other: with it, a module of 20 among 100 genes that falls apart goes unnoticed.

    ``first`` and ``second`` are the expression of the tested genes, ``members`` an (m, k) array with 1 where a gene is
    in a module, and ``designs`` the covariates of the samples of either group. Permutation b is a function of ``seed``
    and b alone.
    """

    def __init__(
        self,
        first: Array,
        second: Array,
        members: Array,
        method: Correlation,
        seed: tuple[int, ...],
        designs: tuple[Array, Array] | None = None,
    ) -> None:
        self.alpha = penalty(len(first), len(second), first.shape[1])
        self._n = len(first)
        self._members = members
        self._partners = _partners(members)
        self._seed = seed
        parts = (first, second)
        designs = designs or (np.zeros((len(first), 0)), np.zeros((len(second), 0)))
        # The biweight is centred at a robust mean already.
        self._bases = [_basis(design, constant=method != "bicor") for design in designs]
        self._rows = np.vstack(
            [_scaled(_unit(rewrite(part, method), basis)) for part, basis in zip(parts, self._bases, strict=True)]
        )

    @property
    def key(self) -> str:
        """What the permutations depend on."""
        return fingerprint(self._rows, self._n, self._members, self._seed, *self._bases, code_fingerprint(__name__))

    def observed(self) -> tuple[Statistics, Array]:
        """Return the statistics of the groups as they are, and the difference of their matrices."""
        return self._statistics(np.arange(len(self._rows)))

    def exceedances(
        self, observed: Statistics, start: int, stop: int, limit: tuple[float, int] | None = None
    ) -> tuple[IntArray, IntArray, Array]:
        """Return how often genes and modules reached the observed change in permutations start … stop − 1.

        Third, the leading eigenvalue of those that have one: the first 200, and with a ``limit`` (a value, a number) no
        more after that many have reached the value.
        """
        value, left = limit or (np.inf, 1)
        reached = [np.zeros(len(change), dtype=np.intp) for change in observed.changes]
        leading = []
        with one_blas_thread():  # some hundred genes: threads cost more than they bring
            for b in range(start, stop):
                found, D = self._statistics(np.random.default_rng((*self._seed, b)).permutation(len(self._rows)))
                for count, change, seen in zip(reached, found.changes, observed.changes, strict=True):
                    count += change >= seen - TIE
                if b < LEADING and left > 0:
                    leading.append(leading_difference(D, self.alpha).value)
                    left -= leading[-1] >= value - TIE
        return reached[0], reached[1], np.array(leading)

    def _statistics(self, order: IntArray) -> tuple[Statistics, Array]:
        """Return the statistics and R₁ − R₂ for the first n of ``order`` against the rest."""
        parts = order[: self._n], order[self._n :]
        halves = [_unit(self._rows[part], basis) for part, basis in zip(parts, self._bases, strict=True)]
        matrices = [Z.T @ Z for Z in halves]
        found = Statistics(
            genes=np.column_stack([np.einsum("ij,ij->i", R, self._partners) for R in matrices]),
            modules=np.column_stack([self._within(Z) for Z in halves]),
        )
        D = matrices[0] - matrices[1]
        np.fill_diagonal(D, 0.0)
        return found, D

    def _within(self, Z: Array) -> Array:
        """Return the mean correlation over pairs of each module: ‖Σ z‖² holds them all."""
        sizes = self._members.sum(axis=0)
        squares = (Z**2).sum(axis=0) @ self._members
        return np.asarray((((Z @ self._members) ** 2).sum(axis=0) - squares) / (sizes * (sizes - 1.0)))


def _partners(members: Array) -> Array:
    """Return (m, m) weights: row i averages over the partners of gene i."""
    shared = (members @ members.T > 0.0).astype(np.float64)
    np.fill_diagonal(shared, 0.0)
    alone = shared.sum(axis=1) == 0.0
    shared[alone] = 1.0
    np.fill_diagonal(shared, 0.0)
    return np.asarray(shared / shared.sum(axis=1, keepdims=True))


def _basis(design: Array, constant: bool) -> Array:
    """Return orthonormal columns that span the covariates, and the constant if wanted."""
    columns = np.column_stack([np.ones(len(design)), design]) if constant else design
    if not columns.shape[1]:
        return columns
    U, s, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(U[:, s > 1e-10 * s[0]])


def _scaled(Z: Array) -> Array:
    """Return columns on a scale that is common to both groups: divided by their standard deviation without the tails.

    The correlations of a group do not depend on it, those of exchanged samples do. One outlying sample makes the
    standard deviation large, and the other samples of its group, divided by it, small; mixed with samples of the
    other group they would no longer let the outlier dominate as it does in its own group, and permutations would show
    smaller differences than chance makes. So values beyond the central 80 % count as if they were at its ends.
    """
    low, high = np.quantile(Z, (TAIL, 1.0 - TAIL), axis=0)
    spread = np.clip(Z, low, high).std(axis=0)
    whole = Z.std(axis=0)
    # Of a gene with mostly one value nothing is left without the tails.
    return np.asarray(Z / np.where(spread > 1e-3 * whole, spread, np.where(whole > 0.0, whole, np.inf)))


def _unit(Z: Array, basis: Array) -> Array:
    """Return columns of length 1 without what the basis spans; zero where nothing is left."""
    Z = Z - basis @ (basis.T @ Z)
    norms = np.linalg.norm(Z, axis=0)
    return np.asarray(Z / np.where(norms > 0.0, norms, np.inf))
