"""The best value of exactly k variables, between a support that attains much of it and a bound that none exceeds."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from fantope.cardinality.branch import Search
from fantope.cardinality.envelope import Envelope, norm
from fantope.cardinality.relaxation import SMALLEST, Node, Relaxation
from fantope.cardinality.separate import explained, separate_components
from fantope.cardinality.supports import largest, leading, search, value
from fantope.checks import check_nonnegative, check_whole
from fantope.errors import InputError, data_frame, require
from fantope.operators import Covariance
from fantope.path.solve_path import Path
from fantope.path.walk import Walk
from fantope.penalties import L1
from fantope.problem.bounds import UNIT
from fantope.problem.certificate import relative_gap
from fantope.solvers import Solution
from fantope.solvers.solve import same_covariance
from fantope.solvers.validation import check_covariance, check_n_components, smallest_tol
from fantope.typing import Array, IntArray

if TYPE_CHECKING:
    import pandas as pd

ACCURACY = 1e-5  # relative, of the bound's minimum over alpha, up to FINE variables; beyond, coarser like p²
FINE, COARSEST = 500, 5e-4  # at 7,000 variables a solve near the end of the range takes half a minute at 1e-4
WEIGHTED_UP_TO = 1500  # variables: a weight for each costs p × p arrays, and a second or more each time beyond
BRANCH_UP_TO = 5000  # variables, for branch and bound, which needs those weights
ROOT_STEPS = 12  # towards better weights, each a solve
STARTS = 6  # solutions of the path from which supports are taken
ROWS_UP_TO = 3000  # variables, for bounds that look at every entry of S

Support = Literal["common", "separate"]


@dataclass(frozen=True, eq=False)
class Bracket:
    """A support of exactly k variables, its value, and a bound of what any other can attain.

    Attributes
    ----------
    k : int or tuple of int
        Variables in use: in all, or of each component.
    lower : float
        Variance that the components explain: the optimum is at least this.
    upper : float
        No choice of k variables explains more.
    support : array of int
        The variables, ascending.
    components : (d, p) array
        Orthonormal, zero off their supports, by descending variance.
    n_nodes : int
        Nodes of branch and bound, 0 without it.
    """

    k: int | tuple[int, ...]
    lower: float
    upper: float
    components: Array = field(repr=False)
    n_nodes: int = 0

    @property
    def support(self) -> IntArray:
        """The variables in use, ascending."""
        return np.flatnonzero(self.components.any(axis=0))

    @property
    def gap(self) -> float:
        """(upper − lower) / max(|lower|, |upper|)."""
        return relative_gap(self.lower, self.upper)


@dataclass(frozen=True, eq=False)
class BracketCurve:
    """Brackets of several k."""

    brackets: tuple[Bracket, ...]

    @property
    def k(self) -> IntArray:
        """(m,) numbers of variables; of components with supports of their own the sum."""
        return np.array([np.sum(b.k) for b in self.brackets], dtype=np.intp)

    @property
    def lower(self) -> Array:
        """(m,) values attained."""
        return np.array([b.lower for b in self.brackets])

    @property
    def upper(self) -> Array:
        """(m,) values that nothing exceeds."""
        return np.array([b.upper for b in self.brackets])

    @property
    def gap(self) -> Array:
        """(m,) relative gaps."""
        return np.array([b.gap for b in self.brackets])

    def __len__(self) -> int:
        return len(self.brackets)

    def __getitem__(self, index: int) -> Bracket:
        return self.brackets[index]

    def __iter__(self) -> Iterator[Bracket]:
        return iter(self.brackets)

    def to_frame(self) -> pd.DataFrame:
        """Return one row per k: k, lower, upper, gap, n_nodes (needs pandas)."""
        nodes = [b.n_nodes for b in self.brackets]
        return data_frame({"k": self.k, "lower": self.lower, "upper": self.upper, "gap": self.gap, "n_nodes": nodes})


@overload
def cardinality_bracket(
    S: Any, k: int | tuple[int, ...], n_components: int = 1, *, support: Support = "common", path: Path | None = None,
    tol: float | None = None, max_nodes: int | None = None, time_limit: float | None = None,
) -> Bracket: ...  # fmt: skip


@overload
def cardinality_bracket(
    S: Any, k: Sequence[Any] | Array | IntArray | None = None, n_components: int = 1, *, support: Support = "common",
    path: Path | None = None, tol: float | None = None, max_nodes: int | None = None, time_limit: float | None = None,
) -> BracketCurve: ...  # fmt: skip


def cardinality_bracket(
    S: Any,
    k: Any = None,
    n_components: int = 1,
    *,
    support: Support = "common",
    path: Path | None = None,
    tol: float | None = None,
    max_nodes: int | None = None,
    time_limit: float | None = None,
) -> Bracket | BracketCurve:
    """Bracket the variance that components on exactly k variables can explain.

    That is ``max tr(V S Vᵀ)`` over V with d orthonormal rows and k columns in use.

    For any such V the norm ‖VᵀV‖₁ is bounded by a number c: by k for d = 1, by
    d + √(d(k − 1)(k − d)) ≤ k√d for one common support, by Σk_i for supports of k_i variables. So with the certified
    bounds of the penalised problem

        optimum(k)  ≤  min over alpha of dual_bound(alpha) + alpha·c,

    and one path serves every k. Where p allows, a weight for each variable in place of one alpha makes the bound
    tighter. The lower side is a support from the same solutions, improved by truncated power steps and swaps.

    Parameters
    ----------
    S : (p, p) array or covariance operator
    k : int, sequence of int, tuple, or None
        Variables in use, from d to p. A list or array asks for a curve, None for that of every k. With
        support="separate" an int is the number for each component, and a tuple names one for each.
    n_components : int, default 1
        d.
    support : {"common", "separate"}
        One support of k variables for all components, or one for each component.
    path : Path, optional
        Of the same S and d, with the ℓ₁ norm: its solutions are used, and more are added where k needs them.
    tol : float, optional
        Relative gap to reach by branch and bound; 0 is the exact optimum, up to rounding. By default there is none.
        It needs a common support.
    max_nodes, time_limit : int and float, optional
        Limits of branch and bound for each k, the latter in seconds. What was proven by then is returned.

    Returns
    -------
    Bracket, or BracketCurve for several k

    Examples
    --------
    >>> import numpy as np, fantope
    >>> sim = fantope.simulate(200, 60)
    >>> S = sim.Z.T @ sim.Z / 200
    >>> b = fantope.cardinality_bracket(S, 10)
    >>> len(b.support), b.lower <= b.upper, b.gap < 0.02
    (10, True, True)
    >>> bool(fantope.cardinality_bracket(S, [5, 10, 20]).gap.max() < 0.03)
    True
    """
    covariance = check_covariance(S)
    d = check_n_components(n_components, covariance.size)
    require(support in ("common", "separate"), "support", "be 'common' or 'separate'", repr(support))
    sizes, single = _check_k(k, d, covariance.size, support)
    limits = _check_limits(tol, max_nodes, time_limit, support == "common" or d == 1, covariance.size)
    run = _Run(covariance, d, path)
    found = []
    for each in sizes:
        if support == "separate" and d > 1:
            found.append(run.separate(each))
        else:
            found.append(run.common(int(each[0]), *limits))
    return found[0] if single else BracketCurve(tuple(found))


class _Run:
    """One S and d: a walk along alpha that all k share."""

    def __init__(self, S: Covariance, n_components: int, path: Path | None) -> None:
        self.S, self.d = S, n_components
        self.accuracy = max(min(ACCURACY * max(1.0, (S.size / FINE) ** 2), COARSEST), smallest_tol(S.size))
        self.envelope = self._envelope(n_components)
        if path is not None:
            self.envelope.walk.solutions.extend(_check_path(path, S, n_components))
        self._single: Envelope | None = self.envelope if n_components == 1 else None
        self._before: IntArray | None = None

    def _envelope(self, d: int) -> Envelope:
        return Envelope(Walk(self.S, d, self.accuracy), self.accuracy)

    def common(self, k: int, tol: float | None, max_nodes: int, time_limit: float) -> Bracket:
        """Return the bracket for one support of k variables."""
        d = self.d
        upper, solution = self.envelope.bound(common_budget(k, d))
        upper = min(upper, self._simple(k))
        support = search(self.S, k, d, self._starts(k))
        self._before = support
        state = Search(Relaxation(self.S, d, k), support, value(self.S, support, d), 0.0 if tol is None else tol)
        if k in (d, self.S.size) or upper <= state.enough:
            return self._bracket(state.support, state.lower, upper, 0)
        if self.S.size <= WEIGHTED_UP_TO or tol is not None:
            known = np.zeros(self.S.size, dtype=bool)
            root = Node(known, known, self._weights(solution), solution, upper)
            root = state.relaxation.tightened(root, state.lower, state.enough, ROOT_STEPS)
            upper = root.upper
            if tol is not None:
                state.run(state.relaxation.fixed(root, state.enough), max_nodes, time_limit)
                upper = min(upper, state.upper)
        return self._bracket(state.support, state.lower, upper, state.n_nodes)

    def _weights(self, solution: Solution) -> Array:
        """Return weights to begin with: the one alpha of a solution for all.

        Where that is zero, leverages times the gap δ below the d-th eigenvalue of S: for d = 1 their bound is
        λ₁ − δ(1 − sum of the k largest leverages), already less than λ₁.
        """
        if solution.alpha > 0.0:
            return np.full(self.S.size, solution.alpha)
        everything = np.arange(self.S.size)
        values = np.linalg.eigvalsh(self.S.block(everything, everything))
        leverage: Array = (solution.components**2).sum(axis=0)
        gap = max(float(values[-self.d] - values[-self.d - 1]), 1e-3 * self.envelope.top)
        return np.asarray(gap * np.maximum(leverage, SMALLEST * leverage.max()))

    def separate(self, sizes: IntArray) -> Bracket:
        """Return the bracket for components with supports of their own."""
        d, p, total = self.d, self.S.size, int(sizes.sum())
        if self._single is None:
            self._single = self._envelope(1)
        singles = [self._single.bound(float(k))[0] for k in sizes]
        upper = min(
            self.envelope.bound(float(total))[0],
            self.envelope.bound(common_budget(min(total, p), d))[0],
            float(np.sum(singles) * (1 + 4 * d * UNIT)),
        )
        near = sorted(self.envelope.walk.solutions, key=lambda solution: abs(norm(solution) - total))[:STARTS]
        V = separate_components(self.S, sizes, [solution.components for solution in near])
        return Bracket(tuple(map(int, sizes)), explained(self.S, V), upper, V)

    def _starts(self, k: int) -> list[IntArray]:
        """Return supports to begin with: where solutions of the walk are large, and that of the k before this one."""
        target = common_budget(k, self.d)
        near = sorted(self.envelope.walk.solutions, key=lambda solution: abs(norm(solution) - target))[:STARTS]
        scores = [solution.projection.diagonal() for solution in near]
        scores += [(solution.components**2).sum(axis=0) for solution in near]
        if self._before is not None:
            _, vectors = leading(self.S, self._before, self.d)
            product = self.S.block(np.arange(self.S.size), self._before) @ vectors
            scores.append(np.linalg.norm(product, axis=1))
        return [largest(score, k) for score in scores]

    def _simple(self, k: int) -> float:
        """Return a bound that looks at every row of S alone: a block is at most the diagonal matrix of its row sums."""
        if k == self.d:  # a block has no more eigenvalues than that: their sum is its trace
            return _above(np.sort(self.S.diagonal())[-k:])
        if self.S.size > ROWS_UP_TO:
            return np.inf
        everything = np.arange(self.S.size)
        size = np.abs(self.S.block(everything, everything))
        np.fill_diagonal(size, 0.0)
        first = self.S.size - k + 1  # of the k − 1 largest; k > d ≥ 1
        rows = self.S.diagonal() + np.partition(size, first, axis=1)[:, first:].sum(axis=1)
        return _above(np.sort(rows)[-self.d :])

    def _bracket(self, support: IntArray, lower: float, upper: float, n_nodes: int) -> Bracket:
        _, vectors = leading(self.S, support, self.d)
        V = vectors[:, ::-1].T
        V = V * np.sign(V[np.arange(self.d), np.abs(V).argmax(axis=1)])[:, None]
        components = np.zeros((self.d, self.S.size))
        components[:, support] = V
        return Bracket(len(support), lower, max(upper, lower), components, n_nodes)


def common_budget(k: int, n_components: int) -> float:
    """Return the largest ‖X‖₁ that a projection X of rank d with k rows may have, rounded upwards.

    Off the diagonal there are k(k − 1) entries, whose squares sum to ‖X‖² − ΣX_ii² ≤ d − d²/k, since ΣX_ii = d:
    ‖X‖₁ ≤ d + √(k(k − 1))·√(d − d²/k).

    Examples
    --------
    >>> common_budget(5, 1), round(common_budget(5, 2), 3), round(5 * 2**0.5, 3)
    (5.0, 6.899, 7.071)
    """
    d = n_components
    return float(k) if d == 1 else float((d + np.sqrt(d * (k - 1) * (k - d))) * (1 + 8 * UNIT))


def _above(values: Array) -> float:
    """Return the sum of few sums of numbers, rounded upwards."""
    return float(values.sum() + 1e-12 * np.abs(values).sum())


def _check_k(k: Any, d: int, p: int, support: Support) -> tuple[list[IntArray], bool]:
    """Return the numbers of variables, one array for each bracket, and whether it is one alone."""
    separate = support == "separate" and d > 1
    single = isinstance(k, numbers.Integral | float | np.floating) or (separate and isinstance(k, tuple))
    least = 1 if separate else d
    wanted: list[Any] = list(range(least, p + 1)) if k is None else [k] if single else list(k)
    require(wanted, "k", "be a number of variables, or several", "none")
    found = []
    for each in wanted:
        numbers_ = list(each) if separate and not isinstance(each, numbers.Number) else [each] * (d if separate else 1)
        require(not separate or len(numbers_) == d, "k", f"be one number for each of the {d} components", repr(each))
        for one in numbers_:
            least_is = " (n_components)" if least > 1 else ""
            check_whole("k", one, least, p, f"a whole number of variables from {least}{least_is} to {p}")
        found.append(np.array(numbers_, dtype=np.intp))
    return found, single


def _check_limits(tol: Any, max_nodes: Any, time_limit: Any, common: bool, p: int) -> tuple[float | None, int, float]:
    if tol is None:
        if max_nodes is not None or time_limit is not None:
            raise InputError(
                argument="tol", expected="given with max_nodes or time_limit, which are limits of branch and bound",
                got="None", remedy="pass tol=0 for the exact optimum",
            )  # fmt: skip
        return None, 0, 0.0
    if not common or p > BRANCH_UP_TO:
        what = f"with more than {BRANCH_UP_TO:,} variables" if common else "with support='separate'"
        remedy = "name fewer" if common else "it needs one common support"
        raise InputError(
            argument="tol", expected=f"left out {what}: there is no branch and bound", got=repr(tol), remedy=remedy
        )
    tol = check_nonnegative("tol", tol)
    most = int(np.iinfo(np.intp).max)
    if max_nodes is not None:
        most = check_whole("max_nodes", max_nodes, 0, expected="a whole number, 0 or larger, or None")
    limit = np.inf if time_limit is None else check_nonnegative("time_limit", time_limit)
    return tol, most, limit


def _check_path(path: Any, S: Covariance, d: int) -> list[Solution]:
    """Return the solutions of a path that is one of the same problem."""
    solutions = list(path)
    for solution in solutions:
        if solution.n_components != d or not isinstance(solution.penalty, L1):
            raise InputError(
                argument="path", expected=f"solutions with n_components = {d} and the ℓ₁ norm",
                got=f"n_components = {solution.n_components} and {solution.penalty!r}", remedy="leave it out",
            )  # fmt: skip
        if not same_covariance(solution.covariance, S):
            raise InputError(
                argument="path", expected="a path of the same S", got="one of another matrix", remedy="leave it out"
            )
    return solutions


__all__ = ["Bracket", "BracketCurve", "cardinality_bracket", "common_budget"]
